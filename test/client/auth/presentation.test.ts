import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, decodeProtectedHeader, importJWK, jwtVerify } from 'jose';
import { afterEach, expect, test } from 'vitest';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import type { SeenRequest } from './fake-http.ts';
import { type AuthTestSetup, caller, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => worlds.stop());

interface Proof {
  readonly jkt: string;
  readonly claims: Record<string, unknown>;
}

/** Checks a proof as a server would (RFC 9449 §4.3). */
async function check(request: SeenRequest, url: string): Promise<Proof> {
  const proof = request.headers['dpop'] as string;
  const { jwk, typ, alg } = decodeProtectedHeader(proof);
  expect({ typ, alg }).toEqual({ typ: 'dpop+jwt', alg: 'ES256' });
  expect(jwk).not.toHaveProperty('d');
  const { payload } = await jwtVerify(proof, await importJWK(jwk!, alg));
  expect(payload).toMatchObject({ htm: request.method, htu: url, jti: expect.any(String) });
  return { jkt: await calculateJwkThumbprint(jwk!), claims: payload };
}

/** A world that demands DPoP; `nonce` makes both servers demand that as well. */
async function dpopWorld(
  nonces: { as?: string; rs?: string } = {},
): Promise<AuthTestSetup & { proofs: Proof[]; nonces: typeof nonces }> {
  const proofs: Proof[] = [];
  const bound = new Map<string, string>();
  const world = await worlds.start({
    metadata: { dpop_signing_alg_values_supported: ['ES256'] },
    token: async (_form, request) => {
      const proof = await check(request, `${world.as.origin}/token`);
      if (nonces.as !== undefined && proof.claims['nonce'] !== nonces.as) {
        return { status: 400, headers: { 'dpop-nonce': nonces.as }, body: { error: 'use_dpop_nonce' } };
      }
      const token = randomUUID();
      bound.set(token, proof.jkt);
      return { body: { access_token: token, token_type: 'DPoP', expires_in: 3600, refresh_token: `r-${token}` } };
    },
  });
  const { rs } = world;
  rs.behaviour.checkToken = (token, request) => {
    const reject = (parameters: string, headers = {}) => ({
      status: 401,
      headers: { 'www-authenticate': `DPoP ${parameters}`, ...headers },
    });
    if (token === undefined || !bound.has(token)) return reject('algs="ES256"');
    const claims = JSON.parse(Buffer.from((request.headers['dpop'] as string).split('.')[1]!, 'base64url').toString());
    if (nonces.rs !== undefined && claims.nonce !== nonces.rs) {
      return reject('error="use_dpop_nonce"', { 'dpop-nonce': nonces.rs });
    }
    return undefined;
  };
  return Object.assign(world, { proofs, nonces });
}

test('where the server demands it, tokens are bound to a key and every request carries its own proof', async () => {
  const { as, rs } = await dpopWorld();
  const { call } = caller(rs);
  expect(await call()).toBe(200);
  expect(await call()).toBe(200);
  const shown = rs.to('/mcp').filter(({ headers }) => headers.authorization !== undefined);
  const proofs = await Promise.all(shown.map((request) => check(request, rs.url)));
  expect(shown.every(({ headers }) => headers.authorization!.startsWith('DPoP '))).toBe(true);
  expect(new Set(proofs.map(({ claims }) => claims['jti'])).size).toBe(2);
  const token = shown[0]!.headers.authorization!.slice(5);
  expect(proofs[0]!.claims['ath']).toBe(createHash('sha256').update(token).digest('base64url'));
  expect(as.to('/authorize')[0]!.query.get('dpop_jkt')).toBe(proofs[0]!.jkt);
});

test('nonces are used for both servers, and one that changes costs one more request', async () => {
  const world = await dpopWorld({ as: 'as-nonce', rs: 'rs-nonce' });
  const { call } = caller(world.rs);
  expect(await call()).toBe(200);
  expect(world.as.forms()).toHaveLength(2);
  const before = world.rs.presented().length;
  expect(await Promise.all([call(), call(), call()])).toEqual([200, 200, 200]);
  expect(world.rs.presented()).toHaveLength(before + 3);
  world.nonces.rs = 'another';
  expect(await Promise.all([call(), call(), call()])).toEqual([200, 200, 200]);
  expect(world.as.forms()).toHaveLength(2);
});

test('a nonce that comes with an ordinary answer is used from then on', async () => {
  const world = await dpopWorld();
  const { checkToken } = world.rs.behaviour;
  world.rs.behaviour.checkToken = (token, request) =>
    checkToken(token, request) ?? { headers: { 'dpop-nonce': 'for-later' }, body: { ok: true } };
  const { call } = caller(world.rs);
  await call();
  world.nonces.rs = 'for-later';
  const before = world.rs.presented().length;
  expect(await call()).toBe(200);
  expect(world.rs.presented()).toHaveLength(before + 1);
});

test('a server that is not content with its own nonce does not keep us in a loop', async () => {
  const world = await dpopWorld();
  const { call } = caller(world.rs);
  await call();
  world.rs.behaviour.checkToken = () => ({
    status: 401,
    headers: { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': 'same' },
  });
  await expect(call()).rejects.toMatchObject({ name: 'AuthError' });
  expect(world.rs.presented().length).toBeLessThan(10);
});

test('the key is stored with the token, so that the next run and a refresh can use both', async () => {
  const world = await dpopWorld();
  const store = createMemoryStore();
  await caller(world.rs, { store }).call();
  expect(await caller(world.rs, { store }).call()).toBe(200);
  expect(world.as.to('/authorize')).toHaveLength(1);
  const dead = world.rs.presented().at(-1);
  const { checkToken } = world.rs.behaviour;
  world.rs.behaviour.checkToken = (token, request) =>
    request.headers.authorization === dead
      ? { status: 401, headers: { 'www-authenticate': 'DPoP' } }
      : checkToken(token, request);
  expect(await caller(world.rs, { store }).call()).toBe(200);
  const keys = await Promise.all(world.as.to('/token').map((request) => check(request, `${world.as.origin}/token`)));
  expect(keys).toHaveLength(2);
  expect(keys[0]!.jkt).toBe(keys[1]!.jkt);
});

test('a token that is not bound is not used where binding is demanded', async () => {
  const { as, rs } = await dpopWorld();
  as.behaviour.token = () => ({ body: { access_token: 'unbound', token_type: 'Bearer' } });
  await expect(caller(rs).call()).rejects.toMatchObject({ code: 'dpop-unbound' });
  expect(rs.presented()).toEqual([undefined]);
});

test('an authorization server without DPoP cannot serve a resource that demands it', async () => {
  for (const algorithms of [undefined, [], ['RS256']]) {
    const { as, rs } = await dpopWorld();
    as.behaviour.metadata = { dpop_signing_alg_values_supported: algorithms };
    await expect(caller(rs).call()).rejects.toMatchObject({ code: 'dpop-unsupported' });
  }
});

test('it can be requested where the server leaves the choice, and left out where it does not matter', async () => {
  const { rs } = await dpopWorld();
  const { checkToken } = rs.behaviour;
  rs.behaviour.checkToken = (token, request) => (token === undefined ? rs.reject(401) : checkToken(token, request));
  expect(await caller(rs, { dpop: 'always' }).call()).toBe(200);
  expect(rs.presented().at(-1)).toMatch(/^DPoP /);
  const plain = await worlds.start({ metadata: { dpop_signing_alg_values_supported: ['ES256'] } });
  await caller(plain.rs).call();
  expect(plain.rs.presented().at(-1)).toMatch(/^Bearer /);
});
