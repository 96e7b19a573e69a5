// A server given as an origin alone, whose endpoint is at a path of it.
import { afterEach, expect, test } from 'vitest';
import { createAuthorizer } from '../../../src/client/auth/create-authorizer.ts';
import { signOut } from '../../../src/client/auth/sign-out.ts';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import { createAuthorizedFetch } from '../../../src/client/auth/with-authorization.ts';
import { selfSigning, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => worlds.stop());

test.each([true, false])(
  'metadata of the endpoint counts (named by the challenge: %s), and so does signing out',
  async (named) => {
    const { as, rs } = await worlds.start({}, { named });
    const store = createMemoryStore();
    const authorizer = createAuthorizer({ server: rs.origin, store, redirector: selfSigning() });
    const response = await createAuthorizedFetch(authorizer)(rs.url, { method: 'POST', body: '{}' });
    expect(response.status).toBe(200);
    expect(as.forms()[0]?.get('resource')).toBe(rs.url);
    expect(await signOut({ server: rs.origin, store })).toMatchObject({ issuer: as.issuer });
  },
);

test('a path that was given is meant exactly', async () => {
  const { rs } = await worlds.start();
  const authorizer = createAuthorizer({ server: `${rs.origin}/other`, redirector: selfSigning() });
  const calling = createAuthorizedFetch(authorizer)(rs.url, { method: 'POST', body: '{}' });
  await expect(calling).rejects.toMatchObject({ code: 'resource-mismatch' });
});
