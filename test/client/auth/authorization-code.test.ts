import { createHash } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { createHookRedirector } from '../../../src/client/auth/grants/redirect.ts';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import { caller, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => worlds.stop());

test('a sign-in sends PKCE, state and the resource, and redeems the code with the same resource', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="read"' });
  expect(await caller(rs).call()).toBe(200);
  const [authorize] = as.to('/authorize');
  expect(Object.fromEntries(authorize!.query)).toMatchObject({
    response_type: 'code',
    client_id: `client-of-${as.issuer}`,
    redirect_uri: 'http://127.0.0.1:7777/callback',
    code_challenge_method: 'S256',
    resource: `${rs.origin}/mcp`,
    scope: 'read',
    state: expect.stringMatching(/^[\w-]{43}$/),
  });
  const [form] = as.forms();
  expect(form!.get('resource')).toBe(`${rs.origin}/mcp`);
  expect(form!.get('redirect_uri')).toBe('http://127.0.0.1:7777/callback');
  const challenge = createHash('sha256').update(form!.get('code_verifier')!).digest('base64url');
  expect(authorize!.query.get('code_challenge')).toBe(challenge);
  expect(rs.presented()).toEqual([undefined, `Bearer token-1-of-${new URL(as.origin).port}`]);
});

test('the resource is sent exactly as published', async () => {
  const { as, rs } = await worlds.start({}, { metadataPath: '/.well-known/oauth-protected-resource' });
  rs.behaviour.metadata = { resource: rs.origin };
  await caller(rs).call();
  expect(as.to('/authorize')[0]!.query.get('resource')).toBe(rs.origin);
});

test('a resource that is given is sent instead of the published one, and a token for another one is not used', async () => {
  const { as, rs } = await worlds.start();
  const store = createMemoryStore();
  await caller(rs, { store }).call();
  const { call } = caller(rs, { store, resource: 'urn:example:files' });
  expect(await call()).toBe(200);
  expect(as.to('/authorize').map(({ query }) => query.get('resource'))).toEqual([rs.url, 'urn:example:files']);
  expect(as.forms().map((form) => form.get('resource'))).toEqual([rs.url, 'urn:example:files']);
  // The token is found again by its resource.
  expect(await caller(rs, { store, resource: 'urn:example:files' }).call()).toBe(200);
  expect(as.to('/authorize')).toHaveLength(2);
});

test('parameters besides those of OAuth are in the authorization request only', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="offline_access"' });
  const extraParams = { access_type: 'offline', prompt: 'login' };
  expect(await caller(rs, { extraParams }).call()).toBe(200);
  const [authorize] = as.to('/authorize');
  expect(Object.fromEntries(authorize!.query)).toMatchObject({ ...extraParams, resource: rs.url });
  expect(as.forms()[0]!.has('access_type')).toBe(false);
});

test('parameters that the client sets itself cannot be given', async () => {
  const { rs } = await worlds.start();
  expect(() => caller(rs, { extraParams: { audience: 'a', redirect_uri: 'https://evil.example.com' } })).toThrow(
    /extraParams cannot contain redirect_uri/,
  );
});

test('each sign-in has its own state and verifier', async () => {
  const { as, rs } = await worlds.start();
  await caller(rs).call();
  await caller(rs).call();
  const [one, two] = as.to('/authorize');
  for (const name of ['state', 'code_challenge']) expect(one!.query.get(name)).not.toBe(two!.query.get(name));
});

test('a server that does not support PKCE with S256 is rejected before the user is redirected there', async () => {
  for (const methods of [undefined, [], ['plain'], 'S256']) {
    const { as, rs } = await worlds.start({ metadata: { code_challenge_methods_supported: methods } });
    await expect(caller(rs).call()).rejects.toMatchObject({ code: 'pkce-unsupported' });
    expect(as.to('/authorize')).toHaveLength(0);
    expect(as.to('/register')).toHaveLength(0);
  }
});

test.each([
  ['wrong', () => 'https://evil.example.com', 'callback-issuer-mismatch'],
  ['normalized', (issuer: string) => `${issuer}/`, 'callback-issuer-mismatch'],
  ['missing', () => undefined, 'callback-issuer-missing'],
])('a %s issuer in the response keeps the code from the token endpoint', async (_name, iss, code) => {
  const { as, rs } = await worlds.start({ iss });
  await expect(caller(rs).call()).rejects.toMatchObject({ code });
  expect(as.forms()).toHaveLength(0);
});

test('an issuer that was not promised is compared all the same, and may be absent', async () => {
  const silent = await worlds.start({
    iss: () => undefined,
    metadata: { authorization_response_iss_parameter_supported: undefined },
  });
  expect(await caller(silent.rs).call()).toBe(200);
  const lying = await worlds.start({
    iss: () => 'https://evil.example.com',
    metadata: { authorization_response_iss_parameter_supported: undefined },
  });
  await expect(caller(lying.rs).call()).rejects.toMatchObject({ code: 'callback-issuer-mismatch' });
  expect(lying.as.forms()).toHaveLength(0);
});

test('mix-up: a code of another server never reaches the attacker who redirected us there', async () => {
  const honest = await worlds.start();
  // The attacker's metadata is its own, but its authorization endpoint forwards to the honest server.
  const attacker = await worlds.start({ iss: () => honest.as.issuer });
  await expect(caller(attacker.rs).call()).rejects.toMatchObject({ code: 'callback-issuer-mismatch' });
  expect(attacker.as.forms()).toHaveLength(0);
});

test.each([
  ['another', { state: 'another' }],
  ['missing', { state: undefined }],
])('a response with a %s state is discarded', async (_name, callback) => {
  const { as, rs } = await worlds.start({ callback });
  await expect(caller(rs).call()).rejects.toMatchObject({ code: 'state-mismatch' });
  expect(as.forms()).toHaveLength(0);
});

test('an old callback does not pass for a new one', async () => {
  const { as, rs } = await worlds.start();
  let old: URL | undefined;
  const redirector = createHookRedirector('http://127.0.0.1:7777/callback', async (url) => {
    const { headers } = await fetch(url, { redirect: 'manual' });
    old ??= new URL(headers.get('location')!);
    return old;
  });
  expect(await caller(rs, { redirector }).call()).toBe(200);
  await expect(caller(rs, { redirector }).call()).rejects.toMatchObject({ code: 'state-mismatch' });
  expect(as.forms()).toHaveLength(1);
});

test('if the user declines, the error has the description of the server', async () => {
  const { rs } = await worlds.start({
    callback: { code: undefined, error: 'access_denied', error_description: 'Not today' },
  });
  await expect(caller(rs).call()).rejects.toMatchObject({
    code: 'authorization-denied',
    message: expect.stringContaining('access_denied, "Not today"'),
  });
});

test('a code that the server rejects is reported with its reason', async () => {
  const { as, rs } = await worlds.start({
    token: () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'expired' } }),
  });
  await expect(caller(rs).call()).rejects.toMatchObject({
    code: 'token-request-failed',
    tried: [`${as.origin}/token`],
    oauthError: { status: 400, error: 'invalid_grant', description: 'expired' },
  });
});

test.each([
  ['is not JSON', { body: 'hello' }],
  ['has no token', { body: { token_type: 'Bearer' } }],
  ['has an unknown type', { body: { access_token: 't', token_type: 'mac' } }],
])('a token response that %s is unusable', async (_name, reply) => {
  const { rs } = await worlds.start({ token: () => reply });
  await expect(caller(rs).call()).rejects.toMatchObject({ code: 'token-response-invalid' });
});

test('an ID token that was not requested is ignored', async () => {
  const { rs } = await worlds.start({ tokenExtras: { id_token: 'not.even.a-jwt' } });
  expect(await caller(rs).call()).toBe(200);
});

test('a token endpoint that redirects does not get the code carried elsewhere', async () => {
  const { as, rs } = await worlds.start({ token: () => ({ status: 307, headers: { location: '/elsewhere' } }) });
  await expect(caller(rs).call()).rejects.toMatchObject({ code: 'token-request-failed' });
  expect(as.to('/elsewhere')).toHaveLength(0);
});

test('offline access is requested with consent where the server lists it', async () => {
  const { as, rs } = await worlds.start(
    { metadata: { scopes_supported: ['read', 'offline_access'] } },
    { challenge: 'scope="read"' },
  );
  await caller(rs).call();
  const { query } = as.to('/authorize')[0]!;
  expect(query.get('scope')).toBe('read offline_access');
  expect(query.get('prompt')).toBe('consent');
});

test('a server that requires pushed authorization requests gets them', async () => {
  const { as, rs } = await worlds.start();
  const pushed: URLSearchParams[] = [];
  as.behaviour.metadata = {
    require_pushed_authorization_requests: true,
    pushed_authorization_request_endpoint: `${as.origin}/par`,
  };
  const client = { clientId: 'known' };
  const redirector = createHookRedirector('http://127.0.0.1:7777/callback', async (url) => {
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    throw new Error('seen enough');
  });
  const fetchIt = async (url: string, init: RequestInit) => {
    if (!url.endsWith('/par')) return fetch(url, init);
    pushed.push(new URLSearchParams(init.body as URLSearchParams));
    return Response.json({ request_uri: 'urn:x', expires_in: 60 }, { status: 201 });
  };
  await expect(caller(rs, { client, redirector, fetch: fetchIt }).call()).rejects.toThrow('seen enough');
  expect(pushed[0]!.get('code_challenge_method')).toBe('S256');
});

test('a sign-in that is never finished ends with the time limit', async () => {
  const { rs } = await worlds.start();
  const redirector = createHookRedirector(
    'http://127.0.0.1:7777/callback',
    (_url, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  await expect(caller(rs, { redirector, signInTimeoutMs: 30 }).call()).rejects.toMatchObject({
    code: 'interaction-timeout',
  });
});

test('without a way to sign in, the error says so', async () => {
  const { as, rs } = await worlds.start();
  await expect(caller(rs, { redirector: false }).call()).rejects.toMatchObject({ code: 'interaction-required' });
  expect(as.to('/register')).toHaveLength(0);
});

test('a server of the older rules needs no PKCE list, and a server without metadata no metadata', async () => {
  const { as } = await worlds.start({ iss: () => undefined });
  const { rs } = await worlds.start({}, { metadataPath: null });
  // One origin for both roles, as it was then.
  const merged = async (url: string, init: RequestInit) => {
    const { pathname, search } = new URL(url);
    return fetch(['/token', '/register'].includes(pathname) ? `${as.origin}${pathname}${search}` : url, init);
  };
  rs.behaviour.checkToken = (token) => (as.issued.some((entry) => entry.token === token) ? undefined : { status: 401 });
  const redirector = createHookRedirector('http://127.0.0.1:7777/callback', async (url) => {
    expect(`${url.origin}${url.pathname}`).toBe(`${rs.origin}/authorize`);
    const { headers } = await fetch(`${as.origin}/authorize${url.search}`, { redirect: 'manual' });
    return headers.get('location')!;
  });
  expect(await caller(rs, { fetch: merged, redirector }).call()).toBe(200);
  expect(as.forms()[0]!.get('resource')).toBe(rs.url);
});

test('a server that requires something other than OAuth is recognized', async () => {
  const { rs } = await worlds.start({}, { metadataPath: null });
  await expect(caller(rs).call()).rejects.toMatchObject({
    code: 'not-offered',
    tried: expect.arrayContaining([`${rs.origin}/.well-known/oauth-protected-resource`, `${rs.origin}/register`]),
  });
});

test('a server without OAuth is recognized also where no user can sign in', async () => {
  const { rs } = await worlds.start({}, { metadataPath: null });
  await expect(caller(rs, { redirector: false }).call()).rejects.toMatchObject({
    code: 'not-offered',
    message: expect.stringContaining('publishes nothing about OAuth'),
    tried: expect.arrayContaining([`${rs.origin}/.well-known/oauth-protected-resource`]),
  });
});
