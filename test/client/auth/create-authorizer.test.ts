import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createHookRedirector } from '../../../src/client/auth/grants/redirect.ts';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import { createFileStore } from '../../../src/client/auth/storage/file-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { Reply } from './fake-http.ts';
import { startAuthorizationServer, startResource } from './fake-provider.ts';
import { type AuthTestSetup, caller, selfSigning, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => {
  vi.useRealTimers();
  return worlds.stop();
});

/** Tokens that count as expired from now on. */
function expire({ as, rs }: AuthTestSetup): void {
  const dead = new Set(as.issued.map(({ token }) => token));
  const { checkToken } = rs.behaviour;
  rs.behaviour.checkToken = (token, request) =>
    token !== undefined && dead.has(token) ? rs.reject(401, 'error="invalid_token"') : checkToken(token, request);
}

const grants = ({ as }: AuthTestSetup) => as.forms().map((form) => form.get('grant_type'));

test('without a challenge no token is sent and no sign-in starts', async () => {
  const { as, rs } = await worlds.start({}, { checkToken: () => undefined });
  expect(await caller(rs).call()).toBe(200);
  expect(rs.presented()).toEqual([undefined]);
  expect(as.seen).toHaveLength(0);
});

test('a fresh token is presented without a promise, and to no other origin', async () => {
  const { rs } = await worlds.start();
  const { authorizer, call } = caller(rs);
  await call();
  const headers = authorizer.headers(rs.url, { method: 'POST' });
  expect(headers).toEqual({ authorization: expect.stringMatching(/^Bearer token-1/) });
  for (const url of ['https://evil.example.com/mcp', rs.url.replace('127.0.0.1', 'localhost'), `${rs.origin}1/mcp`]) {
    if (URL.canParse(url)) expect(await authorizer.headers(url, { method: 'POST' }), url).toEqual({});
  }
});

test('the upgrade request of a WebSocket on the same host gets the token too', async () => {
  const { rs } = await worlds.start();
  const { authorizer, call } = caller(rs);
  await call();
  const headers = await authorizer.headers(rs.url.replace('http:', 'ws:'), { method: 'GET' });
  expect(headers).toHaveProperty('authorization');
});

test('a challenge from another origin is ignored', async () => {
  const { as, rs } = await worlds.start();
  const { authorizer } = caller(rs);
  const response = { status: 401, headers: { 'www-authenticate': `Bearer resource_metadata="${rs.origin}/x"` } };
  expect(await authorizer.challenge('https://evil.example.com/mcp', response)).toBe('fail');
  expect(as.seen).toHaveLength(0);
});

test('other statuses, and a 403 that is not about scopes, are left to the caller', async () => {
  const { rs } = await worlds.start();
  const { authorizer, call } = caller(rs);
  for (const status of [200, 400, 404, 500])
    expect(await authorizer.challenge(rs.url, { status, headers: {} })).toBe('fail');
  rs.behaviour.checkToken = () => ({ status: 403, headers: { 'www-authenticate': 'Bearer error="invalid_request"' } });
  expect(await call()).toBe(403);
});

test('many requests at once share one sign-in', async () => {
  const { as, rs } = await worlds.start();
  const { call } = caller(rs);
  expect(await Promise.all(Array.from({ length: 20 }, () => call()))).toEqual(Array(20).fill(200));
  expect(as.to('/authorize')).toHaveLength(1);
  expect(as.to('/register')).toHaveLength(1);
});

test('many requests at once share one rejection too', async () => {
  const { as, rs } = await worlds.start({ callback: { error: 'access_denied', code: undefined } });
  const { call } = caller(rs);
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => call()));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(as.to('/authorize')).toHaveLength(1);
});

test('an expired token is refreshed once for all who met it, with the resource', async () => {
  const world = await worlds.start();
  const { call } = caller(world.rs);
  await call();
  expire(world);
  expect(await Promise.all(Array.from({ length: 20 }, () => call()))).toEqual(Array(20).fill(200));
  expect(grants(world)).toEqual(['authorization_code', 'refresh_token']);
  const refresh = world.as.forms()[1]!;
  expect(refresh.get('refresh_token')).toBe('refresh-1');
  expect(refresh.get('resource')).toBe(world.rs.url);
});

test('a late rejection of an old token only leads to a retry with the new one', async () => {
  const world = await worlds.start();
  const { authorizer, call } = caller(world.rs);
  await call();
  const old = await authorizer.headers(world.rs.url, { method: 'POST' });
  expire(world);
  await call();
  const rejected = { status: 401, headers: new Headers({ 'www-authenticate': 'Bearer error="invalid_token"' }) };
  expect(await authorizer.challenge(world.rs.url, rejected, { sent: old })).toBe('retry');
  expect(grants(world)).toEqual(['authorization_code', 'refresh_token']);
});

test('a token is renewed shortly before it ends', async () => {
  const world = await worlds.start();
  const { call } = caller(world.rs);
  await call();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_560_000 });
  await call();
  expect(grants(world)).toEqual(['authorization_code']);
  vi.setSystemTime(Date.now() + 20_000);
  expect(await call()).toBe(200);
  expect(grants(world)).toEqual(['authorization_code', 'refresh_token']);
  // Ahead of time means that no request had to be rejected for it.
  expect(world.rs.presented()).toHaveLength(4);
});

test('a renewal ahead of time that fails leaves the old token in use', async () => {
  const world = await worlds.start({ tokenExtras: { expires_in: 0 } });
  const { call } = caller(world.rs);
  await call();
  world.as.behaviour.token = () => ({ status: 503 });
  const before = world.as.forms().length;
  expect(await call()).toBe(200);
  expect(await call()).toBe(200);
  expect(world.as.forms()).toHaveLength(before + 1);
});

test('a refresh token that is no longer accepted leads to a new sign-in with the same scopes', async () => {
  const world = await worlds.start({}, { challenge: 'scope="read"' });
  const { call } = caller(world.rs);
  await call();
  expire(world);
  world.as.behaviour.token = (form) =>
    form.get('grant_type') === 'refresh_token' ? { status: 400, body: { error: 'invalid_grant' } } : undefined;
  world.rs.behaviour.challenge = '';
  expect(await call()).toBe(200);
  expect(world.as.to('/authorize').map(({ query }) => query.get('scope'))).toEqual(['read', 'read']);
  expire(world);
  await call();
  expect(grants(world).filter((grant) => grant === 'refresh_token')).toHaveLength(2);
});

const outages: readonly (readonly [string, Reply])[] = [
  ['with 503', { status: 503 }],
  ['with a redirect', { status: 302, headers: { location: '/maintenance' } }],
  ['with 403 and no reason', { status: 403 }],
  ['with 404', { status: 404 }],
  ['that it is not available now', { status: 400, body: { error: 'temporarily_unavailable' } }],
  ['with a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
];
test.each(outages)('an authorization server that responds %s is no reason to sign in again', async (_how, reply) => {
  const world = await worlds.start();
  const { call } = caller(world.rs);
  await call();
  expire(world);
  world.as.behaviour.token = () => reply;
  await expect(call()).rejects.toMatchObject({
    code: expect.stringMatching(/^token-(request-failed|response-invalid)$/),
    isTemporary: true,
  });
  world.as.behaviour.token = () => undefined;
  expect(await call()).toBe(200);
  expect(world.as.to('/authorize')).toHaveLength(1);
});

test('a refreshed token that is rejected too leads to a sign-in, and a granted one that is rejected to an error', async () => {
  const world = await worlds.start();
  const { call } = caller(world.rs);
  await call();
  world.rs.behaviour.checkToken = () =>
    world.rs.reject(401, 'error="invalid_token", error_description="wrong audience"');
  await expect(call()).rejects.toMatchObject({
    code: 'token-rejected',
    message: expect.stringContaining('wrong audience'),
  });
  expect(grants(world)).toEqual(['authorization_code', 'refresh_token', 'authorization_code']);
});

test('a rotated refresh token replaces the old one, an omitted one keeps it', async () => {
  const world = await worlds.start();
  const { call } = caller(world.rs);
  await call();
  expire(world);
  world.as.behaviour.tokenExtras = { refresh_token: undefined };
  await call();
  expire(world);
  world.as.behaviour.tokenExtras = { refresh_token: 'rotated' };
  await call();
  expire(world);
  await call();
  expect(world.as.forms().map((form) => form.get('refresh_token'))).toEqual([
    null,
    'refresh-1',
    'refresh-1',
    'rotated',
  ]);
});

test('stored credentials serve the next run without a sign-in', async () => {
  const folder = temporaryFolder();
  try {
    const world = await worlds.start();
    const store = () => createFileStore(join(folder, 'credentials.json'));
    await caller(world.rs, { store: store() }).call();
    expect(await caller(world.rs, { store: store() }).call()).toBe(200);
    expect(world.as.to('/authorize')).toHaveLength(1);
    expire(world);
    expect(await caller(world.rs, { store: store() }).call()).toBe(200);
    expect(world.as.to('/register')).toHaveLength(1);
    expect(grants(world)).toEqual(['authorization_code', 'refresh_token']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a token can be refreshed even after another sign-in replaced the registration it came with', async () => {
  let count = 0;
  const world = await worlds.start({
    registration: (document) => ({ status: 201, body: { ...document, client_id: `id-${++count}` } }),
  });
  const store = createMemoryStore();
  const { call } = caller(world.rs, { store });
  await call();
  const other = worlds.add(await startResource(() => [world.as]));
  await caller(other, { store, redirector: selfSigning('http://127.0.0.1:8888/callback') }).call();
  expire(world);
  expect(await call()).toBe(200);
  expect(world.as.forms().map((form) => `${form.get('grant_type')} ${form.get('client_id')}`)).toEqual([
    'authorization_code id-1',
    'authorization_code id-2',
    'refresh_token id-1',
  ]);
});

test('two runs that share a file refresh once between them', async () => {
  const folder = temporaryFolder();
  try {
    const world = await worlds.start();
    const store = () => createFileStore(join(folder, 'credentials.json'));
    const runs = [caller(world.rs, { store: store() }), caller(world.rs, { store: store() })];
    await runs[0]!.call();
    await runs[1]!.call();
    expire(world);
    // A rotating server would revoke everything if the same refresh token came twice.
    const used = new Set<string>();
    world.as.behaviour.token = (form) => {
      const token = form.get('refresh_token') ?? '';
      if (used.has(token)) return { status: 400, body: { error: 'invalid_grant' } };
      used.add(token);
      return undefined;
    };
    expect(await Promise.all(runs.map(({ call }) => call()))).toEqual([200, 200]);
    expect(used.size).toBe(1);
    expect(world.as.to('/authorize')).toHaveLength(1);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('when the authorization server changes, nothing of the old one is sent to the new one', async () => {
  const [first, second] = [worlds.add(await startAuthorizationServer()), worlds.add(await startAuthorizationServer())];
  let current = first;
  const rs = worlds.add(await startResource(() => [current]));
  const { call } = caller(rs);
  await call();
  current = second;
  expect(await call()).toBe(200);
  expect(second.to('/register')).toHaveLength(1);
  expect(second.to('/authorize')[0]!.query.get('client_id')).toBe(`client-of-${second.issuer}`);
  const leaked = second.seen
    .map((request) => `${request.body}${request.query}${JSON.stringify(request.headers)}`)
    .join();
  expect(leaked).not.toContain(`client-of-${first.issuer}`);
  expect(leaked).not.toContain('refresh-');
  expect(leaked).not.toContain(first.issued[0]!.token);
  // And back: what the first one gave is still there.
  current = first;
  expect(await call()).toBe(200);
  expect(first.to('/register')).toHaveLength(1);
  expect(first.to('/authorize')).toHaveLength(1);
});

test('a step-up requests the union of scopes, once for all requests that need it', async () => {
  const world = await worlds.start({}, { challenge: 'scope="read"' });
  const { as, rs } = world;
  const { call } = caller(rs);
  await call();
  const { checkToken } = rs.behaviour;
  rs.behaviour.checkToken = (token, request) => {
    const scope = as.issued.find((entry) => entry.token === token)?.scope.split(' ') ?? [];
    if (scope.length > 0 && !scope.includes('write'))
      return rs.reject(403, 'error="insufficient_scope", scope="write"');
    return checkToken(token, request);
  };
  expect(await Promise.all([call(), call(), call()])).toEqual([200, 200, 200]);
  expect(as.to('/authorize').map(({ query }) => query.get('scope'))).toEqual(['read', 'read write']);
});

test('a server that rejects every token is tried only a few times', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="admin"' });
  rs.behaviour.checkToken = (token) =>
    token === undefined ? rs.reject(401) : rs.reject(403, 'error="insufficient_scope", scope="admin"');
  await expect(caller(rs).call()).rejects.toMatchObject({
    code: 'insufficient-scope',
    message: expect.stringContaining('admin'),
  });
  expect(as.to('/authorize')).toHaveLength(1);
});

test('scopes that the user does not grant are requested again twice, not forever', async () => {
  const { as, rs } = await worlds.start({ tokenExtras: { scope: 'read' } }, { challenge: 'scope="read"' });
  rs.behaviour.checkToken = (token) =>
    token === undefined ? rs.reject(401) : rs.reject(403, 'error="insufficient_scope", scope="write"');
  const { call } = caller(rs);
  for (let n = 0; n < 3; n++) await expect(call()).rejects.toMatchObject({ code: 'insufficient-scope' });
  expect(as.to('/authorize')).toHaveLength(3);
});

test('a server that invents a new scope every time runs into the bound', async () => {
  const { as, rs } = await worlds.start();
  let n = 0;
  rs.behaviour.checkToken = (token) =>
    token === undefined ? rs.reject(401) : rs.reject(403, `error="insufficient_scope", scope="s${n++}"`);
  await expect(caller(rs).call()).rejects.toMatchObject({ code: 'too-many-challenges' });
  expect(as.to('/authorize')).toHaveLength(4);
});

test('an abort during a sign-in ends the request, and the next one starts a new sign-in', async () => {
  const { as, rs } = await worlds.start();
  let asked = 0;
  const signed = selfSigning();
  const redirector = {
    prepare: async (options: object) => {
      const stop = await signed.prepare(options);
      return {
        ...stop,
        visit: (visit: Parameters<typeof stop.visit>[0]) =>
          ++asked > 1
            ? stop.visit(visit)
            : new Promise<URLSearchParams>((_resolve, reject) =>
                visit.signal.addEventListener('abort', () => reject(visit.signal.reason)),
              ),
      };
    },
  };
  const { call } = caller(rs, { redirector });
  const controller = new AbortController();
  const pending = call({ signal: controller.signal });
  await expect.poll(() => asked).toBe(1);
  controller.abort(new Error('never mind'));
  await expect(pending).rejects.toThrow('never mind');
  expect(await call()).toBe(200);
  expect(as.to('/token')).toHaveLength(1);
});

test('a token of one client is not used by another in the same store', async () => {
  const { as, rs } = await worlds.start();
  const store = createMemoryStore();
  await caller(rs, { store, client: { clientId: 'one', issuer: as.issuer } }).call();
  await caller(rs, { store, client: { clientId: 'two', issuer: as.issuer } }).call();
  expect(as.to('/authorize').map(({ query }) => query.get('client_id'))).toEqual(['one', 'two']);
});

test('stored credentials that were edited are validated', async () => {
  const { as, rs } = await worlds.start();
  const store = createMemoryStore();
  await caller(rs, { store }).call();
  const key = JSON.stringify(['token', as.issuer, rs.url, 'authorization-code']);
  for (const bad of [
    { ...((await store.get(key)) as object), issuer: 'https://evil.example' },
    { accessToken: 1 },
    'x',
    null,
  ]) {
    await store.set(key, bad);
    expect(await caller(rs, { store }).call()).toBe(200);
  }
  expect(as.to('/authorize')).toHaveLength(5);
});

test('a server URL that may not be used is rejected at once', () => {
  for (const url of ['http://mcp.example.com/mcp', 'ftp://x/', 'not a url', 'https://u:p@mcp.example.com/']) {
    expect(() => caller({ url }), url).toThrow(expect.objectContaining({ code: 'insecure-url' }));
  }
});

test('a redirect URI that is neither https nor loopback is rejected at once', () => {
  for (const uri of [
    'http://app.example.com/cb',
    'myapp://cb',
    'javascript:x',
    'https://app.example/cb#x',
    'nonsense',
  ]) {
    expect(() => createHookRedirector(uri, async () => ''), uri).toThrow(
      expect.objectContaining({ code: 'configuration' }),
    );
  }
});
