import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SocketPool } from '../../src/client/transports/socket-pool.ts';

let server: Server;
let connections = 0;
let answer: (respond: () => void) => void;

beforeEach(async () => {
  connections = 0;
  answer = (respond) => respond();
  server = createServer((incoming, response) => {
    incoming.resume();
    answer(() => response.end('ok'));
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

function open(maxSockets: number): SocketPool {
  return new SocketPool(Agent, maxSockets);
}

/** Sends a request and reads the response; resolves when the connection is free again. */
async function visit(pool: SocketPool): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ agent: pool.agent(), host: '127.0.0.1', port, method: 'POST' });
  sent.end('x');
  const [reply] = await once(sent, 'response');
  reply.resume();
  await once(sent, 'close');
  await new Promise((next) => setImmediate(next));
}

test('a connection is reused, and requests beyond the limit wait for one', async () => {
  const pool = open(2);
  await visit(pool);
  await visit(pool);
  expect(connections).toBe(1);
  await Promise.all(Array.from({ length: 20 }, () => visit(pool)));
  expect(connections).toBe(2);
  pool.close();
});

test('a connection that was idle for long is not reused, even if its timer has not run', async () => {
  const pool = open(2);
  await visit(pool);
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 60_000);
  await visit(pool);
  vi.restoreAllMocks();
  expect(connections).toBe(2);
  pool.close();
});

test('a closed pool opens no connection, neither for waiting requests nor for new ones', async () => {
  const pool = open(1);
  let arrived = (): void => {};
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  answer = () => arrived();
  const visits = Promise.allSettled([visit(pool), visit(pool), visit(pool)]);
  await first;
  pool.close();
  expect((await visits).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(visit(pool)).rejects.toThrow('closed');
  expect(connections).toBe(1);
});
