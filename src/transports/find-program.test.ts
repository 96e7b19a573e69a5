import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { findProgram, programPlaces } from './find-program.ts';

test.skipIf(process.platform === 'win32')('a program whose name looks like an address is found', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'localhost:3000'));
  for (const name of ['localhost:3000/mcp', '127.0.0.1:3000']) writeFileSync(join(folder, name), '', { mode: 0o700 });
  const path = (name: string) => ({ path: join(folder, name) });
  expect(findProgram('localhost:3000/mcp', {}, folder)).toEqual(path('localhost:3000/mcp'));
  expect(findProgram('127.0.0.1:3000', { PATH: folder }, '/')).toEqual(path('127.0.0.1:3000'));
});

test('on Windows a program is found by its extensions, and never a script for other shells', () => {
  const places = (program: string) => programPlaces(program, { Path: 'C:\\nodejs;D:\\tools' }, 'C:\\work', 'win32');
  expect(places('npx')).toEqual([
    ...['C:\\nodejs\\npx.com', 'C:\\nodejs\\npx.exe', 'C:\\nodejs\\npx.bat', 'C:\\nodejs\\npx.cmd'],
    ...['D:\\tools\\npx.com', 'D:\\tools\\npx.exe', 'D:\\tools\\npx.bat', 'D:\\tools\\npx.cmd'],
  ]);
  expect(places('Node.EXE')).toEqual(['C:\\nodejs\\Node.EXE', 'D:\\tools\\Node.EXE']);
  expect(places('python3.12')).toContain('C:\\nodejs\\python3.12.exe');
  expect(places('.\\bin\\serve')).toContain('C:\\work\\bin\\serve.cmd');
  expect(places('C:/nodejs/node.exe')).toEqual(['C:\\nodejs\\node.exe']);
});

test('elsewhere a program has the name that was given', () => {
  expect(programPlaces('npx', { PATH: '/usr/bin:/bin' }, '/srv', 'linux')).toEqual(['/usr/bin/npx', '/bin/npx']);
  expect(programPlaces('bin/serve', { PATH: '/bin' }, '/srv', 'linux')).toEqual(['/srv/bin/serve']);
});
