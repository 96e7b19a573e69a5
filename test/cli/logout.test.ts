// mooring logout, after a sign-in.

import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createFileStore, defaultCredentialFile } from '../../src/client/index.ts';
import { caller, Worlds } from '../client/auth/setup.ts';
import { useHome } from '../support/program.ts';

const home = useHome();
const worlds = new Worlds();
afterEach(() => worlds.stop());

/** The file that the program uses in this home folder. */
const storeOf = () =>
  createFileStore(defaultCredentialFile({ XDG_STATE_HOME: join(home.path, '.local/state') }, 'linux'));

test('logout deletes and revokes the tokens; a second logout has nothing to do', async () => {
  const { as, rs } = await worlds.start({ revocation: () => ({}) });
  as.behaviour.metadata['revocation_endpoint'] = `${as.issuer}/revoke`;
  expect(await caller(rs, { store: storeOf() }).call()).toBe(200);
  const first = await home.run(['logout', rs.url]);
  expect(first).toEqual({ code: 0, stdout: '', stderr: `Signed out of ${rs.url}: its tokens were revoked.\n` });
  expect(as.to('/revoke')).toHaveLength(2);
  const second = await home.run(['logout', rs.url, '--json']);
  expect(second.code).toBe(0);
  expect(JSON.parse(second.stdout)).toEqual({ server: rs.url, signedIn: false, revocation: null });
});

test('a failed revocation is reported with exit code 1', async () => {
  const { as, rs } = await worlds.start({ revocation: () => ({ status: 500 }) });
  as.behaviour.metadata['revocation_endpoint'] = `${as.issuer}/revoke`;
  await caller(rs, { store: storeOf() }).call();
  const { code, stderr } = await home.run(['logout', rs.url]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/deleted here, but could not be revoked:\nmooring: .*HTTP 500/);
});

test.each([
  [['logout'], /Usage: mooring logout <server>/],
  [['logout', 'local'], /Only servers with an http or https URL/],
])('%j is a usage error with a short message', async (args, message) => {
  const { code, stderr } = await home.run(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});
