import { afterEach, expect, test } from 'vitest';
import { signOut } from '../../../src/client/auth/sign-out.ts';
import { type CredentialStore, createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import type { Reply } from './fake-http.ts';
import type { ServerBehaviour } from './fake-provider.ts';
import { type AuthTestSetup, caller, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => worlds.stop());

/** A setup in which the user has signed in. */
async function signedIn(server: Partial<ServerBehaviour> = {}): Promise<AuthTestSetup & { store: CredentialStore }> {
  const world = await worlds.start(server);
  const store = createMemoryStore();
  expect(await caller(world.rs, { store }).call()).toBe(200);
  return { ...world, store };
}

/** Declares a place for revocation, and says what it answers. */
function offerRevocation({ as }: AuthTestSetup, answer: Reply = {}): void {
  as.behaviour.metadata['revocation_endpoint'] = `${as.issuer}/revoke`;
  as.behaviour.revocation = () => answer;
}

const revocations = ({ as }: AuthTestSetup) =>
  as.to('/revoke').map(({ body }) => Object.fromEntries(new URLSearchParams(body)) as Record<string, string>);

test('both tokens are revoked, the one for renewal first, and the next visit needs a new sign-in', async () => {
  const world = await signedIn();
  offerRevocation(world);
  const { as, rs, store } = world;
  expect(await signOut({ server: rs.url, store })).toEqual({ issuer: as.issuer, revocation: 'done' });
  const clientId = `client-of-${as.issuer}`;
  expect(revocations(world)).toEqual([
    { token: 'refresh-1', token_type_hint: 'refresh_token', client_id: clientId },
    { token: as.issued[0]?.token, token_type_hint: 'access_token', client_id: clientId },
  ]);
  expect(await caller(rs, { store }).call()).toBe(200);
  expect(as.to('/authorize')).toHaveLength(2);
  // The client is still known there.
  expect(as.to('/register')).toHaveLength(1);
});

test('a server without a revocation endpoint gets no request, and the tokens are deleted', async () => {
  const { as, rs, store } = await signedIn();
  expect(await signOut({ server: rs.url, store })).toEqual({ issuer: as.issuer, revocation: 'not-offered' });
  expect(await signOut({ server: rs.url, store })).toBeUndefined();
});

test('the tokens are deleted even when their revocation fails, which is reported', async () => {
  const world = await signedIn();
  offerRevocation(world, { status: 503, body: { error: 'temporarily_unavailable' } });
  const { rs, store } = world;
  const { revocation, error } = (await signOut({ server: rs.url, store })) ?? {};
  expect(revocation).toBe('failed');
  expect(error).toMatchObject({ code: 'revocation-failed', oauthError: { status: 503 } });
  expect(await signOut({ server: rs.url, store })).toBeUndefined();
});

test('an authorization server that does not respond does not keep the tokens', async () => {
  const { as, rs, store } = await signedIn();
  await as.close();
  expect(await signOut({ server: rs.url, store })).toMatchObject({ revocation: 'failed' });
  expect(await signOut({ server: rs.url, store })).toBeUndefined();
});

test('tokens are not sent to a place that is not safe', async () => {
  const world = await signedIn();
  world.as.behaviour.metadata['revocation_endpoint'] = 'http://tokens.example.com/revoke';
  const { rs, store } = world;
  expect(await signOut({ server: rs.url, store })).toMatchObject({ error: { code: 'insecure-url' } });
});

test('without a sign-in there is nothing to do and no request is sent', async () => {
  const { as, rs } = await worlds.start();
  expect(await signOut({ server: rs.url, store: createMemoryStore() })).toBeUndefined();
  expect(as.seen).toHaveLength(0);
});

test('another server that uses the same store stays signed in', async () => {
  const { rs, store } = await signedIn();
  const other = await worlds.start();
  await caller(other.rs, { store }).call();
  await signOut({ server: rs.url, store });
  expect(await caller(other.rs, { store }).call()).toBe(200);
  expect(other.as.to('/authorize')).toHaveLength(1);
});
