import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { admitWorkingDirectory, isInside, pinDirectories, resolveDirectories } from './directories.ts';
import type { SandboxError } from './errors.ts';

let base: string;

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'mooring-directories-')));
  mkdirSync(join(base, 'real'), { mode: 0o755 });
  mkdirSync(join(base, 'closed'), { mode: 0o700 });
  symlinkSync(join(base, 'real'), join(base, 'link'));
  symlinkSync('/etc', join(base, 'trap'));
  writeFileSync(join(base, 'file'), '');
});

afterAll(() => rmSync(base, { recursive: true }));

const ourselves = { uid: process.getuid!(), gid: process.getgid!(), changes: false, isPrivate: false };
const stranger = { uid: 64_000, gid: 64_000, changes: true, isPrivate: true };

function refusal(attempt: () => unknown): string {
  try {
    attempt();
    return 'admitted';
  } catch (cause) {
    return (cause as SandboxError).message;
  }
}

test('inside is judged by path components', () => {
  expect(isInside('/a/b', '/a')).toBe(true);
  expect(isInside('/a', '/a')).toBe(true);
  expect(isInside('/a/..b', '/a')).toBe(true);
  expect(isInside('/a-evil', '/a')).toBe(false);
  expect(isInside('/', '/a')).toBe(false);
  expect(isInside('/b', '/a')).toBe(false);
});

test('a policy names directories through links, and gets the real ones', () => {
  expect(resolveDirectories({ writable: [join(base, 'link')] }, ourselves).writable).toEqual([join(base, 'real')]);
});

test('a link to the system is judged by where it leads', () => {
  expect(refusal(() => resolveDirectories({ readOnly: [join(base, 'trap')] }, ourselves))).toMatch(
    /part of the system/,
  );
});

test('what is missing, no directory, or relative is refused', () => {
  const attempt = (path: string) => refusal(() => resolveDirectories({ readOnly: [path] }, ourselves));
  expect(attempt(join(base, 'missing'))).toMatch(/ENOENT/);
  expect(attempt(join(base, 'file'))).toMatch(/not a directory/);
  expect(attempt('relative')).toMatch(/not an absolute path/);
  expect(attempt(`${base}\0`)).toMatch(/not an absolute path/);
});

test('a directory that the sandbox user cannot enter or write is refused at the start, with the step that is closed', () => {
  // The temporary base is ours alone, so a stranger already fails there.
  const attempt = (write: boolean) =>
    refusal(() =>
      resolveDirectories(write ? { writable: [join(base, 'closed')] } : { readOnly: [join(base, 'closed')] }, stranger),
    );
  expect(attempt(false)).toMatch(/user 64000 has no way through .*closed/);
  expect(attempt(true)).toMatch(/user 64000 has no way through .*closed/);
});

test('a request stands in an allowed directory, by default in the first writable one', () => {
  const directories = { readOnly: ['/srv/a'], writable: ['/srv/b', '/srv/c'] };
  const admit = (wanted: string | undefined, hasTmp = true) => admitWorkingDirectory(wanted, directories, hasTmp);
  expect(admit(undefined)).toBe('/srv/b');
  expect(admitWorkingDirectory(undefined, { readOnly: [], writable: [] }, true)).toBe('/tmp');
  expect(admit('/srv/a/deep/../deeper')).toBe('/srv/a/deeper');
  expect(admit('/tmp/x')).toBe('/tmp/x');
  for (const wanted of ['/srv', '/srv/a/..', '/srv/ab', 'srv/a', '/srv/a\0', '/']) {
    expect(refusal(() => admit(wanted))).toMatch(/Directory refused/);
  }
  expect(refusal(() => admit('/tmp', false))).toMatch(/outside the allowed directories/);
});

test('a read-only directory inside a writable one is refused, a writable one is already there', () => {
  mkdirSync(join(base, 'real/inner'), { recursive: true });
  const [outer, inner] = [join(base, 'real'), join(base, 'real/inner')];
  const nested = { writable: [outer], readOnly: [inner] };
  expect(refusal(() => resolveDirectories(nested, ourselves))).toMatch(/inside a writable directory/);
  expect(resolveDirectories({ writable: [inner, outer] }, ourselves).writable).toEqual([outer]);
  expect(resolveDirectories({ writable: [inner], readOnly: [outer] }, ourselves).readOnly).toEqual([outer]);
});

test('a directory that was replaced after the start is refused: by another, by a link, by nothing', () => {
  const path = join(base, 'pinned');
  mkdirSync(path);
  const check = pinDirectories({ readOnly: [], writable: [path] });
  expect(refusal(check)).toBe('admitted');
  renameSync(path, `${path}-moved`);
  expect(refusal(check)).toMatch(/was replaced/);
  symlinkSync(`${path}-moved`, path);
  expect(refusal(check)).toMatch(/was replaced/);
  rmSync(path);
  mkdirSync(path);
  expect(refusal(check)).toMatch(/was replaced/);
});
