import { afterEach, expect, test } from 'vitest';
import { type Discovery, type DiscoveryOptions, discover } from '../../../src/client/auth/discovery/discovery.ts';
import { readChallenge } from '../../../src/client/auth/discovery/www-authenticate.ts';
import { createAuthHttp } from '../../../src/client/auth/http.ts';
import { type FakeHttp, notFound, startFakeHttp } from './fake-http.ts';
import {
  type FakeResource,
  type ResourceBehaviour,
  type ServerBehaviour,
  startAuthorizationServer,
  startResource,
} from './fake-provider.ts';

const running: FakeHttp[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function world(server: Partial<ServerBehaviour> = {}, resource: Partial<ResourceBehaviour> = {}) {
  const as = await startAuthorizationServer(server);
  const rs = await startResource(() => [as], resource);
  running.push(as, rs);
  return { as, rs };
}

async function search(rs: FakeResource, options: DiscoveryOptions = {}): Promise<Discovery> {
  const { headers } = await fetch(rs.url, { method: 'POST' });
  return discover(createAuthHttp(rs.url), readChallenge(headers), options);
}

const asked = (server: FakeHttp) => server.seen.map(({ path }) => path).filter((path) => path !== '/mcp');

test('a challenge that names the metadata is followed, and nothing else is requested', async () => {
  const { as, rs } = await world({}, { metadataPath: '/custom/place.json' });
  const found = await search(rs);
  expect(found).toMatchObject({ resource: `${rs.origin}/mcp`, metadata: { issuer: as.issuer, source: 'issuer' } });
  expect(asked(rs)).toEqual(['/custom/place.json']);
});

test('without a name the path-inserted URL is tried first, the root second', async () => {
  const first = await world({}, { named: false });
  await search(first.rs);
  expect(asked(first.rs)).toEqual(['/.well-known/oauth-protected-resource/mcp']);
  const second = await world({}, { named: false, metadataPath: '/.well-known/oauth-protected-resource' });
  second.rs.behaviour.metadata = { resource: second.rs.origin };
  expect((await search(second.rs)).resource).toBe(second.rs.origin);
  expect(asked(second.rs)).toEqual([
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-protected-resource',
  ]);
});

test('if the named URL does not exist, the well-known ones are tried', async () => {
  const { as, rs } = await world();
  rs.behaviour.checkToken = () => ({
    status: 401,
    headers: { 'www-authenticate': `Bearer resource_metadata="${rs.origin}/moved"` },
  });
  expect((await search(rs)).metadata.issuer).toBe(as.issuer);
});

test('a named URL that is not allowed is not requested', async () => {
  const { as, rs } = await world();
  rs.behaviour.checkToken = () => ({
    status: 401,
    headers: { 'www-authenticate': 'Bearer resource_metadata="http://inner.proxy.example/prm"' },
  });
  expect((await search(rs)).metadata.issuer).toBe(as.issuer);
});

test('named metadata that cannot be found anywhere is an error, not an older server', async () => {
  const { as, rs } = await world({}, { metadataPath: '/nowhere' });
  rs.behaviour.checkToken = () => ({
    status: 401,
    headers: { 'www-authenticate': `Bearer resource_metadata="${rs.origin}/gone"` },
  });
  await expect(search(rs)).rejects.toMatchObject({
    code: 'resource-metadata-missing',
    tried: [
      `${rs.origin}/gone`,
      `${rs.origin}/.well-known/oauth-protected-resource/mcp`,
      `${rs.origin}/.well-known/oauth-protected-resource`,
    ],
  });
  expect(as.seen).toHaveLength(0);
});

test('metadata of another resource is rejected, and its authorization server gets no request', async () => {
  for (const resource of ['https://evil.example.com/mcp', 'http://127.0.0.1:1/mcp', 42, undefined]) {
    const { as, rs } = await world({}, { metadata: { resource } });
    await expect(search(rs), String(resource)).rejects.toMatchObject({
      code: typeof resource === 'string' ? 'resource-mismatch' : 'resource-metadata-invalid',
    });
    expect(as.seen).toHaveLength(0);
  }
});

test('metadata without authorization servers is invalid', async () => {
  for (const servers of [undefined, [], 'https://as.example', [1]]) {
    const { rs } = await world({}, { metadata: { authorization_servers: servers } });
    await expect(search(rs)).rejects.toMatchObject({ code: 'resource-metadata-invalid' });
  }
});

const orders: [ServerBehaviour['wellKnown'], string, string[]][] = [
  ['oauth', '', ['/.well-known/oauth-authorization-server']],
  ['oidc-inserted', '', ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']],
  ['oauth', '/t1', ['/.well-known/oauth-authorization-server/t1']],
  ['oidc-inserted', '/t1', ['/.well-known/oauth-authorization-server/t1', '/.well-known/openid-configuration/t1']],
  [
    'oidc-appended',
    '/t1',
    [
      '/.well-known/oauth-authorization-server/t1',
      '/.well-known/openid-configuration/t1',
      '/t1/.well-known/openid-configuration',
    ],
  ],
];
test.each(orders)(
  'authorization server metadata %s of issuer path "%s" is found in order',
  async (wellKnown, path, order) => {
    const { as, rs } = await world({ wellKnown, path });
    expect((await search(rs)).metadata.issuer).toBe(as.issuer);
    expect(asked(as)).toEqual(order);
  },
);

test('an authorization server without metadata is an error that lists what was tried', async () => {
  const { as, rs } = await world({ wellKnown: 'none', path: '/t1' });
  await expect(search(rs)).rejects.toMatchObject({ code: 'server-metadata-missing', tried: { length: 3 } });
  expect(as.to('/t1/authorize')).toHaveLength(0);
});

test('metadata that claims another issuer is never used', async () => {
  for (const issuer of ['https://attacker.example.com', 'http://127.0.0.1:1', '']) {
    const { rs } = await world({ metadata: { issuer } });
    await expect(search(rs), issuer).rejects.toMatchObject({ code: 'issuer-mismatch' });
  }
  const { rs } = await world({ metadata: { issuer: undefined } });
  await expect(search(rs)).rejects.toMatchObject({ code: 'server-metadata-invalid' });
});

test('issuers are compared as strings, but for the slash behind a listed bare host', async () => {
  const listed = await world();
  listed.rs.behaviour.metadata = { authorization_servers: [`${listed.as.origin}/`] };
  expect((await search(listed.rs)).metadata.issuer).toBe(listed.as.origin);

  const claimed = await world();
  claimed.as.behaviour.metadata = { issuer: `${claimed.as.origin}/` };
  await expect(search(claimed.rs)).rejects.toMatchObject({ code: 'issuer-mismatch' });

  const deeper = await world({ path: '/t1' });
  deeper.rs.behaviour.metadata = { authorization_servers: [`${deeper.as.issuer}/`] };
  await expect(search(deeper.rs)).rejects.toMatchObject({ code: 'issuer-mismatch' });
});

test('hostile endpoints in metadata are rejected before anything is opened', async () => {
  for (const endpoint of [
    'file:///etc/passwd',
    'javascript:alert(1)',
    '-oX',
    '$(id)',
    'http://as.example.com/authorize',
  ]) {
    for (const name of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint']) {
      const { rs } = await world({ metadata: { [name]: endpoint } });
      await expect(search(rs), `${name} ${endpoint}`).rejects.toMatchObject({ code: 'insecure-url' });
    }
  }
});

test('an issuer with a query or fragment is rejected', async () => {
  for (const tail of ['?a=b', '#x']) {
    const { as, rs } = await world();
    rs.behaviour.metadata = { authorization_servers: [`${as.origin}${tail}`] };
    await expect(search(rs)).rejects.toMatchObject({ code: 'insecure-url' });
  }
});

test('among several authorization servers a known one is preferred, the caller may choose, else the first counts', async () => {
  const [one, two] = [await startAuthorizationServer(), await startAuthorizationServer()];
  const rs = await startResource(() => [one, two]);
  running.push(one, two, rs);
  expect((await search(rs)).metadata.issuer).toBe(one.issuer);
  expect((await search(rs, { preferred: [two.issuer] })).metadata.issuer).toBe(two.issuer);
  expect((await search(rs, { choose: (issuers) => issuers[1]! })).metadata.issuer).toBe(two.issuer);
  await expect(search(rs, { choose: () => 'https://not-listed.example' })).rejects.toMatchObject({
    code: 'configuration',
  });
});

test('a server without resource metadata is its own authorization server', async () => {
  const both: FakeHttp = await startFakeHttp(({ path }) => {
    if (path === '/mcp') return { status: 401 };
    if (path !== '/.well-known/oauth-authorization-server') return notFound;
    const { origin } = both;
    return { body: { issuer: origin, authorization_endpoint: `${origin}/o/a`, token_endpoint: `${origin}/o/t` } };
  });
  running.push(both);
  const found = await search({ ...both, url: `${both.origin}/mcp` } as FakeResource, {
    protocolVersion: 'some-revision',
  });
  expect(found).toMatchObject({
    resource: `${both.origin}/mcp`,
    metadata: { issuer: both.origin, tokenEndpoint: `${both.origin}/o/t`, source: 'resource-origin' },
  });
  expect(both.to('/.well-known/oauth-authorization-server')[0]?.headers['mcp-protocol-version']).toBe('some-revision');
});

test('without any metadata, the three fixed paths of the origin are used', async () => {
  const bare = await startFakeHttp(() => ({ status: 401 }));
  running.push(bare);
  const found = await search({ ...bare, url: `${bare.origin}/v1/mcp` } as FakeResource);
  expect(found.metadata).toMatchObject({
    source: 'defaults',
    issuer: bare.origin,
    authorizationEndpoint: `${bare.origin}/authorize`,
    tokenEndpoint: `${bare.origin}/token`,
    registrationEndpoint: `${bare.origin}/register`,
  });
  expect(found.tried).toHaveLength(4);
});

test('the older rules are for servers that answer, not for servers that are down', async () => {
  const down = await startFakeHttp(({ path }) => ({ status: path === '/mcp' ? 401 : 503 }));
  running.push(down);
  await expect(search({ ...down, url: `${down.origin}/mcp` } as FakeResource)).rejects.toMatchObject({
    code: 'unreachable',
  });
});

test('the older rules still demand that the issuer is the origin', async () => {
  const liar: FakeHttp = await startFakeHttp(({ path }) =>
    path === '/.well-known/oauth-authorization-server'
      ? { body: { issuer: 'https://honest.example', token_endpoint: `${liar.origin}/t` } }
      : { status: path === '/mcp' ? 401 : 404 },
  );
  running.push(liar);
  await expect(search({ ...liar, url: `${liar.origin}/mcp` } as FakeResource)).rejects.toMatchObject({
    code: 'issuer-mismatch',
  });
});

test('a demand for DPoP is seen in the metadata and in the challenge', async () => {
  const byMetadata = await world({}, { metadata: { dpop_bound_access_tokens_required: true } });
  expect((await search(byMetadata.rs)).dpopRequired).toBe(true);
  const byChallenge = await world();
  byChallenge.rs.behaviour.checkToken = () => ({ status: 401, headers: { 'www-authenticate': 'DPoP algs="ES256"' } });
  expect((await search(byChallenge.rs)).dpopRequired).toBe(true);
  const either = await world();
  either.rs.behaviour.checkToken = () => ({
    status: 401,
    headers: { 'www-authenticate': 'Bearer, DPoP algs="ES256"' },
  });
  expect((await search(either.rs)).dpopRequired).toBe(false);
});
