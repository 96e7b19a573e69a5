// Who gets in: every route without a token, with a wrong one, from another origin or under another host.

import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { type Console, createConsole } from '../../src/console/index.ts';
import { createLogger, createServer, serveHttp } from '../../src/index.ts';
import { createToken, createTokenAuthenticator } from '../../src/security/auth/index.ts';
import { ConsoleClient, rawRequest } from './console-client.ts';

/** Every route of the API. */
const routes = [
  'POST codes',
  'GET state',
  'GET feed?after=0',
  'GET entries/1',
  'GET lists',
  'GET series',
  'GET sessions',
  'GET tasks',
  'GET audit',
  'GET about',
  'GET auth',
  'GET export',
  'POST import',
  'POST validate',
  'POST complete',
  'POST calls',
  'POST calls/c1/input',
  'POST calls/c1/cancel',
  'POST compare',
  'POST subscriptions',
  'POST subscriptions/end',
  'POST apps',
  'POST apps/x/calls',
  'POST apps/x/messages',
  'POST apps/x/close',
  'POST operate/cancel-task',
  'POST operate/end-session',
  'GET nothing',
] as const;

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function someServer() {
  const server = createServer({ name: 'guarded', version: '1.0.0', logger: false });
  server.tool('echo', { run: () => 'hello' });
  return server;
}

/** The console on a port of its own, or below a path of an HTTP server. */
async function start(kind: 'own port' | 'mounted', options: Parameters<typeof createConsole>[1] = {}) {
  const server = someServer();
  const console: Console = createConsole(server, options);
  open.push(console);
  if (kind === 'own port') {
    const { link } = await console.listen();
    return new ConsoleClient(link);
  }
  const served = await serveHttp(server, { port: 0, mounts: [console.mount], allowedOrigins: ['https://app.example'] });
  open.push(served);
  return new ConsoleClient(console.link(new URL(served.url).origin));
}

const kinds = ['own port', 'mounted'] as const;

async function statuses(client: ConsoleClient, headers: Record<string, string>): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const route of routes) {
    const [method, path] = route.split(' ') as [string, string];
    const { status, text } = await rawRequest(`${client.base}${path}`, {
      method,
      headers,
      ...(method === 'POST' && { body: '{}' }),
    });
    found[route] = status;
    expect(text).not.toContain(client.token);
  }
  return found;
}

const all = (status: number): Record<string, number> => Object.fromEntries(routes.map((route) => [route, status]));

test.for(kinds)('on %s, no route is served without a token', async (kind) => {
  const client = await start(kind);
  expect(await statuses(client, {})).toEqual(all(401));
});

test.for(kinds)('on %s, pages of other origins are rejected even with the token', async (kind) => {
  const client = await start(kind);
  expect(await statuses(client, { ...client.headers, Origin: 'https://other.example' })).toEqual(all(403));
  // Allowed to call the MCP endpoint, but not to use the console.
  expect(await statuses(client, { ...client.headers, Origin: 'https://app.example' })).toEqual(all(403));
  expect(await statuses(client, { ...client.headers, Origin: 'null' })).toEqual(all(403));
  expect(await statuses(client, { ...client.headers, 'Sec-Fetch-Site': 'cross-site' })).toEqual(all(403));
  expect(await statuses(client, { ...client.headers, 'Sec-Fetch-Site': 'same-site' })).toEqual(all(403));
});

test.for(kinds)('on %s, another host is rejected: a page that uses DNS rebinding', async (kind) => {
  const client = await start(kind);
  const { port } = new URL(client.base);
  expect(await statuses(client, { ...client.headers, Host: `rebound.example:${port}` })).toEqual(all(403));
  const page = await rawRequest(client.base.replace('api/', ''), { headers: { Host: `rebound.example:${port}` } });
  expect(page.status).toBe(403);
});

test.for(kinds)('on %s, the page itself may use it', async (kind) => {
  const client = await start(kind);
  const { origin } = new URL(client.base);
  const ways: Record<string, string>[] = [{ Origin: origin }, { 'Sec-Fetch-Site': 'same-origin' }, {}];
  for (const headers of ways) {
    const { status } = await rawRequest(`${client.base}state`, { headers: { ...client.headers, ...headers } });
    expect(status).toBe(200);
  }
});

test('after five wrong tokens guessing is slowed down, and the right one still works', async () => {
  const client = await start('own port');
  const tries = async (token: string) =>
    (await rawRequest(`${client.base}state`, { headers: { Authorization: `Bearer ${token}` } })).status;
  const wrong: number[] = [];
  for (let count = 0; count < 7; count++) wrong.push(await tries(`wrong${count}`));
  expect(wrong).toEqual([401, 401, 401, 401, 401, 429, 429]);
  expect(await tries(client.token)).toBe(200);
});

test('a token in the query or in a cookie is not accepted', async () => {
  const client = await start('own port');
  const inQuery = await rawRequest(`${client.base}state?t=${client.token}&token=${client.token}`);
  const inCookie = await rawRequest(`${client.base}state`, { headers: { Cookie: `t=${client.token}` } });
  expect([inQuery.status, inCookie.status]).toEqual([401, 401]);
});

test('read-only consoles cannot call, and without the right nothing can be operated', async () => {
  const readOnly = await start('own port', { readOnly: true });
  await expect(readOnly.get('state')).resolves.toMatchObject({ rights: ['view'] });
  await expect(readOnly.post('calls', { method: 'tools/call', params: { name: 'echo' } })).rejects.toThrow('403');
  const usual = await start('own port');
  await expect(usual.get('state')).resolves.toMatchObject({ rights: ['view', 'try'] });
  await expect(usual.post('operate/cancel-task', { id: 'x' })).rejects.toThrow('403');
  const operator = await start('own port', { operate: true });
  await expect(operator.post('operate/unknown-verb', { id: 'x' })).rejects.toThrow('404');
});

test('a principal with the scope has access, one without has not', async () => {
  const [allowed, other] = [createToken(), createToken()];
  const authenticate = createTokenAuthenticator({
    tokens: [
      { id: 'alice', hash: allowed.hash, scopes: ['console'] },
      { id: 'bob', hash: other.hash, scopes: ['tools'] },
    ],
  });
  const events: unknown[] = [];
  const client = await start('own port', {
    token: false,
    authenticate: async (request) => {
      const result = await authenticate(request);
      return result === undefined || 'status' in result ? undefined : result;
    },
    record: (event) => events.push(event),
  });
  const status = async (token: string, path = 'state') =>
    (await rawRequest(`${client.base}${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;
  expect(await status(allowed.token)).toBe(200);
  expect(await status(other.token)).toBe(403);
  expect(await status('neither')).toBe(401);
  expect(await status(allowed.token, 'export')).toBe(200);
  expect(events).toEqual([{ user: 'alice', action: 'export' }]);
});

test('the token never appears in the log', async () => {
  const lines: string[] = [];
  const stream = new PassThrough().on('data', (chunk: Buffer) => lines.push(String(chunk)));
  const logger = createLogger({ level: 'debug', stream });
  const server = someServer();
  const console = createConsole(server);
  const served = await serveHttp(server, { port: 0, mounts: [console.mount], logger });
  open.push(served, console);
  const client = new ConsoleClient(console.link(new URL(served.url).origin));
  await client.get('state');
  await rawRequest(`${client.base}state`, { headers: { Authorization: `Bearer ${client.token}x` } });
  await rawRequest(`${client.base}state`, { headers: { ...client.headers, Origin: 'https://other.example' } });
  await logger.flush();
  expect(lines.join('')).toContain('/console/api/state');
  expect(lines.join('')).not.toContain(client.token);
});

test('without a console the path does not exist', async () => {
  const served = await serveHttp(someServer(), { port: 0 });
  open.push(served);
  const { origin } = new URL(served.url);
  expect((await fetch(`${origin}/console/`)).status).toBe(404);
  expect((await fetch(`${origin}/console/api/state`)).status).toBe(404);
});

test('a console listens on loopback addresses only', async () => {
  const console = createConsole(someServer());
  open.push(console);
  await expect(console.listen({ host: '0.0.0.0' })).rejects.toThrow('loopback');
});

test('the code of a link is exchanged once, and a second use ends the token it was exchanged for', async () => {
  const page = createConsole(someServer());
  open.push(page);
  const { oneTimeLink, origin, link } = await page.listen();
  const url = `${origin}/console/api/exchange`;
  const exchange = (code: string, headers: Record<string, string> = {}) =>
    rawRequest(url, { method: 'POST', body: JSON.stringify({ code }), headers });
  const first = oneTimeLink();
  const code = new URL(first).hash.slice('#c='.length);
  expect(first).not.toContain(new URL(link).hash.slice('#t='.length));
  expect((await exchange(code, { Origin: 'https://evil.example' })).status).toBe(403);
  for (const body of ['null', '"text"', '{']) {
    expect((await rawRequest(url, { method: 'POST', body })).status).toBe(400);
  }
  const answer = await exchange(code);
  expect(answer.status).toBe(200);
  const { token } = JSON.parse(answer.text) as { token: string };
  const client = new ConsoleClient(`${origin}/console/#t=${token}`);
  await client.get('state');
  expect((await exchange(code)).status).toBe(401);
  await expect(client.get('state')).rejects.toThrow('401');
  // The printed link is another one.
  await new ConsoleClient(link).get('state');
  for (let n = 0; n < 5; n++) await exchange('guessed');
  expect((await exchange('guessed')).status).toBe(429);
  expect((await rawRequest(url)).status).toBe(405);
});

test('a token that could be guessed is rejected', () => {
  for (const token of ['secret', 'a'.repeat(40)]) {
    expect(() => createConsole(someServer(), { token })).toThrow('A token needs at least 32 characters');
  }
});
