// Callers that sign in to servers behind a gateway, where something goes wrong, or several things happen at once.

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { type Client, type ConnectOptions, connect } from '../../../src/client/index.ts';
import { useSharedHome } from '../../support/program.ts';
import { Browser, linkIn, type ProtectedServer, startProtected } from './signing-in.ts';
import { type HttpGateway, runtimeOf, startHttp, textOf, toolNames, writeConfig } from './support.ts';

const home = useSharedHome();
const tokens = { ina: randomBytes(32).toString('hex'), tom: randomBytes(32).toString('hex') };
type User = keyof typeof tokens;
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function protectedServer(name?: string): Promise<ProtectedServer> {
  const server = await startProtected(name);
  open.push(server);
  return server;
}

async function gatewayOf(
  mcpServers: object,
  more: object = {},
  args: readonly string[] = [],
): Promise<HttpGateway & { readonly config: string }> {
  const name = `${randomBytes(4).toString('hex')}.json`;
  const config = writeConfig(home, { mcpServers, ...more }, name);
  const gateway = await startHttp(home, ['--config', config, ...args], {
    MOORING_TOKEN: Object.entries(tokens)
      .map((each) => each.join(':'))
      .join(','),
  });
  open.push({ close: () => gateway.child.kill() });
  return Object.assign(gateway, { config });
}

async function connectAs(user: User, url: string, more: ConnectOptions = {}): Promise<Client> {
  const client = await connect(url, { headers: { authorization: `Bearer ${tokens[user]}` }, retry: false, ...more });
  open.push(client);
  return client;
}

/** Returns the page that the browser is at in the end. */
async function signIn(user: User, link: string, browser = new Browser()): Promise<string> {
  await browser.open(link);
  await browser.submit({ token: tokens[user] });
  return (await browser.submit()).text;
}

const stateOf = async (slug: string): Promise<{ state: string; reason?: string }> => {
  const { stdout } = await home.run(['gateway', 'status', '--json'], { env: runtimeOf(home) });
  return JSON.parse(stdout).servers.find((each: { slug: string }) => each.slug === slug);
};

const signedIn = expect.stringContaining('Signed in to mail');
const linkOf = async (client: Client, tool: string): Promise<string> => linkIn(textOf(await client.callTool(tool)));

test('an authorization server that fails for one user does not keep others from a server', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  expect(await signIn('ina', await linkOf(ina, 'mail__sign_in'))).toEqual(signedIn);
  await vi.waitFor(async () => expect(await toolNames(ina)).toContain('mail__who'));
  await home.run(['gateway', 'restart', 'mail'], { env: runtimeOf(home) });
  mail.provider.behaviour.wellKnown = 'none';
  const tom = await connectAs('tom', gateway.url);
  for (let i = 0; i < 6; i++) {
    await expect(tom.callTool('mail__sign_in')).rejects.toThrow('it requires a login');
  }
  // It is started once more by itself, and may be starting at any moment.
  const states: string[] = [];
  const nextState = async () => states[states.push((await stateOf('mail')).state) - 1];
  await expect.poll(nextState, { timeout: 10_000 }).toBe('idle');
  expect(states).not.toContain('down');
  expect(textOf(await ina.callTool('mail__who'))).toBe('mail');
  expect((await stateOf('mail')).state).toBe('ready');
});

test('a call right after the sign-in waits until the tools of the server are known', async () => {
  const mail = await protectedServer();
  let list = (): void => {};
  const mayList = new Promise<void>((resolve) => {
    list = resolve;
  });
  mail.decide = async ({ method, token }) => {
    if (token === undefined) return 'unauthorized';
    if (method === 'tools/list') await mayList;
    return 'ok';
  };
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  expect(await signIn('ina', await linkOf(ina, 'mail__sign_in'))).toEqual(signedIn);
  const call = ina.callTool('mail__who');
  const names = toolNames(ina);
  await vi.waitFor(() => expect(mail.seen.some(({ method }) => method === 'tools/list')).toBe(true));
  list();
  expect(textOf(await call)).toBe('mail');
  expect(await names).toContain('mail__who');
});

test('a server that lists its tools to everyone: the call continues when the user has signed in', async () => {
  const mail = await protectedServer();
  mail.decide = ({ token, tool }) => (token === undefined && tool !== undefined ? 'unauthorized' : 'ok');
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const links: string[] = [];
  let opened: (url: string) => void;
  const link = new Promise<string>((resolve) => {
    opened = resolve;
  });
  const ina = await connectAs('ina', gateway.url, {
    handlers: {
      elicitUrl: ({ url }) => {
        links.push(url);
        opened(url);
        return { action: 'accept' };
      },
    },
  });
  expect(await toolNames(ina)).toEqual(['mail__who', 'mail__send']);
  const call = ina.callTool('mail__who');
  const browser = new Browser();
  await browser.open(await link);
  await browser.submit({ token: tokens.ina });
  expect((await browser.submit()).text).toEqual(signedIn);
  expect(textOf(await call)).toBe('mail');
  expect(links).toHaveLength(1);
});

test('a client that calls again and again gets the link, and only some of its calls wait for the user', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  const link = await linkOf(ina, 'mail__sign_in');
  const texts: string[] = [];
  const calls = Array.from({ length: 40 }, async () => texts.push(textOf(await ina.callTool('mail__sign_in'))));
  await vi.waitFor(() => expect(texts.map(linkIn)).toEqual(Array(8).fill(link)), { timeout: 20_000 });
  await signIn('ina', link);
  await Promise.all(calls);
  expect(texts.filter((text) => text.startsWith('You are signed in to mail'))).toHaveLength(32);
});

test('the views and addresses of a gateway have the same sign-in, also with a connection for each session', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf(
    { mail: { url: mail.url, mooring: { isolation: 'session' } } },
    { gateway: { views: { find: { servers: ['mail'], mode: 'search' } } } },
  );
  const [main, again] = [
    await connectAs('ina', gateway.url, { revision: '2025-11-25' }),
    await connectAs('ina', gateway.url, { revision: '2025-11-25' }),
  ];
  const single = await connectAs('ina', `${gateway.url}/s/mail`);
  const found = await connectAs('ina', `${gateway.url}/v/find`);
  const link = await linkOf(main, 'mail__sign_in');
  expect(await toolNames(found)).toContain('mail__sign_in');
  expect(await toolNames(single)).toEqual(['sign_in']);
  expect(await toolNames(again)).toEqual(['mail__sign_in']);
  expect(await signIn('ina', link)).toEqual(signedIn);
  for (const client of [main, again]) {
    await vi.waitFor(async () => expect(await toolNames(client)).toEqual(['mail__who', 'mail__send']));
  }
  await vi.waitFor(async () => expect(await toolNames(single)).toEqual(['who', 'send']));
  await vi.waitFor(async () => expect(await toolNames(found)).not.toContain('mail__sign_in'));
  expect(mail.provider.to('/authorize')).toHaveLength(1);
});

test('a sign-in goes on when the configuration is reloaded', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  const link = await linkOf(ina, 'mail__sign_in');
  writeFileSync(
    gateway.config,
    JSON.stringify({ mcpServers: { mail: { url: mail.url, mooring: { timeoutMs: 50_000 } } } }),
  );
  await gateway.line(/the configuration of the gateway was reloaded/);
  expect(await toolNames(ina)).toEqual(['mail__sign_in']);
  expect((await stateOf('mail')).state).toBe('idle');
  expect(await signIn('ina', link)).toEqual(signedIn);
  await vi.waitFor(async () => expect(await toolNames(ina)).toContain('mail__who'));
  expect(gateway.said()).not.toContain('WARNING');
});

test('one sign-in is enough for two entries with the same address', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({
    mail: { url: mail.url },
    post: { url: mail.url, mooring: { tools: { include: ['who'] } } },
  });
  const ina = await connectAs('ina', gateway.url);
  expect(await toolNames(ina)).toEqual(['mail__sign_in', 'post__sign_in']);
  await signIn('ina', await linkOf(ina, 'post__sign_in'));
  await vi.waitFor(async () => expect(await toolNames(ina)).toEqual(['mail__who', 'mail__send', 'post__who']));
  expect(mail.provider.to('/authorize')).toHaveLength(1);
});

test('a user who may do more after another sign-in gets a link for it, and the other tools work meanwhile', async () => {
  const mail = await protectedServer();
  const scopeOf = (token: string | undefined): string | undefined =>
    mail.provider.issued.find((each) => each.token === token)?.scope;
  mail.decide = ({ token, tool }) => {
    const scope = scopeOf(token);
    if (scope === undefined) return 'unauthorized';
    return tool === 'send' && !scope.includes('send') ? { scope: 'send' } : 'ok';
  };
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  await signIn('ina', await linkOf(ina, 'mail__sign_in'));
  await vi.waitFor(async () => expect(await toolNames(ina)).toContain('mail__who'));
  expect(textOf(await ina.callTool('mail__who'))).toBe('mail');
  const link = await linkOf(ina, 'mail__send');
  expect((await stateOf('mail')).state).toBe('ready');
  await signIn('ina', link);
  expect(textOf(await ina.callTool('mail__send'))).toBe('sent');
  expect(textOf(await ina.callTool('mail__who'))).toBe('mail');
});

test('the token of a user is refreshed without the user', async () => {
  const mail = await protectedServer();
  const expired = new Set<string | undefined>([undefined]);
  mail.decide = ({ token }) => (expired.has(token) ? 'unauthorized' : 'ok');
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  await signIn('ina', await linkOf(ina, 'mail__sign_in'));
  await vi.waitFor(async () => expect(await toolNames(ina)).toContain('mail__who'));
  for (const { token } of mail.provider.issued) expired.add(token);
  expect(textOf(await ina.callTool('mail__who'))).toBe('mail');
  expect(mail.provider.to('/authorize')).toHaveLength(1);
});

test('a user whose access was withdrawn changes nothing for others when lists are read again', async () => {
  const mail = await protectedServer();
  const withdrawn = new Set<string | undefined>([undefined]);
  mail.decide = ({ token }) => (withdrawn.has(token) ? 'unauthorized' : 'ok');
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  await signIn('ina', await linkOf(ina, 'mail__sign_in'));
  await vi.waitFor(async () => expect(await toolNames(ina)).toContain('mail__who'));
  mail.provider.behaviour.token = () => ({ status: 400, body: { error: 'invalid_grant' } });
  for (const { token } of mail.provider.issued) withdrawn.add(token);
  // They are not valid any more when they are requested again.
  await ina.listTools({ cache: 'bypass' });
  await vi.waitFor(
    () => expect(mail.provider.forms().map((form) => form.get('grant_type'))).toContain('refresh_token'),
    { timeout: 15_000 },
  );
  expect(await linkOf(ina, 'mail__who')).toContain('/login/');
  expect((await stateOf('mail')).state).toBe('ready');
  expect(gateway.said()).not.toContain('WARNING');
});

test('a user who does not agree at the authorization server gets a new link', async () => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  const first = await linkOf(ina, 'mail__sign_in');
  mail.provider.behaviour.callback = { code: undefined, error: 'access_denied', error_description: '<script>no' };
  const page = await signIn('ina', first);
  expect(page).toContain('Not signed in');
  expect(page).not.toContain('<script>');
  mail.provider.behaviour.callback = {};
  const second = await linkOf(ina, 'mail__sign_in');
  expect(second).not.toBe(first);
  expect(await signIn('ina', second)).toEqual(signedIn);
});

test('a failed sign-in that no user can repair is explained without the login of the operator', async () => {
  const mail = await protectedServer();
  mail.decide = ({ token, tool }) => (token === undefined && tool !== undefined ? 'unauthorized' : 'ok');
  mail.provider.behaviour.metadata = { registration_endpoint: undefined };
  const gateway = await gatewayOf({ mail: { url: mail.url } });
  const ina = await connectAs('ina', gateway.url);
  const answer = await ina.callTool('mail__who');
  expect([answer.isError, textOf(answer)]).toEqual([
    true,
    expect.stringContaining('the operator of the gateway finds the'),
  ]);
  expect(textOf(answer)).not.toContain('mooring gateway login');
  expect((await stateOf('mail')).state).toBe('ready');
});

test.each(['/', '/tools'])('the pages are below the path %s', async (path) => {
  const mail = await protectedServer();
  const gateway = await gatewayOf({ mail: { url: mail.url } }, {}, ['--path', path]);
  const ina = await connectAs('ina', gateway.url);
  const link = await linkOf(ina, 'mail__sign_in');
  expect(new URL(link).pathname).toMatch(new RegExp(`^${path === '/' ? '' : path}/login/[^/]+$`));
  expect(await signIn('ina', link)).toEqual(signedIn);
});

test('tokens that are tried on the page are in the audit log, without the tokens; codes and tickets are in no log', async () => {
  const mail = await protectedServer();
  const audit = home.file(`${randomBytes(4).toString('hex')}.jsonl`);
  const gateway = await gatewayOf({ mail: { url: mail.url } }, {}, ['--audit', audit]);
  const ina = await connectAs('ina', gateway.url);
  const link = await linkOf(ina, 'mail__sign_in');
  const browser = new Browser();
  await browser.open(link);
  await browser.submit({ token: 'a-wrong-token' });
  await signIn('ina', link, browser);
  await ina.close();
  gateway.child.kill();
  await new Promise((resolve) => gateway.child.once('close', resolve));
  const lines = readFileSync(audit, 'utf8');
  expect(lines).toMatch(/"event":"auth"[^\n]*\/mcp\/login/);
  expect(lines).toContain('"event":"sign-in"');
  const ticket = link.split('/').at(-1) as string;
  const [code] = mail.provider.forms().map((form) => form.get('code') as string);
  const all = `${lines}${gateway.said()}`;
  for (const secret of [
    ticket,
    tokens.ina,
    'a-wrong-token',
    `code=${code}`,
    mail.provider.issued[0]?.token as string,
  ]) {
    expect(all).not.toContain(secret);
  }
});
