import { mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { controlFolder } from './control-socket.ts';

test('sockets are in the runtime folder of the user, also if the variable is missing', () => {
  const users = temporaryFolder();
  const uid = String(userInfo().uid);
  expect(controlFolder({ XDG_RUNTIME_DIR: '/named' }, users)).toBe('/named/mooring');
  expect(controlFolder({}, users)).toBe(join(tmpdir(), `mooring-${uid}`));
  mkdirSync(join(users, uid));
  expect(controlFolder({}, users)).toBe(join(users, uid, 'mooring'));
  expect(controlFolder({ XDG_RUNTIME_DIR: 'relative' }, users)).toBe(join(users, uid, 'mooring'));
});
