// Servers that get a token of each caller, issued in exchange for the one that the caller has for the gateway (RFC 8693).

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, connect } from '../../../src/client/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../../src/index.ts';
import { createOAuthAuthenticator } from '../../../src/security/auth/index.ts';
import { AuthorizationServer } from '../../security/fixtures/authorization-server.ts';
import { useSharedHome } from '../../support/program.ts';
import { type HttpGateway, runtimeOf, startHttp, textOf, toolNames, writeConfig } from './support.ts';

const audience = 'https://tools.example.com/mcp';
const home = useSharedHome();
let company: AuthorizationServer;
let stranger: AuthorizationServer;
let upstream: HttpServer;
let misled: HttpServer;
let gateway: HttpGateway;
/** The tokens that the servers behind the gateway have got. */
const received = new Set<string>();
/** Users whose requests the servers reject. */
const failing = new Set<string>();
/** Users whose tokens the servers do not accept any more. */
const expired = new Set<string>();

const subjectOf = (token = ''): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? 'e30', 'base64url').toString()).sub;

/** A server that accepts tokens of this issuer for its own address, and shows a tool to Alice only. */
async function startServer(issuer: string): Promise<HttpServer> {
  const server = createServer({ name: 'mail', version: '1.0.0', logger: false });
  const whoAmI = (_: unknown, { principal }: { principal?: { id: string } | undefined }): string =>
    principal?.id ?? 'nobody';
  server.tool('who', { run: whoAmI });
  server.tool('admin', { visible: (principal) => principal?.id === 'alice', run: () => 'secret' });
  let oauth: ReturnType<typeof createOAuthAuthenticator> | undefined;
  const served = await serveHttp(server, {
    port: 0,
    graceMs: 100,
    routes: [{ path: '/.well-known/oauth-protected-resource/mcp', public: true, answer: () => metadata() }],
    authenticate(request) {
      const token = request.get('authorization')?.slice('Bearer '.length);
      if (token !== undefined) received.add(token);
      if (expired.has(subjectOf(token))) return { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } };
      return failing.has(subjectOf(token)) ? { status: 403 } : oauth?.authenticate(request);
    },
  });
  oauth = createOAuthAuthenticator({ resource: served.url, issuers: [{ issuer }] });
  const metadata = () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resource: served.url, authorization_servers: [issuer] }),
  });
  return served;
}

beforeAll(async () => {
  [company, stranger] = [await AuthorizationServer.start(), await AuthorizationServer.start()];
  for (const each of [company, stranger]) each.clients.set('gateway', 's3cret');
  [upstream, misled] = [await startServer(company.issuer), await startServer(stranger.issuer)];
  const auth = { kind: 'token-exchange', issuer: company.issuer, clientId: 'gateway', clientSecret: 's3cret' };
  const config = writeConfig(home, {
    mcpServers: {
      mail: { url: upstream.url, mooring: { auth } },
      old: { url: upstream.url, mooring: { auth, revision: 'handshake', isolation: 'session' } },
      third: { url: upstream.url, mooring: { auth } },
      fourth: { url: upstream.url, mooring: { auth } },
      misled: { url: misled.url, mooring: { auth } },
    },
  });
  const flags = ['--config', config, '--auth-issuer', company.issuer, '--auth-audience', audience];
  gateway = await startHttp(home, [...flags, '--public-url', audience, '--allow-host', '127.0.0.1']);
});
afterAll(() => Promise.all([company?.close(), stranger?.close(), upstream?.close(), misled?.close()]));

async function connectAs(
  sub: string,
  below = '',
  claims: object = {},
): Promise<{ readonly client: Client; readonly token: string }> {
  const token = await company.token(audience, { claims: { sub, ...claims } });
  const client = await connect(`${gateway.url}${below}`, {
    headers: { authorization: `Bearer ${token}` },
    retry: false,
  });
  return { client, token };
}

const states = async (): Promise<Record<string, string>> => {
  const { stdout } = await home.run(['gateway', 'status', '--json'], { env: runtimeOf(home) });
  const { servers } = JSON.parse(stdout) as { servers: { name: string; state: string }[] };
  return Object.fromEntries(servers.map(({ name, state }) => [name, state]));
};

test.each(['mail', 'old'])('%s: each caller acts as itself, with a token of its own', async (name) => {
  const [alice, bob] = [await connectAs('alice'), await connectAs('bob')];
  expect(await toolNames(alice.client)).toEqual(expect.arrayContaining([`${name}__who`, `${name}__admin`]));
  const ofBob = await toolNames(bob.client);
  expect(ofBob).toContain(`${name}__who`);
  expect(ofBob).not.toContain(`${name}__admin`);
  for (const [sub, { client }] of [
    ['alice', alice],
    ['bob', bob],
    ['alice', alice],
  ] as const) {
    expect(textOf(await client.callTool(`${name}__who`))).toBe(sub);
  }
  await expect(bob.client.callTool(`${name}__admin`)).rejects.toThrow(/Unknown tool|not found/i);
  // The exchanged tokens are used again, and the tokens of the callers went to the authorization server only.
  const ours = company.exchanges.filter((form) => [alice.token, bob.token].includes(form.get('subject_token') ?? ''));
  expect(ours).toHaveLength(2 * 4);
  expect(Object.fromEntries(company.exchanges[0] as URLSearchParams)).toMatchObject({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    resource: upstream.url,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  });
  expect([received.has(alice.token), received.has(bob.token)]).toEqual([false, false]);
  expect(received.size).toBeGreaterThan(0);
  await Promise.all([alice.client.close(), bob.client.close()]);
});

test('a caller whose token is not exchanged is told so, and no other caller is affected', async () => {
  company.rejected.add('mallory');
  const [mallory, alice] = [await connectAs('mallory', '/s/mail'), await connectAs('alice', '/s/mail')];
  for (let n = 0; n < 7; n++) {
    await expect(mallory.client.callTool('who')).rejects.toThrow('it requires a login');
    expect(textOf(await alice.client.callTool('who'))).toBe('alice');
  }
  expect((await states())['mail']).toBe('ready');
  const { client } = await connectAs('carol', '/s/mail');
  expect(textOf(await client.callTool('who'))).toBe('carol');
  await Promise.all([mallory.client.close(), alice.client.close(), client.close()]);
});

test('what was issued for one token of a caller is not used with another one, which may allow less', async () => {
  const [first, second] = [await connectAs('dora', '/s/mail'), await connectAs('dora', '/s/mail', { scope: 'little' })];
  const exchanged = () => company.exchanges.map((form) => form.get('subject_token'));
  for (const { client, token } of [first, second]) {
    expect(textOf(await client.callTool('who'))).toBe('dora');
    expect(exchanged().at(-1)).toBe(token);
  }
  // A user with two clients: each token is exchanged once.
  company.asked.length = 0;
  for (const { client } of [second, first, second, first]) expect(textOf(await client.callTool('who'))).toBe('dora');
  expect(company.asked).toEqual([]);
  await Promise.all([first.client.close(), second.client.close()]);
});

test('a server does not choose who gets the tokens of callers', async () => {
  const { client, token } = await connectAs('alice', '/s/misled');
  await expect(client.callTool('who')).rejects.toThrow('it requires a login');
  expect(stranger.asked).not.toContain('/token');
  expect(received.has(token)).toBe(false);
  await client.close();
});

test.each([
  ['the authorization server', 'third'],
  ['the server', 'fourth'],
])('what %s fails to do for one caller delays no other caller', async (who, name) => {
  if (who === 'the server') failing.add('eve');
  else company.exchangeAnswers.set('eve', () => ({ status: 500, body: {} }));
  const eve = await connectAs('eve', `/s/${name}`);
  await expect(eve.client.callTool('who')).rejects.toThrow(`The server ${name} cannot be used`);
  const startedMs = performance.now();
  const dave = await connectAs('dave', `/s/${name}`);
  expect(textOf(await dave.client.callTool('who'))).toBe('dave');
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  await Promise.all([eve.client.close(), dave.client.close()]);
  for (const each of [failing, company.exchangeAnswers]) each.clear();
});

test('a user with two tokens that are not accepted any more causes a request for each, not with every call', async () => {
  const clients = [await connectAs('trudy', '/s/mail'), await connectAs('trudy', '/s/mail', { scope: 'little' })];
  for (const { client } of clients) expect(textOf(await client.callTool('who'))).toBe('trudy');
  for (const each of [company.rejected, expired]) each.add('trudy');
  company.asked.length = 0;
  for (let n = 0; n < 4; n++) {
    for (const { client } of clients) expect((await client.callTool('who')).isError).toBe(true);
  }
  expect(company.asked.filter((path) => path === '/token')).toHaveLength(2);
  for (const each of [company.rejected, expired]) each.delete('trudy');
  await Promise.all(clients.map(({ client }) => client.close()));
});

test('a caller who is not accepted any more causes no request to the authorization server with every call', async () => {
  const { client } = await connectAs('frank', '/s/mail');
  expect(textOf(await client.callTool('who'))).toBe('frank');
  company.rejected.add('frank');
  expired.add('frank');
  company.asked.length = 0;
  for (let n = 0; n < 20; n++) {
    const result = await client.callTool('who');
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringContaining('Sign in to the gateway again')]);
  }
  expect(company.asked).toEqual(['/.well-known/oauth-authorization-server', '/token']);
  // With a new token, there is no pause.
  company.rejected.clear();
  expired.clear();
  const again = await connectAs('frank', '/s/mail');
  expect(textOf(await again.client.callTool('who'))).toBe('frank');
  await Promise.all([client.close(), again.client.close()]);
});

test('where callers have no tokens that could be exchanged, the operator is told so', async () => {
  const url = 'https://mail.example.com/mcp';
  const auth = {
    kind: 'token-exchange',
    issuer: 'https://login.example.com',
    clientId: 'gateway',
    clientSecret: 's3cret',
  };
  const file = writeConfig(home, { mcpServers: { mail: { url, mooring: { auth } } } }, 'alone.json');
  const warning = 'mail: callers can use it only if they send tokens of an authorization server';
  expect((await home.run(['gateway', 'check', '--config', file])).stderr).toContain(warning);
  const open = await startHttp(home, ['--config', file]);
  expect(open.said()).toContain(warning);
  expect(gateway.said()).not.toContain('callers can use it only');
  open.child.kill();
});
