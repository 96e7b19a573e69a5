import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { makeDataFolder, makeFolder } from './make-folder.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

test('missing folders are created for the owner only, existing ones stay unchanged', () => {
  makeFolder(join(folder, 'a/b/c'));
  for (const each of ['a', 'a/b', 'a/b/c']) expect(statSync(join(folder, each)).mode & 0o777).toBe(0o700);
  makeFolder(join(folder, 'a'), 0o755);
  expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
});

test('a file in the path and a broken link are errors', () => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  expect(() => makeFolder(join(folder, 'file'))).toThrow('ENOTDIR');
  expect(() => makeFolder(join(folder, 'file/below'))).toThrow('ENOTDIR');
  expect(() => makeFolder(join(folder, 'link'))).toThrow('ENOENT');
  expect(() => makeFolder(join(folder, 'link/below'))).toThrow('ENOENT');
});

test.runIf(process.platform === 'linux')('a folder below /proc is an error at once', () => {
  expect(() => makeFolder('/proc/nope')).toThrow('ENOENT');
  expect(() => makeFolder('/proc/nope/deeper/still')).toThrow('ENOENT');
  expect(() => makeFolder('/proc/self/status/x')).toThrow(/ENOTDIR/);
});

test('a data folder that cannot be created is reported with the reason and a remedy', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => makeDataFolder(join(folder, 'file/data'))).toThrow(
    `The data folder ${join(folder, 'file/data')} cannot be created: a part of its path is not a folder. Check the folders above it, or choose another one with --data`,
  );
});
