// Callers of a gateway that sign in to a server themselves, with the browser.

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Client, type ConnectOptions, connect } from '../../../src/client/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../../src/index.ts';
import { type FakeAuthorizationServer, startAuthorizationServer } from '../../client/auth/fake-provider.ts';
import { AuthorizationServer } from '../../security/fixtures/authorization-server.ts';
import { hasBrowser, startBrowser } from '../../support/browser.ts';
import { useSharedHome } from '../../support/program.ts';
import { freePort } from '../../support/redis.ts';
import { Browser, linkIn } from './signing-in.ts';
import { type HttpGateway, runtimeOf, startHttp, textOf, toolNames, writeConfig } from './support.ts';

const home = useSharedHome();
/** Signs the tokens of the company. */
let keys: AuthorizationServer;
/** Where the users of the gateway sign in, and where those of the servers behind it do. */
let company: FakeAuthorizationServer;
let provider: FakeAuthorizationServer;
let upstream: HttpServer;
let gateway: HttpGateway;
let flags: readonly string[];
/** Who is signed in in the browser. */
const at = { company: 'alice', provider: 'alice@mail' };
/** Of the gateway itself. */
const ownTokens = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')] as const;
/** Users whose access the server and its authorization server have withdrawn. */
const withdrawn = new Set<string>();
/** Credentials that the server behind the gateway has got. */
const received = new Set<string>();

async function startMail(): Promise<HttpServer> {
  const server = createServer({ name: 'mail', version: '1.0.0', logger: false });
  server.tool('who', { run: (_, { principal }) => principal?.id ?? 'nobody' });
  const metadataPath = '/.well-known/oauth-protected-resource/mcp';
  const served = await serveHttp(server, {
    port: 0,
    graceMs: 100,
    routes: [{ path: metadataPath, public: true, answer: () => metadata() }],
    authenticate(request) {
      const token = request.get('authorization')?.slice('Bearer '.length) ?? '';
      received.add(token);
      const [, id] = /^token-of-(.+)$/.exec(token) ?? [];
      const challenge = `Bearer resource_metadata="${new URL(metadataPath, served.url).href}"`;
      return id === undefined || withdrawn.has(id) ? { status: 401, challenge } : { id };
    },
  });
  const metadata = () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resource: served.url, authorization_servers: [provider.issuer] }),
  });
  return served;
}

beforeAll(async () => {
  keys = await AuthorizationServer.start();
  const port = await freePort();
  const address = `http://127.0.0.1:${port}/mcp`;
  company = await startAuthorizationServer();
  company.behaviour.token = async () => ({
    body: { access_token: await tokenOf(at.company, address), token_type: 'Bearer', expires_in: 300 },
  });
  provider = await startAuthorizationServer();
  provider.behaviour.token = (form) =>
    form.get('grant_type') === 'authorization_code'
      ? { body: { access_token: `token-of-${at.provider}`, token_type: 'Bearer', expires_in: 3600 } }
      : { status: 400, body: { error: 'invalid_grant' } };
  upstream = await startMail();
  const config = writeConfig(home, { mcpServers: { mail: { url: upstream.url } } });
  flags = [
    '--config',
    config,
    '--auth-issuer',
    company.issuer,
    '--auth-jwks',
    `${keys.issuer}/keys`,
    '--auth-client-id',
    'the-gateway',
    '--public-url',
    address,
    '--port',
    `${port}`,
  ];
  gateway = await startGateway();
});
afterAll(() => Promise.all([keys?.close(), company?.close(), provider?.close(), upstream?.close()]));

const startGateway = (): Promise<HttpGateway> => startHttp(home, flags);

const tokenOf = (sub: string, audience: string): Promise<string> =>
  keys.token(audience, { claims: { sub, iss: company.issuer } });

async function connectAs(sub: string, more: ConnectOptions = {}): Promise<Client> {
  const authorization = `Bearer ${await tokenOf(sub, gateway.url)}`;
  return connect(gateway.url, { headers: { authorization }, retry: false, ...more });
}

async function signIn(link: string): Promise<void> {
  const browser = new Browser();
  const consent = await browser.open(link);
  expect([consent.status, consent.text]).toEqual([200, expect.stringContaining('Sign in to mail')]);
  const done = await browser.submit();
  expect([done.status, done.text]).toEqual([200, expect.stringContaining('Signed in to mail')]);
}

test('a caller sees a tool with a link until it has signed in, then the tools of the server', async () => {
  const [alice, bob] = [await connectAs('alice'), await connectAs('bob')];
  expect(await toolNames(alice)).toEqual(['mail__sign_in']);
  const answer = await alice.callTool('mail__sign_in');
  expect([answer.isError, textOf(answer)]).toEqual([true, expect.stringContaining('then call the tool again')]);
  await expect(alice.callTool('mail__who')).rejects.toThrow('Sign in to this server with the browser');
  at.company = 'alice';
  await signIn(linkIn(textOf(answer)));
  await vi.waitFor(async () => expect(await toolNames(alice)).toEqual(['mail__who']));
  expect(textOf(await alice.callTool('mail__who'))).toBe('alice@mail');
  expect(await toolNames(bob)).toEqual(['mail__sign_in']);
  await expect(bob.callTool('mail__who')).rejects.toThrow('Sign in to this server');
  await Promise.all([alice.close(), bob.close()]);
});

test('what a user has granted is there after a restart of the gateway, for this user only, and in files of the owner', async () => {
  gateway.child.kill();
  await new Promise((resolve) => gateway.child.once('close', resolve));
  gateway = await startGateway();
  const [alice, bob] = [await connectAs('alice'), await connectAs('bob')];
  expect(textOf(await alice.callTool('mail__who'))).toBe('alice@mail');
  expect(await toolNames(bob)).toEqual(['mail__sign_in']);
  await Promise.all([alice.close(), bob.close()]);
  // All users share the registration of the gateway at the authorization server of the server; at its own one, it has a client.
  expect([provider.to('/register').length, company.to('/register').length]).toEqual([1, 0]);
  expect(company.to('/authorize')[0]?.query.get('client_id')).toBe('the-gateway');
});

test.each(['2026-07-28', '2025-11-25'] as const)(
  '%s: a client that opens pages for its user gets the link',
  async (revision) => {
    const user = `carol-${revision}`;
    Object.assign(at, { company: user, provider: `${user}@mail` });
    const links: string[] = [];
    let isOpened = Promise.resolve();
    const client = await connectAs(user, {
      revision,
      handlers: {
        elicitUrl: ({ url, message }) => {
          expect(message).toContain('Sign in to this server with the browser');
          links.push(url);
          isOpened = signIn(url);
          return { action: 'accept' };
        },
      },
    });
    expect(await toolNames(client)).toEqual(['mail__sign_in']);
    // The call waits for the user.
    expect(textOf(await client.callTool('mail__sign_in'))).toBe(
      'You are signed in to mail. Its tools are in the list of tools now.',
    );
    expect(links).toHaveLength(1);
    await isOpened;
    await vi.waitFor(async () => expect(await toolNames(client)).toEqual(['mail__who']));
    expect(textOf(await client.callTool('mail__who'))).toBe(`${user}@mail`);
    await client.close();
  },
);

test('the official clients sign in their users: the new line with the link it is asked to open, the old one after an error', async () => {
  const headers = async (sub: string) => ({
    requestInit: { headers: { authorization: `Bearer ${await tokenOf(sub, gateway.url)}` } },
  });
  const info = [{ name: 'official', version: '1' }, { capabilities: { elicitation: { url: {} } } }] as const;
  Object.assign(at, { company: 'nina', provider: 'nina@mail' });
  const next = new NewClient(info[0], { ...info[1], versionNegotiation: { mode: 'auto' } });
  let isOpened = Promise.resolve();
  next.setRequestHandler('elicitation/create', ({ params }) => {
    isOpened = signIn((params as { url: string }).url);
    return { action: 'accept' };
  });
  await next.connect(new NewHttp(new URL(gateway.url), await headers('nina')));
  const { tools } = await next.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['mail__sign_in']);
  const result = await next.callTool({ name: 'mail__sign_in', arguments: {} });
  expect(textOf(result as { content: unknown[] })).toContain('You are signed in to mail');
  await isOpened;
  await next.close();

  Object.assign(at, { company: 'otto', provider: 'otto@mail' });
  const old = new OldClient(...info);
  await old.connect(new OldHttp(new URL(gateway.url), await headers('otto')) as Parameters<OldClient['connect']>[0]);
  const error = await old.callTool({ name: 'mail__sign_in', arguments: {} }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UrlElicitationRequiredError);
  await signIn((error as UrlElicitationRequiredError).elicitations[0]?.url as string);
  await vi.waitFor(async () => expect((await old.listTools()).tools.map(({ name }) => name)).toEqual(['mail__who']));
  expect(textOf((await old.callTool({ name: 'mail__who', arguments: {} })) as { content: unknown[] })).toBe(
    'otto@mail',
  );
  await old.close();
});

test('no user can finish the sign-in of another one, or get theirs finished by another one', async () => {
  const mallory = await connectAs('mallory');
  const link = linkIn(textOf(await mallory.callTool('mail__sign_in')));
  // Mallory sends the link to Dora.
  Object.assign(at, { company: 'dora', provider: 'dora@mail' });
  const dora = new Browser();
  const refused = await dora.open(link);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('This link is for someone else')]);
  expect(dora.visited.some((url) => url.origin === provider.origin)).toBe(false);
  // Or the address at the authorization server, which Mallory gets to with the own link.
  at.company = 'mallory';
  const own = new Browser();
  await own.open(link);
  await own.submit();
  const second = own.visited.find((url) => url.origin === provider.origin)?.href as string;
  const back = await dora.open(second);
  expect([back.status, back.text]).toEqual([400, expect.stringContaining('not valid any more')]);
  await mallory.close();
});

test('links that were opened in two tabs before the user was known both lead to the page', async () => {
  const fay = await connectAs('fay');
  const link = linkIn(textOf(await fay.callTool('mail__sign_in')));
  at.company = 'fay';
  const browser = new Browser();
  const [first, second] = [await browser.step(link), await browser.step(link)];
  for (const { location } of [second, first]) {
    const consent = await browser.open(location as string);
    expect([consent.status, consent.text]).toEqual([200, expect.stringContaining('Sign in to mail')]);
  }
  await fay.close();
});

test('a response that was meant for another server is not accepted', async () => {
  const finn = await connectAs('finn');
  const link = linkIn(textOf(await finn.callTool('mail__sign_in')));
  Object.assign(at, { company: 'finn', provider: 'finn@mail' });
  const browser = new Browser();
  await browser.open(link);
  const { origin } = new URL(link);
  const asked = await browser.step(link, {}, { 'sec-fetch-site': 'same-origin', origin });
  expect(new URL(asked.location as string).searchParams.get('redirect_uri')).toBe(`${gateway.url}/login/callback/mail`);
  // As if the authorization server of one server had sent the browser to that of another one, which sends it back to its own address.
  const { location: back = '' } = await browser.step(asked.location as string);
  for (const wrong of ['/callback/notes?', '/callback?']) {
    expect((await browser.open(back.replace('/callback/mail?', wrong))).status).toBe(400);
  }
  expect((await browser.open(back)).text).toContain('Signed in to mail');
  await finn.close();
});

test.skipIf(!hasBrowser)('the pages work in a browser', async () => {
  const gina = await connectAs('gina');
  const link = linkIn(textOf(await gina.callTool('mail__sign_in')));
  Object.assign(at, { company: 'gina', provider: 'gina@mail' });
  const browser = await startBrowser();
  const page = await browser.newPage();
  await page.goto(link);
  expect(await page.locator('h1').textContent()).toBe('Sign in to mail');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('You can close this page').waitFor();
  expect(await page.title()).toBe('Signed in to mail');
  expect(textOf(await gina.callTool('mail__who'))).toBe('gina@mail');
  await page.goto(`${gateway.url}/login`);
  await page.getByRole('button', { name: 'Sign out of all' }).click();
  await page.getByText('gina is signed in to no server').waitFor();
  await browser.close();
  await gina.close();
});

test('forms of pages of other origins are rejected, and unknown links say so', async () => {
  const eve = await connectAs('eve');
  const link = linkIn(textOf(await eve.callTool('mail__sign_in')));
  at.company = 'eve';
  const browser = new Browser();
  expect((await browser.open(link)).status).toBe(200);
  const foreign: Record<string, string>[] = [{ 'sec-fetch-site': 'cross-site' }, {}];
  for (const headers of foreign) {
    expect((await browser.open(link, {}, headers)).status).toBe(403);
  }
  expect((await new Browser().open(`${link}x`)).status).toBe(404);
  expect((await new Browser().open(`${gateway.url}/login/callback?code=1&state=2`)).status).toBe(400);
  await eve.close();
});

test('callers with tokens of the gateway prove with their token who they are', async () => {
  const config = writeConfig(home, { mcpServers: { mail: { url: upstream.url } } }, 'own-tokens.json');
  const [ina, tom] = ownTokens;
  const own = await startHttp(home, ['--config', config], { MOORING_TOKEN: `ina:${ina},tom:${tom}` });
  const client = await connect(own.url, { headers: { authorization: `Bearer ${ina}` }, retry: false });
  const link = linkIn(textOf(await client.callTool('mail__sign_in')));
  const browser = new Browser();
  expect((await browser.open(link)).text).toContain('Enter the token that your client uses for this gateway');
  expect([(await browser.submit({ token: 'x' })).status, (await browser.submit({ token: tom })).status]).toEqual([
    403, 403,
  ]);
  expect((await browser.submit()).text).toContain('Enter the token');
  at.provider = 'ina@mail';
  expect((await browser.submit({ token: ina })).text).toContain('Sign in to mail');
  expect((await browser.submit()).text).toContain('Signed in to mail');
  await vi.waitFor(async () => expect(await toolNames(client)).toEqual(['mail__who']));
  expect(textOf(await client.callTool('mail__who'))).toBe('ina@mail');
  await client.close();
  own.child.kill();
});

test('a user whose access was withdrawn gets a new link, and nothing else changes', async () => {
  const alice = await connectAs('alice');
  expect(await toolNames(alice)).toEqual(['mail__who']);
  withdrawn.add('alice@mail');
  const answer = await alice.callTool('mail__who');
  expect([answer.isError, textOf(answer)]).toEqual([true, expect.stringContaining('then call the tool again')]);
  expect(await toolNames(alice)).toEqual(['mail__who']);
  Object.assign(at, { company: 'alice', provider: 'alice2@mail' });
  await signIn(linkIn(textOf(answer)));
  expect(textOf(await alice.callTool('mail__who'))).toBe('alice2@mail');
  await alice.close();
});

test('users see what they are signed in to, and sign out', async () => {
  const alice = await connectAs('alice');
  expect(textOf(await alice.callTool('mail__who'))).toBe('alice2@mail');
  at.company = 'alice';
  const browser = new Browser();
  expect((await browser.open(`${gateway.url}/login`)).text).toContain('alice is signed in to mail.');
  expect((await browser.submit()).text).toContain('alice is signed in to no server of this gateway.');
  const answer = await alice.callTool('mail__who');
  expect([answer.isError, linkIn(textOf(answer))]).toEqual([true, expect.stringContaining('/login/')]);
  at.company = 'bob';
  expect((await new Browser().open(`${gateway.url}/login`)).text).toContain('bob is signed in to no server');
  await alice.close();
});

test('no server gets the credentials of a caller for the gateway, and others cannot read what is stored', () => {
  const all = [...received].join(' ');
  expect(all).not.toMatch(/eyJ/);
  for (const token of ownTokens) expect(all).not.toContain(token);
  const folder = join(home.path, '.local/share/mooring/gateway/users');
  // Not the temporary ones.
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const stored = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(stored.filter((text) => text.includes('token-of-ina@mail'))).toHaveLength(1);
  expect(stored.filter((text) => text.includes('token-of-alice'))).toHaveLength(0);
});

test('the state of the server says that its users sign in themselves', async () => {
  const { stdout } = await home.run(['gateway', 'status', '--json'], { env: runtimeOf(home) });
  expect(JSON.parse(stdout).servers[0].state).toMatch(/ready|idle/);
});
