// Test files that cannot share their modules: what they load again, or replace, would be used by the files after them.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const changesModules = /\bvi\.(?:mock|doMock|resetModules)\(/;

/** The files that load modules again or replace them, as paths from the root of the repository. */
export const filesThatChangeModules = (): string[] =>
  ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => changesModules.test(readFileSync(join(root, path), 'utf8'))),
  );
