// Clients that do not read what they requested, while another client calls the same server over the same pipe: it is served as
// before, and what is buffered for the slow ones is limited.

import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { type HttpServer, serveHttp } from '../../src/index.ts';
import { serveStream } from '../../src/transports/stream.ts';
import { useClosers } from '../support/closers.ts';
import { gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterEach);
const script = join(import.meta.dirname, 'servers/talkative.mjs');
const MiB = 1024 * 1024;

/** A gateway with one process, and the callers `slow` and `other`. */
async function start(given: Partial<UpstreamConfig> = {}): Promise<{ gateway: Gateway; http: HttpServer }> {
  const entry = { command: process.execPath, args: [script] };
  const gateway = createGateway(gatewayConfig([upstream('one', { entry, ...given })]), { logger: false });
  const http = await serveHttp(gateway.server, {
    port: 0,
    graceMs: 100,
    authenticate: (request) => ({ id: request.get('authorization') ?? 'nobody' }),
  });
  closers.push(
    () => http.close(),
    () => gateway.close(),
  );
  return { gateway, http };
}

async function otherClient(http: HttpServer): Promise<Client> {
  const client = await connect(http.url, { revision: '2026-07-28', headers: { authorization: 'other' } });
  closers.push(() => client.close());
  expect(await client.callTool('one__quick')).toMatchObject({ content: [{ type: 'text' }] });
  return client;
}

/** Sends a call of a client that reads nothing of the response. */
function callWithoutReading({ port }: HttpServer, name: string, args: object, revision = '2026-07-28'): Socket {
  const socket = connectSocket(port, '127.0.0.1');
  socket.on('error', () => {});
  closers.push(() => void socket.destroy());
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientCapabilities': {},
    progressToken: 'p',
  };
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: `one__${name}`, arguments: args, _meta },
  });
  const head = [
    ...['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Authorization: slow', 'Content-Type: application/json'],
    ...['Accept: application/json, text/event-stream', `MCP-Protocol-Version: ${revision}`, 'Mcp-Method: tools/call'],
    ...[`Mcp-Name: one__${name}`, `Content-Length: ${Buffer.byteLength(body)}`, '', ''],
  ];
  socket.pause();
  socket.write(head.join('\r\n') + body);
  return socket;
}

/** Reads everything, and returns how much it was. */
function bytesOf(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    // The end of a complete response; the connection stays open.
    if (chunk.toString('latin1').endsWith('\r\n0\r\n\r\n')) socket.destroy();
  });
  socket.resume();
  return new Promise((resolve) => socket.once('close', () => resolve(bytes)));
}

/** Calls until `isOver`, at least 20 times; returns the longest time that a call took. */
async function callUntil(client: Client, isOver: () => boolean): Promise<number> {
  let longestMs = 0;
  for (let calls = 0; calls < 20 || !isOver(); calls++) {
    const since = performance.now();
    const result = await client.callTool('one__quick');
    expect(result).not.toHaveProperty('isError');
    longestMs = Math.max(longestMs, performance.now() - since);
  }
  return longestMs;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The most memory that this process had while something ran, in MiB more than before. */
async function growthWhile(work: Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
  return (most - before) / MiB;
}

/** Calls of another client go on while `work` runs: none fails, none waits for what others do not read. */
async function expectServedWhile(http: HttpServer, work: () => Promise<void>, maxMs = 5_000): Promise<number> {
  const other = await otherClient(http);
  let isOver = false;
  const calling = callUntil(other, () => isOver);
  const growth = await growthWhile(work()).finally(() => {
    isOver = true;
  });
  expect(await calling).toBeLessThan(maxMs);
  return growth;
}

test('many large results that are not read do not fill the memory, and do not delay another client', async () => {
  const { http, gateway } = await start();
  const growth = await expectServedWhile(http, async () => {
    for (let n = 0; n < 100; n++) {
      callWithoutReading(http, 'big', { bytes: 6 * MiB });
      await pause(30);
      await expect.poll(() => gateway.status()[0]?.inFlight).toBeLessThan(3);
    }
  });
  // 600 MiB were requested. What callers may leave unread is limited, and calls beyond that are not sent.
  expect(growth).toBeLessThan(350);
});

test('large results on event streams that are not read do not fill the memory either', async () => {
  const { http, gateway } = await start();
  const inFlight = () => gateway.status()[0]?.inFlight;
  // The first progress makes each response a stream, and all calls begin before the first of them ends.
  const args = { bytes: 8 * MiB, delayMs: 500 };
  const sockets = Array.from({ length: 40 }, () => callWithoutReading(http, 'late', args));
  await expect.poll(inFlight, { interval: 10 }).toBe(40);
  await expect.poll(inFlight, { timeout: 50_000 }).toBe(0);
  // 320 MiB were requested. A caller may leave 64 MiB unread, besides what the system buffers.
  const complete = (await Promise.all(sockets.map(bytesOf))).filter((bytes) => bytes > args.bytes).length;
  expect(complete).toBeGreaterThan(5);
  expect(complete).toBeLessThan(25);
});

test('progress that is not read does not fill the memory, and does not delay another client', async () => {
  const { http, gateway } = await start();
  const growth = await expectServedWhile(http, async () => {
    for (let n = 0; n < 5; n++) callWithoutReading(http, 'chatty', { count: 20_000, bytes: 1_000 });
    await expect.poll(() => gateway.status()[0]?.inFlight).toBeGreaterThan(3);
    await expect.poll(() => gateway.status()[0]?.inFlight, { timeout: 50_000 }).toBeLessThan(2);
  });
  expect(growth).toBeLessThan(100);
});

test('a pipe that is not read holds a limited number of results; the others are errors', async () => {
  const { http, gateway } = await start({ timeoutMs: 60_000 });
  const input = new PassThrough();
  let [written, release] = ['', (): void => {}];
  // Takes one chunk, and no more until the test says so.
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written += chunk.toString('latin1');
      release = done;
    },
  });
  const served = serveStream(gateway.server, input, output, { transport: 'stdio' });
  closers.push(() => served.close());
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'slow', version: '1' } };
  send({ id: 0, method: 'initialize', params });
  await expect.poll(() => written).toContain('protocolVersion');
  release();
  send({ method: 'notifications/initialized' });
  const count = 60;
  const callAll = async (): Promise<void> => {
    for (let id = 1; id <= count; id++) {
      send({ id, method: 'tools/call', params: { name: 'one__big', arguments: { bytes: 4 * MiB } } });
    }
    await expect.poll(() => gateway.status()[0]?.inFlight).toBeGreaterThan(10);
    await expect.poll(() => gateway.status()[0]?.inFlight, { timeout: 50_000 }).toBeLessThan(2);
  };
  // The server writes the 240 MiB before it answers the next call; the pipe is read as fast as it writes.
  const growth = await expectServedWhile(http, callAll, 30_000);
  expect(growth).toBeLessThan(500);
  // What was buffered arrives, and each call has a response.
  const reading = setInterval(() => release(), 1);
  const responses = (): number => written.split('\n').filter((line) => line.includes('"id":')).length;
  await expect.poll(responses, { timeout: 50_000 }).toBe(count + 1);
  clearInterval(reading);
  const errors = written.split('\n').filter((line) => line.includes('"error":')).length;
  expect(errors).toBeGreaterThan(10);
  expect(errors).toBeLessThan(count);
});

test('a result above the limit is an error of its call; calls of others on the same pipe go on', async () => {
  const { http } = await start({ maxResultBytes: MiB });
  const client = await connect(http.url, { revision: '2025-11-25', headers: { authorization: 'slow' } });
  closers.push(() => client.close());
  const { content } = await (await otherClient(http)).callTool('one__quick');
  await expectServedWhile(http, async () => {
    for (let n = 0; n < 5; n++) {
      callWithoutReading(http, 'big', { bytes: 3 * MiB });
      const result = await client.callTool('one__big', { bytes: 3 * MiB });
      const text = expect.stringContaining('exceeds');
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
    }
  });
  // The same process.
  expect((await (await otherClient(http)).callTool('one__quick')).content).toEqual(content);
});
