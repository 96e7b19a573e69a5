import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { findProgram } from './environment.ts';

test.skipIf(process.platform === 'win32')('a program whose name looks like an address is found', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'localhost:3000'));
  for (const name of ['localhost:3000/mcp', '127.0.0.1:3000']) writeFileSync(join(folder, name), '', { mode: 0o700 });
  const path = (name: string) => ({ path: join(folder, name) });
  expect(findProgram('localhost:3000/mcp', {}, folder)).toEqual(path('localhost:3000/mcp'));
  expect(findProgram('127.0.0.1:3000', { PATH: folder }, '/')).toEqual(path('127.0.0.1:3000'));
});
