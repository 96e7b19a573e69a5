// One caller is one share: calls and streams that one caller holds, abandoned or not, on whatever transport, do not keep
// others out; what shows that a server is alive passes in a crowd; and an overloaded server says so.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpOptions, serveHttp } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
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

async function start(options: HttpOptions = {}) {
  const server = createServer({ name: 'shares', version: '1.0.0' });
  const counts = { started: 0, aborted: 0 };
  server.tool('hang', {
    description: 'Ends only when it is aborted',
    run: (_args: unknown, ctx) =>
      new Promise((_, reject) => {
        counts.started++;
        ctx.signal.addEventListener('abort', () => {
          counts.aborted++;
          reject(ctx.signal.reason);
        });
      }),
  });
  server.tool('fine', { description: 'Works', run: () => 'fine' });
  const { http, client } = await startHttp(closers, server, {
    metricsPath: '/metrics',
    authenticate: (request) => ({ id: (request.get('authorization') ?? 'nobody').replace('Bearer ', '') }),
    compat: { eventsPath: '/mcp/sse' },
    ...options,
  });
  const figure = async (name: string): Promise<number> => {
    const { text } = await client.send({ method: 'GET', path: '/metrics' });
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  return { http, client, counts, inFlight: () => figure('mooring_http_in_flight') };
}

type Started = Awaited<ReturnType<typeof start>>;

const as = (id: string): Record<string, string> => ({ Authorization: `Bearer ${id}` });
const call = (name: string, id: unknown = name) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const status = async ({ client }: Started, who: string, name = 'fine'): Promise<number> =>
  (await client.modern('tools/call', { name }, { headers: as(who) })).status;
const eventStream = { Accept: 'text/event-stream' };

/** Opens HTTP+SSE and gives the address for messages. */
async function openSse({ client }: Started, who: string): Promise<{ path: string; reader: EventReader }> {
  const response = await client.open({ method: 'GET', path: '/sse', headers: { ...eventStream, ...as(who) } });
  const reader = new EventReader(response);
  await expect.poll(() => reader.events[0]?.data).toBeTruthy();
  const path = reader.events[0]?.data as string;
  await client.send({ path, body: initializeBody('2024-11-05'), headers: as(who) });
  await client.send({ path, body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers: as(who) });
  return { path, reader };
}

async function openSocket({ http }: Started, who: string): Promise<{ socket: WebSocket; messages: Message[] }> {
  const socket = new WebSocket(http.url.replace('http', 'ws'), { headers: as(who) });
  const messages: Message[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  closers.push(() => socket.terminate());
  return { socket, messages };
}

/** Ways to have calls that do not end. Each starts five of them. */
const ways: Record<string, (started: Started) => Promise<void>> = {
  'calls of a session, whose connections are gone': async ({ client, http, counts }) => {
    const session = await client.initialize({ version: '2025-06-18', headers: as('mallory') });
    const going = new HttpTestClient(http.port);
    for (let n = 0; n < 5; n++) {
      const headers = { Accept: both, 'Mcp-Session-Id': session, ...as('mallory') };
      going.open({ body: call('hang', n), headers }).catch(() => {});
    }
    await expect.poll(() => counts.started).toBe(5);
    going.close();
  },
  'stateless calls': async ({ client }) => {
    for (let n = 0; n < 5; n++) {
      const headers = { ...modernHeaders('tools/call', { name: 'hang' }), ...as('mallory') };
      client.open({ body: modernBody('tools/call', { name: 'hang' }, n), headers }).catch(() => {});
    }
  },
  'calls over HTTP+SSE': async (started) => {
    const { path } = await openSse(started, 'mallory');
    for (let n = 0; n < 5; n++) {
      expect((await started.client.send({ path, body: call('hang', n), headers: as('mallory') })).status).toBe(202);
    }
  },
  'calls over a WebSocket': async (started) => {
    const { socket } = await openSocket(started, 'mallory');
    for (let n = 0; n < 5; n++) socket.send(JSON.stringify(modernBody('tools/call', { name: 'hang' }, n)));
  },
};

describe.each(Object.keys(ways))('%s', (name) => {
  const way = ways[name] as (typeof ways)[string];

  async function crowded(options: HttpOptions['limits']): Promise<Started> {
    const started = await start({ limits: options });
    await way(started);
    await expect.poll(() => started.counts.started).toBe(5);
    await expect.poll(started.inFlight).toBe(5);
    return started;
  }

  test('count against their caller, and only against it', async () => {
    const started = await crowded({ maxInFlight: 100, maxInFlightPerCaller: 5 });
    const { client } = started;
    expect(await status(started, 'mallory')).toBe(503);
    expect(await status(started, 'ada')).toBe(200);
    // On every transport.
    const sse = await openSse(started, 'mallory');
    expect((await client.send({ path: sse.path, body: call('fine'), headers: as('mallory') })).status).toBe(503);
    const { socket, messages } = await openSocket(started, 'mallory');
    socket.send(JSON.stringify(modernBody('tools/call', { name: 'fine' }, 'late')));
    await expect.poll(() => messages.find(({ id }) => id === 'late')?.error?.message).toContain('overloaded');
    expect((await client.send({ method: 'GET', path: '/health' })).json).toEqual({ status: 'healthy' });
  });

  test('when they take all there is, pings and new sessions pass, and probes say that the server is overloaded', async () => {
    const started = await crowded({ maxInFlight: 5 });
    const { client } = started;
    const busy = await client.modern('tools/call', { name: 'fine' }, { headers: as('ada') });
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '1']);
    for (const path of ['/health', '/health/ready', '/readyz']) {
      const probe = await client.send({ method: 'GET', path });
      expect([probe.status, probe.json]).toEqual([503, { status: 'overloaded' }]);
    }
    for (const path of ['/health/live', '/livez']) {
      expect((await client.send({ method: 'GET', path })).status).toBe(200);
    }
    const session = await client.initialize({ headers: as('ada') });
    expect((await client.session(session, 'ping', {}, { headers: as('ada') })).status).toBe(200);
    expect((await client.modern('server/discover', {}, { headers: as('ada') })).status).toBe(200);
    const { path, reader } = await openSse(started, 'ada');
    await client.send({ path, body: { jsonrpc: '2.0', id: 'p', method: 'ping' }, headers: as('ada') });
    await expect.poll(() => reader.messages.some(({ id }) => id === 'p')).toBe(true);
    const { socket, messages } = await openSocket(started, 'ada');
    socket.send(JSON.stringify(modernBody('server/discover', {}, 'd')));
    await expect.poll(() => messages.find(({ id }) => id === 'd')?.result).toBeTruthy();
    socket.send('{"jsonrpc":');
    await expect.poll(() => messages.some(({ error }) => error?.code === -32700)).toBe(true);
  });
});

describe('a call whose client has disconnected', () => {
  const hang = { headers: { Accept: both } };

  async function abandon(started: Started, wanted: { body: unknown; headers: Record<string, string> }): Promise<void> {
    const going = new HttpTestClient(started.http.port);
    const begun = started.counts.started;
    going.open(wanted).catch(() => {});
    await expect.poll(() => started.counts.started).toBe(begun + 1);
    going.close();
  }

  /** Time passes only as the test says. */
  const stopClock = () =>
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date'] });
  const passed = (started: Started) => async (): Promise<number> => {
    await vi.advanceTimersByTimeAsync(50_000);
    return started.counts.aborted;
  };
  afterEach(() => void vi.useRealTimers());

  test('within a session continues for a while, then ends', async () => {
    stopClock();
    const started = await start({ limits: { abandonedCallMs: 60_000 } });
    const session = await started.client.initialize({ version: '2025-06-18', headers: as('ada') });
    await abandon(started, {
      body: call('hang'),
      headers: { ...hang.headers, 'Mcp-Session-Id': session, ...as('ada') },
    });
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await started.inFlight()).toBe(1);
    expect(started.counts.aborted).toBe(0);
    await expect.poll(passed(started)).toBe(1);
    expect(await started.inFlight()).toBe(0);
  });

  test('without a session, where its revision has them, does so too', async () => {
    stopClock();
    const started = await start({ sessions: 'optional', limits: { abandonedCallMs: 60_000 } });
    await abandon(started, { body: call('hang'), headers: { ...hang.headers, ...as('ada') } });
    await vi.advanceTimersByTimeAsync(50_000);
    expect(await started.inFlight()).toBe(1);
    await expect.poll(passed(started)).toBe(1);
    expect(await started.inFlight()).toBe(0);
  });

  test('ends at once where disconnecting is cancelling', async () => {
    const started = await start();
    const headers = { ...modernHeaders('tools/call', { name: 'hang' }), ...as('ada') };
    await abandon(started, { body: modernBody('tools/call', { name: 'hang' }), headers });
    await expect.poll(() => started.counts.aborted).toBe(1);
    expect(await started.inFlight()).toBe(0);
  });
});

/** Ways to hold a stream. */
const streams: Record<string, (started: Started, who: string) => Promise<number>> = {
  'GET of a session': async ({ client }, who) => {
    const session = await client.initialize({ headers: as(who) });
    const headers = { ...eventStream, 'Mcp-Session-Id': session, ...as(who) };
    return (await client.open({ method: 'GET', headers })).statusCode as number;
  },
  '/sse': async ({ client }, who) =>
    (await client.open({ method: 'GET', path: '/sse', headers: { ...eventStream, ...as(who) } })).statusCode as number,
  '/mcp/sse': async ({ client }, who) =>
    (await client.open({ method: 'GET', path: '/mcp/sse', headers: { ...eventStream, ...as(who) } }))
      .statusCode as number,
  'a subscription': async ({ client }, who) => {
    const body = modernBody('subscriptions/listen', { notifications: {} });
    const headers = { ...modernHeaders('subscriptions/listen'), ...as(who) };
    return (await client.open({ body, headers })).statusCode as number;
  },
  'a WebSocket': (started, who) =>
    openSocket(started, who).then(
      () => 200,
      (error: Error) => Number(/\d{3}/.exec(error.message)?.[0]),
    ),
};

test('streams of every kind share one limit per caller, and others still get theirs', async () => {
  const started = await start({ limits: { maxStreamsPerCaller: Object.keys(streams).length } });
  for (const open of Object.values(streams)) expect(await open(started, 'mallory')).toBe(200);
  for (const open of Object.values(streams)) expect(await open(started, 'mallory')).toBe(503);
  for (const open of Object.values(streams)) expect(await open(started, 'ada')).toBe(200);
});

test('callers without a principal are distinguished by their address', async () => {
  const server = createServer({ name: 'addresses', version: '1.0.0' });
  const http = await serveHttp(server, { port: 0, graceMs: 100, limits: { maxStreamsPerCaller: 1 } });
  closers.push(() => http.close());
  const client = new HttpTestClient(http.port);
  closers.push(() => client.close());
  const open = (localAddress: string): Promise<number> =>
    fetchStatus(http.port, localAddress, { method: 'GET', path: '/sse', headers: eventStream });
  expect([await open('127.0.0.1'), await open('127.0.0.1'), await open('127.0.0.2')]).toEqual([200, 503, 200]);
});

async function fetchStatus(
  port: number,
  localAddress: string,
  { method, path, headers }: { method: string; path: string; headers: Record<string, string> },
): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, localAddress, method, path, headers, agent: false });
    closers.push(() => void outgoing.destroy());
    outgoing.on('response', (response) => resolve(response.statusCode as number));
    outgoing.on('error', reject);
    outgoing.end();
  });
}
