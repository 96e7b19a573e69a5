import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { hiddenArguments, parseMounts, rejectHidden, secondPaths } from './hidden.ts';
import type { SandboxIdentity } from './identity.ts';

let base = '';
beforeEach(() => {
  base = temporaryFolder();
  chmodSync(base, 0o755);
  mkdirSync(join(base, 'root/data/inner'), { recursive: true });
  writeFileSync(join(base, 'root/conf.json'), '');
});

const at = (name: string): string => join(base, name);
const same: SandboxIdentity = { uid: 1, gid: 1, changes: false, isPrivate: false };
const cover = (path: string): string[] => ['--perms', '0555', '--size', '4096', '--tmpfs', path, '--remount-ro', path];
const slash = [{ device: '1:1', root: '/', point: '/' }];

test('hidden folders are empty and hidden files unreadable inside visible directories', () => {
  const directories = { readOnly: [at('root')], writable: [] };
  const hidden = { folders: [at('root/data')], files: [at('root/conf.json'), at('root/data/inner')] };
  expect(hiddenArguments(hidden, directories, same, slash)).toEqual([
    ...cover(at('root/data')),
    ...['--ro-bind', '/dev/null', at('root/conf.json')],
  ]);
  mkdirSync(at('other'));
  expect(hiddenArguments(hidden, { readOnly: [at('other')], writable: [] }, same, slash)).toEqual([]);
});

test('a missing folder is created with access only for its owner; a missing file needs no cover', () => {
  const hidden = { folders: [at('root/later')], files: [at('root/none')] };
  expect(hiddenArguments(hidden, { readOnly: [], writable: [at('root')] }, same, slash)).toEqual(
    cover(at('root/later')),
  );
  expect(statSync(at('root/later')).mode & 0o777).toBe(0o700);
});

test('a path that the sandbox user cannot access needs no cover', () => {
  const other: SandboxIdentity = { uid: 54_321, gid: 54_321, changes: true, isPrivate: true };
  const directories = { readOnly: [at('root')], writable: [] };
  const hidden = { folders: [at('root/data')], files: [] };
  expect(hiddenArguments(hidden, directories, other, slash)).toEqual(cover(at('root/data')));
  chmodSync(at('root'), 0o700);
  expect(hiddenArguments(hidden, directories, other, slash)).toEqual([]);
});

test('a directory inside a hidden folder cannot be shown', () => {
  const hidden = { folders: [at('root/data')], files: [] };
  for (const path of ['root/data', 'root/data/inner']) {
    expect(() => rejectHidden({ readOnly: [at(path)], writable: [] }, hidden)).toThrow('belongs to the server itself');
  }
  rejectHidden({ readOnly: [at('root')], writable: [] }, hidden);
});

test('the mount table leads to second paths: of the folder, of its parents, and of its contents', () => {
  for (const name of ['m1', 'm2/data', 'm3', 'm4']) mkdirSync(at(name), { recursive: true });
  const mounts = [
    ...slash,
    { device: '1:1', root: at('root/data'), point: at('m1') },
    { device: '1:1', root: at('root'), point: at('m2') },
    { device: '1:1', root: at('root/data/inner'), point: at('m3') },
    { device: '2:2', root: at('root/data'), point: at('m4') },
    { device: '1:1', root: at('root/data'), point: at('gone') },
  ];
  expect(secondPaths({ path: at('root/data'), kind: 'folder' }, mounts).map(({ path }) => path)).toEqual([
    at('m1'),
    at('m2/data'),
    at('m3'),
  ]);
});

test('escapes in the mount table are decoded', () => {
  const line = '36 35 98:0 /mnt1/a\\040b /mnt2\\011c rw,noatime master:1 - ext3 /dev/root rw,errors=continue';
  expect(parseMounts(`${line}\n\n`)).toEqual([{ device: '98:0', root: '/mnt1/a b', point: '/mnt2\tc' }]);
});
