import { generateKeyPairSync, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { createAuthorizer } from '../../../src/client/auth/create-authorizer.ts';
import type { MachineGrant } from '../../../src/client/auth/grants/machine-grants.ts';
import { createMemoryStore } from '../../../src/client/auth/storage/credential-store.ts';
import { type FakeHttp, notFound, startFakeHttp } from './fake-http.ts';
import { caller, Worlds } from './setup.ts';

const worlds = new Worlds();
afterEach(() => {
  vi.useRealTimers();
  return worlds.stop();
});

const noUser = { redirector: false } as const;
const clientCredentials: MachineGrant = { kind: 'client-credentials' };
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

test('client credentials with a secret request the resource and its scopes', async () => {
  const { as, rs } = await worlds.start(
    { metadata: { token_endpoint_auth_methods_supported: ['client_secret_basic'] } },
    { metadata: { scopes_supported: ['read', 'write'] } },
  );
  const client = { clientId: 'machine', clientSecret: 'p:w', issuer: as.issuer };
  expect(await caller(rs, { ...noUser, grant: clientCredentials, client }).call()).toBe(200);
  const [request] = as.to('/token');
  expect(Buffer.from(request!.headers.authorization!.slice(6), 'base64').toString()).toBe('machine:p%3Aw');
  expect(Object.fromEntries(as.forms()[0]!)).toEqual({
    grant_type: 'client_credentials',
    resource: rs.url,
    scope: 'read write',
  });
  expect(as.to('/authorize')).toHaveLength(0);
});

test('client credentials send further parameters with the token request', async () => {
  const { as, rs } = await worlds.start();
  const client = { clientId: 'machine', clientSecret: 'secret' };
  const extraParams = { audience: 'https://api.example.com' };
  await caller(rs, { ...noUser, grant: clientCredentials, client, resource: 'urn:example:files', extraParams }).call();
  expect(Object.fromEntries(as.forms()[0]!)).toMatchObject({ ...extraParams, resource: 'urn:example:files' });
});

test('client credentials with a key sign an assertion for this server only', async () => {
  const { as, rs } = await worlds.start({ metadata: { token_endpoint_auth_methods_supported: ['private_key_jwt'] } });
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const client = { clientId: 'machine', privateKey: pem, keyId: 'k1' };
  expect(await caller(rs, { ...noUser, grant: clientCredentials, client }).call()).toBe(200);
  const form = as.forms()[0]!;
  expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
  const [header, payload, signature] = form.get('client_assertion')!.split('.') as [string, string, string];
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  expect(decode(header)).toMatchObject({ alg: 'ES256', kid: 'k1' });
  expect(decode(payload)).toMatchObject({ iss: 'machine', sub: 'machine', aud: as.issuer });
  const signed = Buffer.from(`${header}.${payload}`);
  const valid = verify(
    'sha256',
    signed,
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(valid).toBe(true);
});

test('a machine requests a new token before its token expires, without a refresh token', async () => {
  const { as, rs } = await worlds.start();
  const { call } = caller(rs, { ...noUser, grant: clientCredentials, client: { clientId: 'machine' } });
  await call();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_590_000 });
  expect(await Promise.all([call(), call(), call()])).toEqual([200, 200, 200]);
  expect(as.forms().map((form) => form.get('grant_type'))).toEqual(['client_credentials', 'client_credentials']);
});

test('a machine whose new token is rejected does not request another', async () => {
  const { as, rs } = await worlds.start({}, { checkToken: () => rs.reject(401, 'error="invalid_token"') });
  const { call } = caller(rs, { ...noUser, grant: clientCredentials, client: { clientId: 'machine' } });
  await expect(call()).rejects.toMatchObject({ code: 'token-rejected' });
  expect(as.forms()).toHaveLength(1);
});

test('a machine without a client is a matter of configuration', async () => {
  const { rs } = await worlds.start();
  await expect(caller(rs, { ...noUser, grant: clientCredentials }).call()).rejects.toMatchObject({
    code: 'configuration',
  });
});

test('a workload presents its assertion, made for this very server', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="jobs"' });
  const needs: unknown[] = [];
  const assertion = async (need: unknown) => {
    needs.push(need);
    return 'workload.jwt';
  };
  const grant: MachineGrant = { kind: 'workload', assertion };
  expect(await caller(rs, { ...noUser, grant, client: { clientId: 'w' } }).call()).toBe(200);
  expect(needs).toEqual([{ issuer: as.issuer, resource: rs.url, scopes: ['jobs'] }]);
  expect(Object.fromEntries(as.forms()[0]!)).toEqual({
    grant_type: jwtBearer,
    assertion: 'workload.jwt',
    client_id: 'w',
    resource: rs.url,
    scope: 'jobs',
  });
});

test.each(['invalid_grant', 'invalid_scope', 'unauthorized_client'])(
  'a workload that is rejected with %s neither tries again nor another way',
  async (error) => {
    const { as, rs } = await worlds.start({ token: () => ({ status: 400, body: { error } }) });
    const grant: MachineGrant = { kind: 'workload', assertion: 'jwt' };
    const { call } = caller(rs, { grant, client: { clientId: 'w' } });
    await expect(call()).rejects.toMatchObject({ code: 'token-request-failed', oauthError: { error } });
    expect(as.forms()).toHaveLength(1);
    expect(as.to('/authorize')).toHaveLength(0);
  },
);

test('an empty assertion is not sent', async () => {
  const { as, rs } = await worlds.start();
  const grant: MachineGrant = { kind: 'workload', assertion: () => '' };
  await expect(caller(rs, { grant, client: { clientId: 'w' } }).call()).rejects.toMatchObject({
    code: 'configuration',
  });
  expect(as.forms()).toHaveLength(0);
});

async function startProvider(answer: Record<string, unknown> = {}): Promise<FakeHttp> {
  const provider: FakeHttp = await startFakeHttp(({ path }) => {
    const { origin } = provider;
    if (path === '/.well-known/openid-configuration')
      return { body: { issuer: origin, token_endpoint: `${origin}/t` } };
    if (path !== '/t') return notFound;
    const type = 'urn:ietf:params:oauth:token-type:id-jag';
    return { body: { access_token: 'the.id.jag', token_type: 'N_A', issued_token_type: type, ...answer } };
  });
  return worlds.add(provider);
}

const enterprise = (issuer: string, extra: object = {}): MachineGrant => ({
  kind: 'enterprise',
  subjectToken: 'user.id.token',
  identityProvider: { issuer, clientId: 'at-idp', ...extra },
});

test('the company vouches for a user: an ID token becomes a grant, and the grant a token', async () => {
  const { as, rs } = await worlds.start(
    { metadata: { token_endpoint_auth_methods_supported: ['client_secret_basic'] } },
    { challenge: 'scope="chat"' },
  );
  const provider = await startProvider();
  const client = { clientId: 'at-server', clientSecret: 's' };
  expect(await caller(rs, { ...noUser, grant: enterprise(provider.origin), client }).call()).toBe(200);
  expect(Object.fromEntries(new URLSearchParams(provider.to('/t')[0]!.body))).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
    subject_token: 'user.id.token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
    audience: as.issuer,
    resource: rs.url,
    scope: 'chat',
    client_id: 'at-idp',
  });
  const [request] = as.to('/token');
  expect(request!.headers.authorization).toMatch(/^Basic /);
  expect(Object.fromEntries(as.forms()[0]!)).toMatchObject({ grant_type: jwtBearer, assertion: 'the.id.jag' });
});

test('a known token endpoint needs no discovery, and a SAML assertion is named as such', async () => {
  const { rs } = await worlds.start();
  const provider = await startProvider();
  const grant = {
    ...enterprise(provider.origin, { tokenEndpoint: `${provider.origin}/t` }),
    subjectTokenType: 'saml2',
  };
  await caller(rs, { ...noUser, grant: grant as MachineGrant, client: { clientId: 'c' } }).call();
  expect(provider.seen.map(({ path }) => path)).toEqual(['/t']);
  expect(new URLSearchParams(provider.seen[0]!.body).get('subject_token_type')).toMatch(/:saml2$/);
});

test('a token of another type than requested is not passed on', async () => {
  const { as, rs } = await worlds.start();
  for (const type of ['urn:ietf:params:oauth:token-type:access_token', undefined]) {
    const provider = await startProvider({ issued_token_type: type });
    const { call } = caller(rs, { ...noUser, grant: enterprise(provider.origin), client: { clientId: 'c' } });
    await expect(call()).rejects.toMatchObject({ code: 'token-response-invalid' });
  }
  expect(as.forms()).toHaveLength(0);
});

test('the token of a user is exchanged for one that the server accepts', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="mail"' });
  let n = 0;
  const grant: MachineGrant = { kind: 'token-exchange', subjectToken: () => `of.the.user.${++n}` };
  const client = { clientId: 'front', clientSecret: 's', issuer: as.issuer };
  const { call } = caller(rs, { ...noUser, grant, client, extraParams: { audience: 'mail' } });
  expect(await Promise.all([call(), call()])).toEqual([200, 200]);
  expect(as.forms().map((form) => Object.fromEntries(form))).toEqual([
    expect.objectContaining({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'of.the.user.1',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: rs.url,
      scope: 'mail',
      audience: 'mail',
    }),
  ]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_590_000 });
  expect(await call()).toBe(200);
  expect(as.forms().map((form) => form.get('subject_token'))).toEqual(['of.the.user.1', 'of.the.user.2']);
});

test('what an exchange yields is not sent to the server if it is the token of the user, or is not for servers', async () => {
  const { as, rs } = await worlds.start();
  const client = { clientId: 'front', clientSecret: 's', issuer: as.issuer };
  const grant: MachineGrant = { kind: 'token-exchange', subjectToken: 'of.the.user' };
  for (const response of [
    { access_token: 'of.the.user' },
    { issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    { issued_token_type: 'urn:ietf:params:oauth:token-type:id_token' },
    { token_type: 'N_A' },
  ]) {
    as.behaviour.tokenExtras = response;
    const { call } = caller(rs, { ...noUser, grant, client });
    await expect(call()).rejects.toMatchObject({ code: 'token-response-invalid' });
  }
  expect(rs.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test('with scopes of its own, an exchange requests no others that the server names', async () => {
  const { as, rs } = await worlds.start({}, { challenge: 'scope="mail payroll"' });
  const client = { clientId: 'front', clientSecret: 's', issuer: as.issuer };
  const grant: MachineGrant = { kind: 'token-exchange', subjectToken: 'of.the.user' };
  const { call } = caller(rs, { ...noUser, grant, client, scopes: ['mail'] });
  expect(await call()).toBe(200);
  rs.behaviour.checkToken = () => rs.reject(403, 'error="insufficient_scope", scope="payroll"');
  for (let n = 0; n < 5; n++) await expect(call()).rejects.toMatchObject({ code: 'insufficient-scope' });
  const scopes = as.forms().map((form) => form.get('scope'));
  expect(new Set(scopes)).toEqual(new Set(['mail']));
  // Another token might have the scope, but not one for each call.
  expect(scopes.length).toBeLessThanOrEqual(3);
});

test('an error of the authorization server does not repeat the token that it rejects', async () => {
  const { as, rs } = await worlds.start();
  const client = { clientId: 'front', clientSecret: 's', issuer: as.issuer };
  const grant: MachineGrant = { kind: 'token-exchange', subjectToken: 'opaque/of+the.user' };
  for (const text of ['opaque/of+the.user', 'opaque\\/of+the.user']) {
    const body = `{"error":"invalid_request","error_description":"${text} is unknown"}`;
    as.behaviour.token = () => ({ status: 400, headers: { 'content-type': 'application/json' }, body });
    const error = await caller(rs, { ...noUser, grant, client })
      .call()
      .catch((each: Error) => each);
    if (!(error instanceof Error)) throw new Error(`got ${error}`);
    expect(error.message).toContain('"[hidden] is unknown"');
    expect(inspect(error)).not.toContain('the.user');
  }
});

test('an exchanged token is not stored, where another user would get it', () => {
  const client = { clientId: 'front', clientSecret: 's', issuer: 'https://login.example.com' };
  const grant: MachineGrant = { kind: 'token-exchange', subjectToken: 'of.the.user' };
  const options = { server: 'https://mcp.example.com/mcp', grant, client, store: createMemoryStore() };
  expect(() => createAuthorizer(options)).toThrow('a store cannot be used with the token-exchange grant');
});

test('the server does not choose who gets the token of a user', async () => {
  const { as, rs } = await worlds.start();
  const other = await worlds.start();
  const grant: MachineGrant = { kind: 'token-exchange', subjectToken: 'of.the.user' };
  for (const [issuer, code] of [
    [other.as.issuer, 'client-bound-elsewhere'],
    [undefined, 'configuration'],
  ] as const) {
    const client = { clientId: 'front', clientSecret: 's', ...(issuer && { issuer }) };
    await expect(caller(rs, { ...noUser, grant, client }).call()).rejects.toMatchObject({ code });
  }
  expect([...as.forms(), ...other.as.forms()]).toEqual([]);
});

test('a server that demands other scopes with every response does not make requests grow without end', async () => {
  const at = 'https://mcp.example.com';
  const issued: number[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (url.includes('oauth-protected-resource'))
      return Response.json({ resource: `${at}/mcp`, authorization_servers: [at] });
    if (url.includes('oauth-authorization-server')) return Response.json({ issuer: at, token_endpoint: `${at}/token` });
    issued.push(String(init.body).length);
    return Response.json({ access_token: `token-${issued.length}`, token_type: 'Bearer' });
  };
  const client = { clientId: 'c', clientSecret: 's', issuer: at };
  const authorizer = createAuthorizer({ server: `${at}/mcp`, client, grant: { kind: 'client-credentials' }, fetch });
  const errors = new Set<string>();
  for (let n = 0; n < 30; n++) {
    const sent = await authorizer.headers(`${at}/mcp`, { method: 'POST' });
    const scope = Array.from({ length: 1_000 }, (_, i) => `scope-${n}-${i}`).join(' ');
    const demand = `Bearer error="insufficient_scope", scope="${scope}"`;
    const response = { status: n === 0 ? 401 : 403, headers: { 'www-authenticate': n === 0 ? 'Bearer' : demand } };
    await authorizer
      .challenge(`${at}/mcp`, response, { sent })
      .catch((error: { readonly code: string }) => errors.add(error.code));
  }
  expect([...errors]).toEqual(['insufficient-scope']);
  expect(issued.length).toBeGreaterThan(3);
  expect(Math.max(...issued)).toBeLessThan(70_000);
});
