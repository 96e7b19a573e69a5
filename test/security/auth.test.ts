// Authentication through the wire: who is let in, what the others are told, and every way to forge a token.

import { once } from 'node:events';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generateKeyPair, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import {
  type Authenticate,
  anyOf,
  authenticateEnvironment,
  createOAuthAuthenticator,
  createToken,
  createTokenAuthenticator,
  hashToken,
  metadataUrl,
  type OAuthAuthenticator,
  readTokenFile,
  requireScopes,
} from '../../src/security/auth/index.ts';
import { type HttpServer, serveHttp } from '../../src/transports/http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { AuthorizationServer, type TokenWish } from './fixtures/authorization-server.ts';

const resource = 'https://mcp.example.com/mcp';
let issuer: AuthorizationServer;
let oauth: OAuthAuthenticator;
let http: HttpServer;
let server: Server;

function whoami(): Server {
  const made = createServer({ name: 'guarded', version: '1.0.0' });
  made.tool('whoami', { run: (_args, ctx) => `${ctx.principal?.issuer} ${ctx.principal?.id}` });
  made.tool('danger', { run: () => 'done' });
  return made;
}

beforeAll(async () => {
  issuer = await AuthorizationServer.start();
  oauth = createOAuthAuthenticator({
    resource,
    issuers: [issuer.issuer],
    requiredScopes: ['mcp'],
    scopeHierarchy: { admin: ['danger', 'mcp'] },
    cacheMs: 0,
  });
  server = whoami();
  const rules = [{ tools: ['danger'], scopes: ['mcp', 'danger'] }];
  server.around(requireScopes(rules, { challenge: oauth.challenge }));
  http = await serveHttp(server, { port: 0, authenticate: oauth.authenticate, routes: oauth.routes });
});

afterAll(async () => {
  await http.close();
  await issuer.close();
});

/** A stateless request. */
async function post(
  token: string | undefined,
  method = 'tools/call',
  params: object = { name: 'whoami' },
  headers: Record<string, string> = {},
  url = http.url,
): Promise<{
  status: number;
  challenge: string | null;
  body: { result?: { content: { text: string }[] }; error?: { code: number; message: string; data?: unknown } };
}> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = (params as { name?: string }).name;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(name === undefined ? {} : { 'Mcp-Name': name }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  return {
    status: response.status,
    challenge: response.headers.get('www-authenticate'),
    body: (await response.json()) as never,
  };
}

describe('an OAuth resource server', () => {
  test('S4-57: accepts a valid token, and the handler sees its principal', async () => {
    const { status, body } = await post(await issuer.token(resource));
    expect(status).toBe(200);
    expect(body.result?.content[0]?.text).toBe(`${issuer.issuer} alice`);
  });

  test('S4-57: a request without a token is told where to get one and for which scopes', async () => {
    const { status, challenge, body } = await post(undefined);
    expect(status).toBe(401);
    expect(challenge).toBe(
      'Bearer scope="mcp", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
    );
    expect(body.error?.message).toContain('Unauthorized');
  });

  test('publishes its metadata without authentication, at its own path and at the root', async () => {
    for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
      const response = await fetch(new URL(path, http.url));
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({
        resource,
        authorization_servers: [issuer.issuer],
        scopes_supported: ['mcp'],
        bearer_methods_supported: ['header'],
      });
    }
    expect(metadataUrl('https://mcp.example.com')).toBe('https://mcp.example.com/.well-known/oauth-protected-resource');
  });

  const flaws: readonly [string, () => TokenWish | Promise<TokenWish>][] = [
    ['for another audience', () => ({ claims: { aud: 'https://other.example.com/mcp' } })],
    ['for no audience', () => ({ claims: { aud: undefined } })],
    ['for an audience that only begins like ours', () => ({ claims: { aud: `${resource}.evil.example` } })],
    ['from another issuer', () => ({ claims: { iss: 'https://evil.example' } })],
    ['from no issuer', () => ({ claims: { iss: undefined } })],
    ['that has expired', () => ({ expiresIn: -60 })],
    ['that never expires', () => ({ expiresIn: null })],
    ['that is not valid yet', () => ({ claims: { nbf: Math.floor(Date.now() / 1000) + 600 } })],
    ['without a subject', () => ({ claims: { sub: undefined } })],
    ['signed by another key', async () => ({ key: (await generateKeyPair('ES256')).privateKey })],
    [
      'signed by another key of the same name',
      async () => ({ key: (await generateKeyPair('ES256')).privateKey, header: { kid: 'key-1' } }),
    ],
    ['with a key name that is a path', () => ({ header: { kid: '../../../../dev/null' } })],
    ['with a key name that is a query', () => ({ header: { kid: "x' UNION SELECT 'secret" } })],
    [
      'that brings its own key',
      async () => {
        const { privateKey } = await generateKeyPair('ES256', { extractable: true });
        return { key: privateKey, header: { jwk: issuer.publicKey, kid: 'own' } };
      },
    ],
    [
      'that names an address to get the key from',
      async () => ({
        key: (await generateKeyPair('ES256')).privateKey,
        header: { jku: 'http://127.0.0.1:1/keys', x5u: 'http://127.0.0.1:1/cert', kid: 'own' },
      }),
    ],
    ['that is no access token', () => ({ header: { typ: 'logout+jwt' } })],
    ['with a type that is not a text', () => ({ header: { typ: 5 } })],
    ['that is bound to a key without a proof', () => ({ claims: { cnf: { jkt: 'thumbprint' } } })],
    ['with an unknown critical extension', () => ({ header: { crit: ['evil'], evil: true } })],
  ];

  test.each(flaws)('rejects a token %s', async (_what, wish) => {
    let token: string;
    try {
      token = await issuer.token(resource, await wish());
    } catch {
      // The library does not sign what is critical and unknown; the header is put on by hand then.
      const [, payload, signature] = (await issuer.token(resource)).split('.');
      const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'key-1', crit: ['evil'], evil: true }));
      token = `${header.toString('base64url')}.${payload}.${signature}`;
    }
    const { status, challenge } = await post(token);
    expect(status).toBe(401);
    expect(challenge).toMatch(
      /^Bearer error="invalid_token", error_description="[^"]+", scope="mcp", resource_metadata="/,
    );
  });

  test('rejects tokens without a signature, with a shared secret, and with a changed claim', async () => {
    const none = new UnsecuredJWT({ iss: issuer.issuer, aud: resource, sub: 'alice', scope: 'mcp' })
      .setExpirationTime('5m')
      .encode();
    const good = await issuer.token(resource);
    const [header, payload, signature] = good.split('.') as [string, string, string];
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const forged = [
      none,
      `${encode({ alg: 'none' })}.${payload}.`,
      `${encode({ alg: 'NONE', typ: 'JWT' })}.${payload}.${signature}`,
      `${encode({ alg: 'HS256', kid: 'key-1' })}.${payload}.${signature}`,
      `${header}.${encode({ ...claims, sub: 'root' })}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${'A'.repeat(signature.length)}`,
      `${header}.${payload}`,
      `${good}.${signature}`,
      'not.a.token',
      '...',
    ];
    for (const token of forged) expect((await post(token)).status, token.slice(0, 40)).toBe(401);
  });

  test('reads tokens only in the header, only one, and exactly as written', async () => {
    const token = await issuer.token(resource);
    const url = `${http.url}?access_token=${token}`;
    expect((await post(undefined, undefined, undefined, {}, url)).status).toBe(401);
    expect((await post(undefined, undefined, undefined, { Cookie: `access_token=${token}` })).status).toBe(401);
    for (const header of [`Basic ${token}`, `Bearer ${token} x`, `Bearer`, token, `Bearer ${token}, Bearer ${token}`]) {
      expect((await post(undefined, undefined, undefined, { Authorization: header })).status, header.slice(0, 20)).toBe(
        401,
      );
    }
    expect((await post(undefined, undefined, undefined, { Authorization: `bearer ${token}` })).status).toBe(200);
    expect((await post('A'.repeat(9000))).status).toBe(401);
  });

  test('another scheme of authentication gets the challenge of a request without a token', async () => {
    const none = await post(undefined);
    for (const header of [`Basic ${Buffer.from('ada:secret').toString('base64')}`, 'Negotiate YII=', 'Digest']) {
      const { status, challenge } = await post(undefined, undefined, undefined, { Authorization: header });
      expect([status, challenge], header).toEqual([401, none.challenge]);
    }
  });

  test('a header without a valid token gets a challenge that says so, and where to get one', async () => {
    for (const header of ['Bearer', 'Bearer ', 'Bearer a b', 'Bearer ä', 'Bearer a, Bearer b', 'Bearer $TOKEN']) {
      const { status, challenge, body } = await post(undefined, undefined, undefined, { Authorization: header });
      expect(status, header).toBe(401);
      expect(challenge).toBe(
        'Bearer error="invalid_token", error_description="the header is not a bearer token", ' +
          'scope="mcp", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
      );
      expect(body.error?.message).toBe('Unauthorized: the header is not a bearer token');
    }
  });

  test('rejects a valid token that lacks a scope, with all scopes that are needed', async () => {
    const weak = await post(await issuer.token(resource, { claims: { scope: 'other' } }));
    expect(weak.status).toBe(403);
    expect(weak.challenge).toContain(
      'error="insufficient_scope", error_description="more scopes are needed", scope="mcp"',
    );
  });

  test('step-up: an operation that needs more names all its scopes, and passes with them', async () => {
    const rejected = await post(await issuer.token(resource), 'tools/call', { name: 'danger' });
    expect(rejected.status).toBe(403);
    expect(rejected.challenge).toContain('error="insufficient_scope"');
    expect(rejected.challenge).toContain('scope="mcp danger"');
    expect(rejected.challenge).toContain('resource_metadata="https://mcp.example.com/.well-known/');
    expect(rejected.body.error).toMatchObject({ code: 403, data: { requiredScopes: ['mcp', 'danger'] } });
    const better = await issuer.token(resource, { claims: { scope: 'mcp danger' } });
    expect((await post(better, 'tools/call', { name: 'danger' })).status).toBe(200);
  });

  test('honours a hierarchy of scopes', async () => {
    const admin = await issuer.token(resource, { claims: { scope: 'admin' } });
    expect((await post(admin, 'tools/call', { name: 'danger' })).status).toBe(200);
  });

  test('takes scopes as a list and a client as a caller', async () => {
    const token = await issuer.token(resource, {
      claims: { scope: undefined, scp: ['mcp'], sub: undefined, client_id: 'robot' },
    });
    expect((await post(token)).body.result?.content[0]?.text).toBe(`${issuer.issuer} client:robot`);
  });

  test('a flood of unknown keys does not become a flood of requests to the issuer', async () => {
    const before = issuer.asked.filter((path) => path === '/keys').length;
    for (let n = 0; n < 20; n++) {
      const token = await issuer.token(resource, {
        header: { kid: `made-up-${n}` },
        key: (await generateKeyPair('ES256')).privateKey,
      });
      expect((await post(token)).status).toBe(401);
    }
    expect(issuer.asked.filter((path) => path === '/keys').length - before).toBeLessThanOrEqual(1);
  });

  test('an issuer whose metadata names another issuer is not trusted', async () => {
    const liar = await AuthorizationServer.start();
    liar.answers.set('/.well-known/oauth-authorization-server', {
      status: 200,
      body: { issuer: issuer.issuer, jwks_uri: `${liar.issuer}/keys` },
    });
    const { authenticate } = createOAuthAuthenticator({ resource, issuers: [liar.issuer] });
    const token = await liar.token(resource);
    await expect(authenticate(requestWith(token))).rejects.toThrow('cannot be reached');
    await liar.close();
  });

  test('an issuer that cannot be reached does not make tokens invalid, and is tried again later', async () => {
    const late = await AuthorizationServer.start();
    late.answers.set('/.well-known/oauth-authorization-server', { status: 503, body: {} });
    late.answers.set('/.well-known/openid-configuration', { status: 503, body: {} });
    const { authenticate } = createOAuthAuthenticator({ resource, issuers: [late.issuer] });
    const token = await late.token(resource);
    await expect(authenticate(requestWith(token))).rejects.toThrow('cannot be reached');
    late.answers.clear();
    expect(await authenticate(requestWith(token))).toMatchObject({ id: 'alice' });
    await late.close();
  });

  test('over HTTP that is a response with 503 which says so', async () => {
    const broken = await AuthorizationServer.start();
    broken.answers.set('/keys', { status: 200, body: 'no keys' });
    const { authenticate } = createOAuthAuthenticator({ resource, issuers: [broken.issuer] });
    const served = await serveHttp(whoami(), { port: 0, authenticate });
    const response = await fetch(served.url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${await broken.token(resource)}` },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.text()).toContain(`authorization server ${broken.issuer} cannot be reached`);
    await served.close();
    await broken.close();
  });

  test('an issuer that responds with a page where it has no metadata is found by its other metadata', async () => {
    const other = await AuthorizationServer.start();
    const page = { status: 200, body: '<html>', type: 'text/html' };
    other.answers.set('/.well-known/oauth-authorization-server', page);
    const body = { issuer: other.issuer, jwks_uri: `${other.issuer}/keys` };
    other.answers.set('/.well-known/openid-configuration', { status: 200, body });
    const { authenticate } = createOAuthAuthenticator({ resource, issuers: [other.issuer] });
    expect(await authenticate(requestWith(await other.token(resource)))).toMatchObject({ id: 'alice' });
    await other.close();
  });

  test('several keys without a name, or with the same, are tried; one that cannot be used makes its tokens invalid', async () => {
    const rotating = await AuthorizationServer.start();
    const other = await AuthorizationServer.start();
    const { kid: _kid, ...nameless } = rotating.publicKey;
    const { kid: _other, ...otherNameless } = other.publicKey;
    const broken = { ...nameless, y: nameless.x as string, kid: 'broken' };
    const keys = [other.publicKey, rotating.publicKey, otherNameless, nameless, broken];
    rotating.answers.set('/keys', { status: 200, body: { keys } });
    const { authenticate } = createOAuthAuthenticator({ resource, issuers: [rotating.issuer] });
    const resultFor = async (wish: TokenWish) => authenticate(requestWith(await rotating.token(resource, wish)));
    expect(await resultFor({})).toMatchObject({ id: 'alice' });
    expect(await resultFor({ header: { kid: undefined } })).toMatchObject({ id: 'alice' });
    expect(await resultFor({ key: (await generateKeyPair('ES256')).privateKey })).toMatchObject({ status: 401 });
    expect(await resultFor({ header: { kid: 'broken' } })).toMatchObject({
      status: 401,
      message: 'Unauthorized: the key that the token names cannot be used',
    });
    await rotating.close();
    await other.close();
  });

  test('weak algorithms, plain http and an empty audience cannot be configured', () => {
    const make = (more: object) => () => createOAuthAuthenticator({ resource, issuers: [issuer.issuer], ...more });
    expect(make({ algorithms: ['none'] })).toThrow('not allowed');
    expect(make({ algorithms: ['HS256'] })).toThrow('not allowed');
    expect(make({ issuers: ['http://id.example.com'] })).toThrow('https');
    expect(make({ issuers: [] })).toThrow('at least one');
    expect(make({ audience: '' })).toThrow('audience');
    expect(make({ resource: 'https://x.example/#a' })).toThrow('fragment');
  });

  test('the result for a token is cached for a while and never beyond its expiry', async () => {
    let asked = 0;
    const { authenticate } = createOAuthAuthenticator({
      resource,
      issuers: [{ issuer: issuer.issuer, introspection: lookUpAt(issuer) }],
      cacheMs: 60_000,
    });
    // In whole seconds: one to two from now.
    const exp = Math.ceil(Date.now() / 1000) + 1;
    issuer.opaque.set('opaque-1', { active: true, sub: 'bob', aud: resource, exp });
    const before = issuer.asked.length;
    for (let n = 0; n < 5; n++) await authenticate(requestWith('opaque-1'));
    asked = issuer.asked.length - before;
    expect(asked).toBe(1);
    issuer.opaque.set('opaque-1', { active: false });
    await expect.poll(async () => 'status' in ((await authenticate(requestWith('opaque-1'))) as object)).toBe(true);
  });
});

const lookUpAt = ({ issuer: at }: AuthorizationServer) => ({
  endpoint: `${at}/introspect`,
  clientId: 'server',
  clientSecret: 's3cret',
});

const requestWith = (token: string | undefined) => ({
  method: 'POST',
  path: '/mcp',
  address: '127.0.0.1',
  get: (name: string) => (name === 'authorization' && token !== undefined ? `Bearer ${token}` : undefined),
});

describe('tokens that only their issuer can read', () => {
  test('made-up ones that wait for the issuer do not take the place of one that was accepted', async () => {
    const slow = createHttpServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (!body.includes('token=good')) return;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ active: true, sub: 'bob', aud: resource }));
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const at = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const introspection = { endpoint: `${at}/introspect`, clientId: 'server', clientSecret: 's3cret' };
    const { authenticate } = createOAuthAuthenticator({
      resource,
      issuers: [{ issuer: at, introspection }],
      cacheMs: 1,
    });
    expect(await authenticate(requestWith('good'))).toMatchObject({ id: 'bob' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const flood = Array.from({ length: 100 }, (_, n) => Promise.resolve(authenticate(requestWith(`bad-${n}`))));
    const rejected = Promise.allSettled(flood);
    expect(await authenticate(requestWith('good'))).toMatchObject({ id: 'bob' });
    slow.closeAllConnections();
    slow.close();
    expect((await rejected).every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('are looked up, and their claims are checked like signed ones', async () => {
    const { authenticate } = createOAuthAuthenticator({
      resource,
      issuers: [{ issuer: issuer.issuer, introspection: lookUpAt(issuer) }],
      requiredScopes: ['mcp'],
      cacheMs: 0,
    });
    const now = Math.floor(Date.now() / 1000);
    const good = { active: true, sub: 'bob', aud: resource, scope: 'mcp', exp: now + 60 };
    const outcomes = new Map<string, Record<string, unknown>>([
      ['good', good],
      ['inactive', { ...good, active: false }],
      ['truthy', { ...good, active: 'true' }],
      ['audience', { ...good, aud: 'https://other.example' }],
      ['no-audience', { ...good, aud: undefined }],
      ['expired', { ...good, exp: now - 60 }],
      ['early', { ...good, nbf: now + 600 }],
      ['issuer', { ...good, iss: 'https://evil.example' }],
      ['scope', { ...good, scope: 'other' }],
    ]);
    for (const [token, claims] of outcomes) issuer.opaque.set(token, claims);
    const statuses: Record<string, unknown> = {};
    for (const token of [...outcomes.keys(), 'unknown']) {
      const outcome = (await authenticate(requestWith(token))) as { id?: string; status?: number };
      statuses[token] = outcome.id ?? outcome.status;
    }
    expect(statuses).toEqual({
      good: 'bob',
      inactive: 401,
      truthy: 401,
      audience: 401,
      'no-audience': 401,
      expired: 401,
      early: 401,
      issuer: 401,
      scope: 403,
      unknown: 401,
    });
  });
});

describe('static tokens', () => {
  const { token, hash } = createToken();

  test('are stored as hashes, and only the token itself is accepted', async () => {
    const authenticate = createTokenAuthenticator({ tokens: [{ id: 'ci', hash, scopes: ['a'] }] });
    expect(hash).not.toContain(token);
    expect(await authenticate(requestWith(token))).toMatchObject({
      id: 'ci',
      scopes: ['a'],
      issuer: 'urn:mooring:token',
    });
    for (const wrong of [undefined, hash, token.slice(0, -1), `${token}x`, token.toLowerCase()]) {
      expect(await authenticate(requestWith(wrong))).toMatchObject({ status: 401 });
    }
  });

  test('no two are alike, and each has 256 random bits', () => {
    const many = Array.from({ length: 100 }, () => createToken().token);
    expect(new Set(many).size).toBe(100);
    for (const each of many) expect(Buffer.from(each.slice(4), 'base64url').length).toBe(32);
  });

  test('expire, and need the required scopes', async () => {
    const expired = createTokenAuthenticator({ tokens: [{ id: 'old', hash, expires: '2020-01-01' }] });
    expect(await expired(requestWith(token))).toMatchObject({
      status: 401,
      message: 'Unauthorized: the token has expired',
    });
    const short = createTokenAuthenticator({ tokens: [{ id: 'x', hash }], requiredScopes: ['b'] });
    expect(await short(requestWith(token))).toMatchObject({ status: 403 });
  });

  test('that could be guessed are rejected, and so are hashes that are none', () => {
    expect(() => hashToken('hunter2')).toThrow('32 characters');
    expect(() => hashToken('a'.repeat(64))).toThrow('cannot be guessed');
    expect(() => createTokenAuthenticator({ tokens: [{ id: 'x', hash: token }] })).toThrow('must be "sha256:"');
    expect(() => createTokenAuthenticator({ tokens: [] })).toThrow('list of tokens is empty');
  });

  test('are read from a file that no other user may write to', () => {
    const directory = temporaryFolder();
    const path = join(directory, 'tokens.json');
    writeFileSync(path, JSON.stringify({ tokens: [{ id: 'ci', hash }] }), { mode: 0o600 });
    expect(readTokenFile(path)).toEqual([{ id: 'ci', hash }]);
    // As PowerShell writes it.
    writeFileSync(path, `\ufeff${JSON.stringify({ tokens: [{ id: 'ci', hash }] })}`);
    expect(readTokenFile(path)).toEqual([{ id: 'ci', hash }]);
    chmodSync(path, 0o622);
    expect(() => readTokenFile(path)).toThrow('chmod go-w');
    const missing = join(directory, 'missing.json');
    expect(() => readTokenFile(missing)).toThrow(
      `${missing} cannot be read: there is no such file. Create it with: mooring token add NAME --file ${missing}`,
    );
    expect(() => readTokenFile(directory)).toThrow(`${directory} cannot be read: it is not a regular file`);
    rmSync(directory, { recursive: true });
  });

  test('work beside OAuth, and a request that fits neither is told where to get a token', async () => {
    const either: Authenticate = anyOf(createTokenAuthenticator({ tokens: [{ id: 'ci', hash }] }), oauth.authenticate);
    expect(await either(requestWith(token))).toMatchObject({ id: 'ci' });
    expect(await either(requestWith(await issuer.token(resource)))).toMatchObject({ id: 'alice' });
    for (const wrong of [undefined, 'nonsense']) {
      const outcome = (await either(requestWith(wrong))) as { status: number; challenge: string };
      expect(outcome.status).toBe(401);
      expect(outcome.challenge).toContain('resource_metadata=');
    }
  });

  test('S4-57: a server on a pipe finds the token of its client in the environment, or does not serve', async () => {
    const authenticate = createTokenAuthenticator({ tokens: [{ id: 'desk', hash }] });
    expect(await authenticateEnvironment(authenticate, { MOORING_TOKEN: token })).toMatchObject({ id: 'desk' });
    await expect(authenticateEnvironment(authenticate, {})).rejects.toThrow('MOORING_TOKEN');
    await expect(authenticateEnvironment(authenticate, { MOORING_TOKEN: 'wrong' })).rejects.toThrow('not known');
  });
});

test('every path authenticates, with every method, before anything of the body is read', async () => {
  const origin = new URL(http.url).origin;
  for (const path of ['/mcp', '/sse', '/message?sessionId=x']) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const response = await fetch(`${origin}${path}`, { method, headers: { Accept: 'text/event-stream' } });
      await response.body?.cancel();
      expect([401, 404, 405], `${method} ${path}`).toContain(response.status);
    }
  }
  expect((await fetch(`${origin}/health`)).status).toBe(200);
});
