// One bad request is one error: whatever is sent, and whatever breaks behind a transport, the process and the connection
// live on, the client gets an answer, and the cause is in the log.

import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createMemoryExpiringStore } from '../../src/engine/expiring-store.ts';
import {
  connectInMemory,
  createServer,
  type ExpiringStore,
  type HttpOptions,
  type Logger,
  type Server,
  toFetch,
} from '../../src/index.ts';
import { serveStream } from '../../src/transports/stream.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import {
  both,
  EventReader,
  HttpTestClient,
  initializeBody,
  modernBody,
  modernHeaders,
} from '../support/http-client.ts';
import { useHome } from '../support/program.ts';

const closers = useClosers();

function makeLogger(): Logger & { readonly errors: string[] } {
  const errors: string[] = [];
  const nothing = (): void => {};
  const logger: Logger & { readonly errors: string[] } = {
    errors,
    debug: nothing,
    info: nothing,
    notice: nothing,
    warn: nothing,
    error: (message, fields) => errors.push(`${message}: ${String((fields?.['error'] as Error | undefined)?.message)}`),
    child: () => logger,
    enabled: () => false,
  };
  return logger;
}

/** A server whose engine throws, wherever a message with the method `break` gets to. */
function breakable(): Server {
  const server = createServer({ name: 'breakable', version: '1.0.0' });
  server.tool('fine', { description: 'Works', run: () => 'fine' });
  const spoil = (channel: object): object =>
    new Proxy(channel, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'receive' && name !== 'receiveText') return value.bind(target);
        return (message: unknown, ...rest: unknown[]) => {
          if (JSON.stringify(message).includes('break')) throw new Error('the engine broke');
          return value.call(target, message, ...rest);
        };
      },
      set: (target, name, value) => Reflect.set(target, name, value),
    });
  return new Proxy(server, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'connect' && name !== 'resume') return value.bind(target);
      return (...args: unknown[]) => spoil(value.apply(target, args));
    },
  });
}

async function start(server: Server, options: HttpOptions = {}) {
  const logger = makeLogger();
  const { http, client } = await startHttp(closers, server, { logger, ...options });
  return { http, client, logger };
}

/** Every kind of JSON value, and messages whose parts are of the wrong kind. */
const version = 'io.modelcontextprotocol/protocolVersion';
const values: readonly unknown[] = [
  null,
  true,
  0,
  '',
  [],
  {},
  [null],
  [[]],
  { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: { [version]: { toString: 1 } } } },
  { jsonrpc: '2.0', id: 1, method: 'initialize', params: { _meta: { [version]: { toString: 1 } } } },
  { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: { toString: 1 } } },
  { jsonrpc: '2.0', id: 1, method: 'x', params: { _meta: { [version]: 'x'.repeat(1000) } } },
  { jsonrpc: '2.0', id: 1, method: { toString: 1 }, params: { toString: 1 } },
  { jsonrpc: '2.0', id: { toString: 1 }, method: 'ping' },
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: null },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: { toString: 1 } } },
  { jsonrpc: '2.0', id: 1, error: null },
];

describe('the program', () => {
  const home = useHome();

  const profiles = ['reference', 'local', 'everything', 'secure-local', 'empirical'];
  /** By default each value goes to one of the profiles, on all paths. */
  const valuesFor = (profile: string): readonly unknown[] =>
    values.filter((_, at) => isFullRun || profiles[at % profiles.length] === profile);

  test.each(profiles)('profile %s lives on, whatever JSON value comes on whatever path', async (profile) => {
    const { url, child, said } = await home.serve([profile]);
    const { port, host } = new URL(url);
    const client = new HttpTestClient(Number(port));
    const open = { method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } };
    const stream = new EventReader(await client.open(open));
    await expect.poll(() => stream.events[0]?.data).toBeTruthy();
    const message = stream.events[0]?.data as string;
    const webSocket = new WebSocket(`ws://${host}/mcp`);
    await new Promise((resolve, reject) => webSocket.on('open', resolve).on('error', reject));
    const session = await client.initialize({ version: '2025-06-18' });
    for (const value of valuesFor(profile)) {
      const body = JSON.stringify(value);
      webSocket.send(body);
      for (const path of ['/mcp', message, '/message', '/health', '/mcp/sse', '/nowhere']) {
        for (const headers of [{}, { 'Mcp-Session-Id': session }, modernHeaders('tools/list')]) {
          const { status } = await client.send({ path, body, headers: { Accept: both, ...headers } });
          expect(status, `${path} ${body}`).toBeLessThan(500);
        }
      }
    }
    expect(child.exitCode, said()).toBe(null);
    expect((await client.send({ method: 'GET', path: '/health' })).status).toBe(200);
    expect([stream.ended, webSocket.readyState]).toEqual([false, WebSocket.OPEN]);
    webSocket.terminate();
    client.close();
  });
});

describe('an error in the engine', () => {
  const breaking = { jsonrpc: '2.0', id: 'b', method: 'break' };
  const failure = { id: 'b', error: { code: -32603, message: 'Internal error' } };

  test('is the answer to a stateless request, and to one of a session', async () => {
    const { client, logger } = await start(breakable());
    const stateless = await client.modern('break', {}, { id: 'b' });
    expect([stateless.status, stateless.json]).toMatchObject([500, failure]);
    const session = await client.initialize({ version: '2025-06-18' });
    const within = await client.session(session, 'break', {}, { id: 'b' });
    expect([within.status, within.json]).toMatchObject([500, failure]);
    expect((await client.session(session, 'tools/list')).status).toBe(200);
    expect(logger.errors).toHaveLength(2);
    expect(logger.errors[0]).toContain('the engine broke');
  });

  test('does not leave the request in flight', async () => {
    const { client } = await start(breakable(), { metricsPath: '/metrics' });
    const session = await client.initialize({ version: '2025-06-18' });
    for (let n = 0; n < 5; n++) await client.session(session, 'break');
    const { text } = await client.send({ method: 'GET', path: '/metrics' });
    expect(text).toMatch(/^mooring_http_in_flight 0$/m);
    expect(text).toMatch(/^mooring_sessions_in_memory 0$/m);
  });

  test('is sent on the stream of HTTP+SSE, which continues', async () => {
    const { client, logger } = await start(breakable());
    const open = { method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } };
    const stream = new EventReader(await client.open(open));
    await expect.poll(() => stream.events[0]?.data).toBeTruthy();
    const path = stream.events[0]?.data as string;
    expect((await client.send({ path, body: breaking })).status).toBe(202);
    expect((await stream.until(1))[0]).toMatchObject(failure);
    await client.send({ path, body: initializeBody('2024-11-05') });
    expect((await stream.until(2))[1]).toMatchObject({ id: 'open' });
    expect(logger.errors).toHaveLength(1);
  });

  test('is sent on the WebSocket, which continues', async () => {
    const { http, logger } = await start(breakable());
    const socket = new WebSocket(http.url.replace('http', 'ws'));
    const heard: unknown[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    socket.send(JSON.stringify(breaking));
    socket.send(JSON.stringify(modernBody('tools/list', {}, 'next')));
    await expect.poll(() => heard.length).toBe(2);
    expect(heard).toMatchObject([failure, { id: 'next' }]);
    expect(logger.errors).toHaveLength(1);
    socket.terminate();
  });

  test('is sent on a pipe, which continues', async () => {
    const logger = makeLogger();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const connection = serveStream(breakable(), input, output, undefined, { logger });
    let text = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    input.write(`${JSON.stringify(breaking)}\n${JSON.stringify(modernBody('tools/list', {}, 'next'))}\n`);
    await expect.poll(() => text.split('\n').length).toBe(3);
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([failure, { id: 'next' }]);
    expect(logger.errors).toHaveLength(1);
    connection.close();
  });

  test('is sent in memory', async () => {
    const connection = connectInMemory(breakable());
    connection.send(breaking);
    expect(await connection.receive()).toMatchObject(failure);
    connection.send(modernBody('tools/list', {}, 'next'));
    expect(await connection.receive()).toMatchObject({ id: 'next' });
    connection.close();
  });

  test('is the answer of a fetch handler', async () => {
    const logger = makeLogger();
    const handle = toFetch(breakable(), { logger });
    const response = await handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        body: JSON.stringify(modernBody('break', {}, 'b')),
        headers: { ...modernHeaders('break'), 'Content-Type': 'application/json' },
      }),
    );
    expect([response.status, await response.json()]).toMatchObject([500, failure]);
    expect(logger.errors).toHaveLength(1);
  });
});

describe('a part of the endpoint that fails', () => {
  const plain = (): Server => createServer({ name: 'plain', version: '1.0.0' });

  test('a route that answers with what is no answer, or with a header that cannot be sent, is a 500', async () => {
    const { client, logger } = await start(plain(), {
      routes: [
        { path: '/nothing', answer: () => undefined as never },
        { path: '/header', answer: () => ({ status: 200, headers: { 'X-Bad': 'a\r\nb' } }) },
        { path: '/status', answer: () => ({ status: 99_999 }) },
      ],
    });
    for (const path of ['/nothing', '/header', '/status']) {
      expect((await client.send({ method: 'GET', path })).status).toBe(500);
    }
    expect(logger.errors).toHaveLength(3);
  });

  test('a principal that cannot be used is a 500, also where it took time to find it', async () => {
    const broken = new Proxy(
      { id: 'ada' },
      { get: (target, name) => (name === 'id' ? fail() : Reflect.get(target, name)) },
    );
    const fail = (): never => {
      throw new Error('no id');
    };
    for (const authenticate of [() => broken, async () => broken]) {
      const { client, logger } = await start(plain(), { authenticate });
      const session = { Accept: both, 'Mcp-Session-Id': 'x' };
      // One with a body that is not read: its response arrives all the same.
      expect((await client.send({ method: 'DELETE', body: 'x'.repeat(100_000), headers: session })).status).toBe(500);
      const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
      expect((await client.send({ body, headers: session })).status).toBe(500);
      expect((await client.send({ method: 'DELETE', headers: session })).status).toBe(500);
      expect((await client.send({ method: 'GET', headers: { ...session, Accept: 'text/event-stream' } })).status).toBe(
        500,
      );
      expect(logger.errors).toHaveLength(4);
    }
  });

  test('an authenticator that answers with something else is a 500, for a WebSocket too', async () => {
    for (const authenticate of [() => 5 as never, async () => 5 as never]) {
      const { client, http, logger } = await start(plain(), { authenticate });
      expect((await client.send({ method: 'DELETE' })).status).toBe(500);
      expect(await upgrade(http.port)).toMatch(/^HTTP\/1.1 500 /);
      expect(logger.errors).toHaveLength(2);
    }
  });
});

/** What comes back to a request for a WebSocket. */
function upgrade(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', () => resolve(text));
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.write(
      `GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    setTimeout(() => socket.destroy(), 2_000).unref();
  });
}

describe('a store that cannot be read', () => {
  const kinds: Record<string, (error: Error) => never | Promise<never>> = {
    'throws at once': (error) => {
      throw error;
    },
    'fails later': (error) => Promise.reject(error),
  };

  test.each(Object.keys(kinds))('and %s is an error of the request that needed it', async (kind) => {
    const memory = createMemoryExpiringStore();
    let broken = false;
    const spoil = <T>(work: () => T): T =>
      broken ? ((kinds[kind] as (typeof kinds)[string])(new Error('EIO: i/o error, read')) as T) : work();
    const store: ExpiringStore = {
      get: (key) => spoil(() => memory.get(key)),
      set: (key, value, ttlMs) => spoil(() => memory.set(key, value, ttlMs)),
      add: (key, value, ttlMs) => spoil(() => memory.add(key, value, ttlMs)),
      delete: (key) => spoil(() => memory.delete(key)),
    };
    const server = createServer({ name: 'unreadable', version: '1.0.0', store });
    server.tool('fine', { description: 'Works', run: () => 'fine' });
    const { client, logger } = await start(server, { compat: { eventsPath: '/mcp/sse' } });
    const session = await client.initialize();
    const within = { Accept: both, 'Mcp-Session-Id': session };
    const stream = { Accept: 'text/event-stream', 'Mcp-Session-Id': session };
    const requests = [
      { method: 'GET', headers: stream },
      { method: 'GET', path: '/mcp/sse', headers: stream },
      { method: 'DELETE', headers: within },
      { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: within },
      { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers: within },
      { body: { jsonrpc: '2.0', id: 1, result: {} }, headers: within },
      { body: initializeBody('2025-06-18'), headers: within },
      // So many capabilities that they cannot travel in the id.
      { body: initializeBody('2025-06-18', { experimental: { x: 'x'.repeat(4000) } }), headers: { Accept: both } },
    ];
    broken = true;
    for (const wanted of requests) {
      const { status, json } = await client.send(wanted);
      expect([status, json.error?.code], JSON.stringify(wanted).slice(0, 200)).toEqual([500, -32603]);
    }
    expect(logger.errors).toHaveLength(requests.length);
    expect(logger.errors.every((each) => each.includes('EIO'))).toBe(true);
    broken = false;
    const after = await client.session(session, 'tools/call', { name: 'fine' });
    expect(after.json.result).toMatchObject({ content: [{ text: 'fine' }] });
  });

  test('for the events of a stream ends that stream, and no other', async () => {
    const server = createServer({ name: 'unreadable', version: '1.0.0' });
    const append = vi.fn();
    const eventLog = { append, after: () => Promise.reject(new Error('EIO: i/o error, read')), forget: () => {} };
    const { client, logger } = await start(server, { eventLog });
    const session = await client.initialize();
    for (const last of ['p01234567-0.1', 's01234567-0.1']) {
      const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': session, 'Last-Event-ID': last };
      const outcome = await client.send({ method: 'GET', headers }).then(
        ({ status }) => status,
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect(['ECONNRESET', 500]).toContain(outcome);
    }
    expect(logger.errors).toHaveLength(2);
    expect((await client.session(session, 'ping')).status).toBe(200);
  });
});
