// What was opened with an access token ends with it, at once and with a reason: when it expires, and when it is revoked.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpServer, type Principal, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import {
  both,
  EventReader,
  HttpTestClient,
  initializeBody,
  type Message,
  modernBody,
  modernHeaders,
} from '../support/http-client.ts';

const closers = useClosers();

const lifetimeMs = 60_000;
/** Time passes only as the test says; returns a token that expires after its lifetime. */
function expiringToken(): string {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  return `ada.${Date.now() + lifetimeMs}`;
}
afterEach(() => void vi.useRealTimers());

/** Lets the token expire, until that has ended what the test waits for. */
async function expire<T>(end: Promise<T>): Promise<T> {
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  const pass = (ms: number) => async (): Promise<boolean> => {
    await vi.advanceTimersByTimeAsync(ms);
    return isOver;
  };
  expect(await pass(lifetimeMs - 1_000)()).toBe(false);
  await expect.poll(pass(1_000)).toBe(true);
  return end;
}

/** Tokens are `<name>` or `<name>.<expiry>`; the heartbeat is far away, so that nothing but the expiry ends a stream. */
async function start() {
  const server = createServer({ name: 'token-end', version: '1.0.0' });
  const aborted: string[] = [];
  server.tool('hang', {
    description: 'Reports progress, then ends only when it is aborted or released',
    run: async (_args: unknown, ctx) => {
      await ctx.progress(1, 2, 'begun');
      return new Promise<string>((resolve, reject) => {
        released.push(() => resolve('released'));
        ctx.signal.addEventListener('abort', () => {
          aborted.push(String(ctx.requestId));
          reject(ctx.signal.reason);
        });
      });
    },
  });
  const released: (() => void)[] = [];
  const http = await serveHttp(server, {
    port: 0,
    graceMs: 100,
    compat: { sessionHeaders: ['X-Session-ID'], eventsPath: '/mcp/sse' },
    authenticate: (request): Principal | undefined => {
      const [id, expiry] = (request.get('authorization') ?? '').replace('Bearer ', '').split('.');
      if (id === undefined || id === '') return undefined;
      if (expiry !== undefined && Number(expiry) <= Date.now()) return undefined;
      return { id, ...(expiry === undefined ? {} : { expiresAtMs: Number(expiry) }), claims: { token: id } };
    },
  });
  const client = new HttpTestClient(http.port);
  closers.push(
    () => client.close(),
    () => http.close(),
  );
  return { http, client, aborted, release: () => released.shift()?.() };
}

const bearer = (token: string): Record<string, string> => ({ Authorization: `Bearer ${token}` });
const hang = { name: 'hang', _meta: { progressToken: 'p' } };
const expired = 'Unauthorized: the access token has expired; authenticate again';
const revoked = 'Unauthorized: the access token was revoked; authenticate again';

interface Opened {
  readonly end: Promise<{ readonly messages: Message[]; readonly text: string; readonly code?: number }>;
}

/** Reads a stream to its end, comments included. */
async function readAll(client: HttpTestClient, wanted: Parameters<HttpTestClient['open']>[0]): Promise<Opened> {
  const response = await client.open(wanted);
  expect(response.statusCode).toBe(200);
  const reader = new EventReader(response);
  let text = '';
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  return { end: reader.end().then((messages) => ({ messages, text })) };
}

/** Everything that can be open for long. Each is opened with a token, and its end has to name the reason. */
const kinds: Record<string, (http: HttpServer, client: HttpTestClient, token: string) => Promise<Opened>> = {
  'a subscription of a stateless request': (_http, client, token) =>
    readAll(client, {
      body: modernBody('subscriptions/listen', { notifications: {} }, 'waiting'),
      headers: { ...modernHeaders('subscriptions/listen'), ...bearer(token) },
    }),
  'the stream of a stateless call': (_http, client, token) =>
    readAll(client, {
      body: modernBody('tools/call', hang, 'waiting', { progressToken: 'p' }),
      headers: { ...modernHeaders('tools/call', hang), ...bearer(token) },
    }),
  'the stream of a call within a session': async (_http, client, token) => {
    const session = await client.initialize({ version: '2025-06-18', headers: bearer(token) });
    return readAll(client, {
      body: { jsonrpc: '2.0', id: 'waiting', method: 'tools/call', params: hang },
      headers: { Accept: both, 'Mcp-Session-Id': session, ...bearer(token) },
    });
  },
  'the GET stream of a session': async (_http, client, token) => {
    const session = await client.initialize({ headers: bearer(token) });
    return readAll(client, {
      method: 'GET',
      headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session, ...bearer(token) },
    });
  },
  '/sse': (_http, client, token) =>
    readAll(client, { method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream', ...bearer(token) } }),
  '/mcp/sse': (_http, client, token) =>
    readAll(client, { method: 'GET', path: '/mcp/sse', headers: { Accept: 'text/event-stream', ...bearer(token) } }),
  'a WebSocket': async (http, _client, token) => {
    const socket = new WebSocket(http.url.replace('http', 'ws'), { headers: bearer(token) });
    const messages: Message[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    const end = new Promise<Awaited<Opened['end']>>((resolve) =>
      socket.on('close', (code, reason) => resolve({ messages, text: String(reason), code })),
    );
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    socket.send(JSON.stringify(modernBody('tools/call', hang, 'waiting', { progressToken: 'p' })));
    await expect.poll(() => messages.length).toBeGreaterThan(0);
    return { end };
  },
};
const answered = [
  'a subscription of a stateless request',
  'the stream of a stateless call',
  'the stream of a call within a session',
  'a WebSocket',
];

describe.each(Object.keys(kinds))('%s', (name) => {
  test('ends when its token expires, and says so', async () => {
    const token = expiringToken();
    const { http, client } = await start();
    const { end } = await (kinds[name] as (typeof kinds)[string])(http, client, token);
    const { messages, text, code } = await expire(end);
    expect(text).toContain(expired);
    if (answered.includes(name)) expect(messages.find(({ id }) => id === 'waiting')?.error?.message).toBe(expired);
    if (name === 'a WebSocket') expect(code).toBe(3000);
  });

  test('ends when its token is revoked, while those of others go on', async () => {
    const { http, client } = await start();
    const open = kinds[name] as (typeof kinds)[string];
    const [ada, grace] = [await open(http, client, 'ada'), await open(http, client, 'grace')];
    let graceEnded = false;
    void grace.end.then(() => {
      graceEnded = true;
    });
    http.revoke(({ id }) => id === 'ada');
    const { messages, text } = await ada.end;
    expect(text).toContain(revoked);
    if (answered.includes(name)) expect(messages.find(({ id }) => id === 'waiting')?.error?.message).toBe(revoked);
    expect(graceEnded).toBe(false);
  });
});

test('a call of /sse is answered with the reason before its stream ends, and its endpoint is closed', async () => {
  const token = expiringToken();
  const { client, aborted } = await start();
  const response = await client.open({
    method: 'GET',
    path: '/sse',
    headers: { Accept: 'text/event-stream', ...bearer(token) },
  });
  const reader = new EventReader(response);
  await expect.poll(() => reader.events[0]?.data).toBeTruthy();
  const path = reader.events[0]?.data as string;
  const post = (body: unknown, as: string) => client.send({ path, body, headers: bearer(as) });
  await post(initializeBody('2024-11-05'), token);
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, token);
  await post({ jsonrpc: '2.0', id: 'waiting', method: 'tools/call', params: hang }, token);
  await expect.poll(() => reader.messages.some(({ method }) => method === 'notifications/progress')).toBe(true);
  const messages = await expire(reader.end());
  expect(messages.at(-1)).toMatchObject({ id: 'waiting', error: { message: expired } });
  expect(aborted).toEqual(['waiting']);
  expect((await post({ jsonrpc: '2.0', id: 2, method: 'ping' }, 'ada')).status).toBe(404);
});

test('where streams can be polled, the call continues and its client reconnects with a new token', async () => {
  const token = expiringToken();
  const { client, release } = await start();
  const session = await client.initialize({ version: '2025-11-25', headers: bearer(token) });
  const first = new EventReader(
    await client.open({
      body: { jsonrpc: '2.0', id: 'waiting', method: 'tools/call', params: hang },
      headers: { Accept: both, 'Mcp-Session-Id': session, ...bearer(token) },
    }),
  );
  await first.until(1);
  expect((await expire(first.end())).map(({ method }) => method)).toEqual(['notifications/progress']);
  const resume = (as: string) => ({
    method: 'GET',
    headers: {
      Accept: 'text/event-stream',
      'Mcp-Session-Id': session,
      'Last-Event-ID': first.events.at(-1)?.id,
      ...bearer(as),
    },
  });
  expect((await client.send(resume(token))).status).toBe(401);
  const second = new EventReader(await client.open(resume('ada')));
  release();
  expect((await second.end()).at(-1)).toMatchObject({ id: 'waiting', result: { content: [{ text: 'released' }] } });
});

test('a revoked token also ends calls that are answered in JSON', async () => {
  const { http, client, aborted } = await start();
  const session = await client.initialize({ headers: bearer('ada') });
  const headers = { Accept: 'application/json', ...bearer('ada') };
  const calls = [
    client.send({
      body: modernBody('tools/call', { name: 'hang' }, 'alone'),
      headers: { ...modernHeaders('tools/call', hang), ...headers },
    }),
    client.send({
      body: { jsonrpc: '2.0', id: 'within', method: 'tools/call', params: { name: 'hang' } },
      headers: { ...headers, Accept: both, 'Mcp-Session-Id': session },
    }),
  ];
  await expect
    .poll(async () => {
      http.revoke(({ id }) => id === 'ada');
      return aborted.length;
    })
    .toBe(2);
  for (const answer of await Promise.all(calls)) {
    expect([answer.status, answer.json.error?.message]).toEqual([401, revoked]);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  }
});
