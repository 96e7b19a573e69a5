import { expect, test } from 'vitest';
import { othersCanWrite } from './ownership.ts';

const user = { uid: 1000, gid: 1000 };
const staff = { uid: 1000, gid: 50 };

test.each([
  ['a file of the owner alone', { ...staff, mode: 0o100600 }, false],
  ['a file that others can only read', { ...staff, mode: 0o100644 }, false],
  ['a file of everyone', { ...user, mode: 0o100666 }, true],
  ['a file that a group can write', { ...staff, mode: 0o100660 }, true],
  ['a file with umask 002 and the group of the user', { ...user, mode: 0o100664 }, false],
  ['a file of root and its group', { uid: 0, gid: 0, mode: 0o100664 }, false],
  ['a folder that a group can write', { ...staff, mode: 0o040775 }, false],
  ['a folder of everyone', { ...staff, mode: 0o040777 }, true],
  ['a folder such as /tmp', { uid: 0, gid: 0, mode: 0o041777 }, false],
])('%s: other users can write: %o', (_what, stats, expected) => {
  expect(othersCanWrite(stats)).toBe(expected);
});
