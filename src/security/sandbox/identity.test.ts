import { expect, test } from 'vitest';
import { chooseIdentity, limitCountsOnlyTree } from './identity.ts';

const root = process.getuid?.() === 0;

test('a sandboxed program is never root', () => {
  expect(chooseIdentity(undefined).uid).not.toBe(0);
  expect(() => chooseIdentity({ uid: 0, gid: 0 })).toThrow(/root/);
  expect(() => chooseIdentity({ uid: 4_321, gid: 0 })).toThrow(/root/);
});

test('root uses a private number, other users keep their own', () => {
  const identity = chooseIdentity(undefined, ['/']);
  if (root) expect(identity).toMatchObject({ changes: true, isPrivate: true });
  else expect(identity).toEqual({ uid: process.getuid!(), gid: process.getgid!(), changes: false, isPrivate: false });
});

test('the process limit is set only if it counts only this tree', () => {
  const shared = { uid: 1, gid: 1, changes: false, isPrivate: false };
  const counts = (kernelRelease: string, ownNamespace = true) =>
    limitCountsOnlyTree(shared, { ownNamespace, kernelRelease });
  expect(['5.14.0', '6.1.0-13-amd64', '6.18.44', '10.0.1'].map((release) => counts(release))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['5.13.9', '5.10.0-26-amd64', '4.19.0'].map((release) => counts(release))).toEqual([false, false, false]);
  expect(counts('6.1.0', false)).toBe(false);
  expect(limitCountsOnlyTree({ ...shared, isPrivate: true }, { ownNamespace: false, kernelRelease: '4.19.0' })).toBe(
    true,
  );
});
