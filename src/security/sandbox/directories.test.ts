import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { isInside } from '../files/is-inside.ts';
import { admitWorkingDirectory, pinDirectories, resolveDirectories } from './directories.ts';
import type { SandboxError } from './errors.ts';

let base: string;

beforeAll(() => {
  base = temporaryFolder();
  mkdirSync(join(base, 'real'), { mode: 0o755 });
  mkdirSync(join(base, 'closed'), { mode: 0o700 });
  symlinkSync(join(base, 'real'), join(base, 'link'));
  symlinkSync('/etc', join(base, 'trap'));
  writeFileSync(join(base, 'file'), '');
});

const ourselves = { uid: process.getuid!(), gid: process.getgid!(), changes: false, isPrivate: false };
const other = { uid: 64_000, gid: 64_000, changes: true, isPrivate: true };

function errorOf(attempt: () => unknown): string {
  try {
    attempt();
    return 'admitted';
  } catch (cause) {
    return (cause as SandboxError).message;
  }
}

test('paths are compared by components', () => {
  expect(isInside('/a/b', '/a')).toBe(true);
  expect(isInside('/a', '/a')).toBe(true);
  expect(isInside('/a/..b', '/a')).toBe(true);
  expect(isInside('/a-evil', '/a')).toBe(false);
  expect(isInside('/', '/a')).toBe(false);
  expect(isInside('/b', '/a')).toBe(false);
});

test('links in the directories of a policy are resolved', () => {
  expect(resolveDirectories({ writable: [join(base, 'link')] }, ourselves).writable).toEqual([join(base, 'real')]);
});

test('a link to a system directory is checked by its target', () => {
  expect(errorOf(() => resolveDirectories({ readOnly: [join(base, 'trap')] }, ourselves))).toMatch(
    /part of the system/,
  );
});

test('a path that is missing, relative or not a directory is rejected', () => {
  const attempt = (path: string) => errorOf(() => resolveDirectories({ readOnly: [path] }, ourselves));
  expect(attempt(join(base, 'missing'))).toMatch(/ENOENT/);
  expect(attempt(join(base, 'file'))).toMatch(/not a directory/);
  expect(attempt('relative')).toMatch(/not an absolute path/);
  expect(attempt(`${base}\0`)).toMatch(/not an absolute path/);
});

test('a directory that the sandbox user cannot enter or write is rejected at the start, and the message names the closed parent', () => {
  // Only we can enter the temporary base, so another user already fails there.
  const attempt = (write: boolean) =>
    errorOf(() =>
      resolveDirectories(write ? { writable: [join(base, 'closed')] } : { readOnly: [join(base, 'closed')] }, other),
    );
  expect(attempt(false)).toMatch(/user 64000 has no access to .*closed/);
  expect(attempt(true)).toMatch(/user 64000 has no access to .*closed/);
});

test('the remedy names no user that is another one at the next start', () => {
  const remedyFor = (isPrivate: boolean): string => {
    try {
      resolveDirectories({ writable: [join(base, 'closed')] }, { ...other, isPrivate });
      return 'admitted';
    } catch (cause) {
      return (cause as SandboxError).remedy;
    }
  };
  expect(remedyFor(true)).toMatch(/^Make a user other than root the owner of the directory, or set runAs /);
  expect(remedyFor(false)).toMatch(/^Make user 64000 the owner /);
});

test('the working directory is an allowed one, by default the first writable one', () => {
  const directories = { readOnly: ['/srv/a'], writable: ['/srv/b', '/srv/c'] };
  const admit = (wanted: string | undefined, hasTmp = true) => admitWorkingDirectory(wanted, directories, hasTmp);
  expect(admit(undefined)).toBe('/srv/b');
  expect(admitWorkingDirectory(undefined, { readOnly: [], writable: [] }, true)).toBe('/tmp');
  expect(admit('/srv/a/deep/../deeper')).toBe('/srv/a/deeper');
  expect(admit('/tmp/x')).toBe('/tmp/x');
  for (const wanted of ['/srv', '/srv/a/..', '/srv/ab', 'srv/a', '/srv/a\0', '/']) {
    expect(errorOf(() => admit(wanted))).toMatch(/Directory not allowed/);
  }
  expect(errorOf(() => admit('/tmp', false))).toMatch(/outside the allowed directories/);
});

test('a read-only directory inside a writable one is rejected, a writable one is already included', () => {
  mkdirSync(join(base, 'real/inner'), { recursive: true });
  const [outer, inner] = [join(base, 'real'), join(base, 'real/inner')];
  const nested = { writable: [outer], readOnly: [inner] };
  expect(errorOf(() => resolveDirectories(nested, ourselves))).toMatch(/inside a writable directory/);
  expect(resolveDirectories({ writable: [inner, outer] }, ourselves).writable).toEqual([outer]);
  expect(resolveDirectories({ writable: [inner], readOnly: [outer] }, ourselves).readOnly).toEqual([outer]);
});

test('a directory that was replaced after the start is rejected: by another one, by a link, or deleted', () => {
  const path = join(base, 'pinned');
  mkdirSync(path);
  const check = pinDirectories({ readOnly: [], writable: [path] });
  expect(errorOf(check)).toBe('admitted');
  renameSync(path, `${path}-moved`);
  expect(errorOf(check)).toMatch(/was replaced/);
  symlinkSync(`${path}-moved`, path);
  expect(errorOf(check)).toMatch(/was replaced/);
  rmSync(path);
  mkdirSync(path);
  expect(errorOf(check)).toMatch(/was replaced/);
});
