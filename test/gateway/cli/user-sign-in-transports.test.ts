// Callers that sign in to servers behind a gateway that is served in other ways: beside a profile, over HTTP+SSE and over
// WebSocket; and a server that is removed meanwhile.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { type Client, type ConnectOptions, connect, type Target } from '../../../src/client/index.ts';
import { useSharedHome } from '../../support/program.ts';
import { Browser, linkIn, type ProtectedServer, startProtected } from './signing-in.ts';
import { type HttpGateway, runtimeOf, startHttp, textOf, toolNames, writeConfig } from './support.ts';

const home = useSharedHome();
const token = randomBytes(32).toString('hex');
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function protectedServer(): Promise<ProtectedServer> {
  const server = await startProtected();
  open.push(server);
  return server;
}

interface Started extends HttpGateway {
  readonly config: string;
}

async function gatewayOf(mcpServers: object, words?: readonly string[]): Promise<Started> {
  const config = writeConfig(home, { mcpServers }, `${randomBytes(4).toString('hex')}.json`);
  const flag = words === undefined ? '--config' : '--gateway';
  const gateway = await startHttp(home, [flag, config], { MOORING_TOKEN: `ina:${token}` }, words);
  open.push({ close: () => gateway.child.kill() });
  return Object.assign(gateway, { config });
}

async function connectTo(target: Target, more: ConnectOptions = {}): Promise<Client> {
  const client = await connect(target, { headers: { authorization: `Bearer ${token}` }, retry: false, ...more });
  open.push(client);
  return client;
}

async function signIn(link: string): Promise<string> {
  const browser = new Browser();
  await browser.open(link);
  await browser.submit({ token });
  return (await browser.submit()).text;
}

const linkOf = async (client: Client, tool: string): Promise<string> => linkIn(textOf(await client.callTool(tool)));

test('serve --gateway: the tools of the profile stay, and those of the server come with the sign-in', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } }, ['serve', 'everything']);
  const client = await connectTo(gateway.url);
  const before = await toolNames(client);
  expect(before).toContain('mail__sign_in');
  expect(before).toContain('test_simple_text');
  expect(await signIn(await linkOf(client, 'mail__sign_in'))).toContain('Signed in to mail');
  await vi.waitFor(async () => expect(await toolNames(client)).toContain('mail__who'));
  const after = await toolNames(client);
  expect(after).toContain('test_simple_text');
  expect(after).not.toContain('mail__sign_in');
  expect(textOf(await client.callTool('mail__who'))).toBe('mail');
  const page = new Browser();
  await page.open(`${gateway.url}/login`);
  expect((await page.submit({ token })).text).toContain('ina is signed in to mail.');
});

const transports: [string, (url: string) => Target][] = [
  ['HTTP+SSE', (url) => ({ type: 'sse', url: new URL('/sse', url).href })],
  ['WebSocket', (url) => url.replace('http:', 'ws:')],
];

test.each(transports)('%s: a caller gets a link, is notified, and uses the server as itself', async (_, targetOf) => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const client = await connectTo(targetOf(gateway.url));
  const changes = (await client.watch({ tools: true }))[Symbol.asyncIterator]();
  expect(await toolNames(client)).toEqual(['mail__sign_in']);
  expect(await signIn(await linkOf(client, 'mail__sign_in'))).toContain('Signed in to mail');
  expect(await changes.next()).toMatchObject({ done: false });
  await vi.waitFor(async () => expect(await toolNames(client)).toEqual(['mail__who', 'mail__send']));
  expect(textOf(await client.callTool('mail__who'))).toBe('mail');
});

test.each(transports)('%s: a client that opens pages waits for its user', async (_, targetOf) => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  let page: Promise<string> | undefined;
  const client = await connectTo(targetOf(gateway.url), {
    handlers: {
      elicitUrl: ({ url }) => {
        page = signIn(url);
        return { action: 'accept' };
      },
    },
  });
  expect(textOf(await client.callTool('mail__sign_in'))).toContain('You are signed in to mail');
  expect(await page).toContain('Signed in to mail');
});

test('a server that is removed during a sign-in: the link is not valid any more, and other servers are not affected', async () => {
  const [mail, notes] = [await protectedServer(), await protectedServer()];
  const both = { mail: { url: mail.url }, notes: { url: notes.url } };
  const gateway = await gatewayOf(both);
  const client = await connectTo(gateway.url);
  const [ofMail, ofNotes] = [await linkOf(client, 'mail__sign_in'), await linkOf(client, 'notes__sign_in')];
  const browser = new Browser();
  await browser.open(ofMail);
  expect((await browser.submit({ token })).text).toContain('Sign in to mail');
  // In another tab, the user is at the authorization server already.
  const { origin } = new URL(ofMail);
  const { location = '' } = await browser.step(ofMail, {}, { 'sec-fetch-site': 'same-origin', origin });
  const { location: back = '' } = await browser.step(location);
  writeFileSync(gateway.config, JSON.stringify({ mcpServers: { notes: { url: notes.url } } }));
  await gateway.line(/the configuration of the gateway was reloaded/);
  await vi.waitFor(async () => expect(await toolNames(client)).toEqual(['notes__sign_in']));
  for (const [url, status] of [
    [ofMail, 404],
    [back, 400],
  ] as const) {
    expect(await browser.open(url)).toEqual({ status, text: expect.stringContaining('not valid any more') });
  }
  expect(mail.provider.issued).toEqual([]);
  expect(await signIn(ofNotes)).toContain('Signed in to notes');
  await vi.waitFor(async () => expect(await toolNames(client)).toEqual(['notes__who', 'notes__send']));
  // It comes back before the link has expired.
  writeFileSync(gateway.config, JSON.stringify({ mcpServers: both }));
  await vi.waitFor(async () => expect(await toolNames(client)).toContain('mail__sign_in'), { timeout: 20_000 });
  expect(await signIn(ofMail)).toContain('Signed in to mail');
  await vi.waitFor(async () => expect(await toolNames(client)).toContain('mail__who'));
  const { stdout } = await home.run(['gateway', 'status', '--json'], { env: runtimeOf(home) });
  expect(JSON.parse(stdout).servers).toHaveLength(2);
});
