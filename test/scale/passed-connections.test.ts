// Connections that a worker gets from the process that started it: they have the limits and the end of connections of its own port.
import { once } from 'node:events';
import { get } from 'node:https';
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { PassedConnections } from '../../src/app/workers/passed-connections.ts';
import type { FromWorker } from '../../src/app/workers/worker-messages.ts';
import { createServer, type HttpOptions } from '../../src/index.ts';
import { serveHttp } from '../../src/transports/http/node/serve.ts';
import { createCertificate } from '../support/certificate.ts';
import { useClosers } from '../support/closers.ts';
import { EventReader, HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';

const closers = useClosers(afterEach);

/** A server whose connections are accepted by another one. */
async function start(options: HttpOptions = {}) {
  const sent: FromWorker[] = [];
  const sockets: Socket[] = [];
  /** Called when the messages that wait have been sent. Undefined: all are sent at once. */
  let waiting: (() => void)[] | undefined;
  let pass: (number: number, socket: Socket) => void = () => {};
  let passed = 0;
  const acceptor = createNetServer((socket) => {
    sockets.push(socket);
    pass(++passed, socket);
  });
  acceptor.listen(0, '127.0.0.1');
  await once(acceptor, 'listening');
  closers.push(() => void acceptor.close());
  const { port } = acceptor.address() as AddressInfo;
  const listener = new PassedConnections({
    openPort: async () => ({ port, reusePort: false }),
    onConnection: (receive) => {
      pass = receive;
    },
    send: (message, onSent) => {
      sent.push(message);
      if (waiting === undefined) onSent?.(null);
      else waiting.push(() => onSent?.(null));
    },
  });
  let finish: () => void = () => {};
  const server = createServer({ name: 'passed', version: '1', logger: false });
  server.tool('hold', {
    run: async (_args: unknown, ctx) => {
      await ctx.progress(1);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return 'held';
    },
  });
  const http = await serveHttp(server, { port: 0, ...options }, listener);
  closers.push(() => http.close());
  const client = new HttpTestClient(port);
  closers.push(() => client.close());
  return {
    ...{ port, http, client, sent, sockets },
    finish: () => finish(),
    /** The process that passes connections receives nothing until `resume`. */
    pause() {
      waiting = [];
    },
    resume() {
      const all = waiting ?? [];
      waiting = undefined;
      for (const onSent of all) onSent();
    },
  };
}

test('a client that does not finish its headers is disconnected', { timeout: 60_000 }, async () => {
  const { port } = await start({ limits: { headersTimeoutMs: 200 } });
  const slow = connect(port, '127.0.0.1');
  slow.on('error', () => {}); // It may be reset.
  slow.write('POST /mcp HTTP/1.1\r\nHost: x\r\n');
  slow.resume();
  await once(slow, 'close');
});

test('more connections than the limit are closed', async () => {
  const { port, client } = await start({ limits: { maxConnections: 1 } });
  expect((await client.send({ method: 'GET', path: '/livez' })).status).toBe(200);
  const second = connect(port, '127.0.0.1');
  second.on('error', () => {}); // It may be reset.
  second.resume();
  await once(second, 'close');
  expect((await client.send({ method: 'GET', path: '/livez' })).status).toBe(200);
});

test('a server that closes accepts no more connections, and ends when its calls have', {
  timeout: 60_000,
}, async () => {
  const { port, http, client, sent, finish } = await start();
  const params = { name: 'hold', _meta: { progressToken: 1 } };
  const body = modernBody('tools/call', params, 1, params._meta);
  const call = new EventReader(await client.open({ body, headers: modernHeaders('tools/call', params) }));
  await call.until(1);
  let isClosed = false;
  const closed = http.close({ portIsShared: true }).then(() => {
    isClosed = true;
  });
  expect(sent.at(-1)).toEqual({ type: 'closing' });
  const late = connect(port, '127.0.0.1');
  late.on('error', () => {}); // It may be reset.
  late.resume();
  await once(late, 'close');
  expect(sent.at(-1)).toMatchObject({ type: 'connection', accepted: false });
  expect(isClosed).toBe(false);
  finish();
  expect((await call.end()).at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'held' }] } });
  await closed;
});

test('nothing is read from a connection before its acknowledgement has been sent', { timeout: 60_000 }, async () => {
  const { port, sent, sockets, pause, resume } = await start();
  pause();
  const early = connect(port, '127.0.0.1');
  early.setEncoding('utf8');
  closers.push(() => void early.destroy());
  early.write(`GET /livez HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  await expect.poll(() => sent.length, { timeout: 20_000 }).toBe(1);
  // Another connection, whose data arrives later, has been read: so would have been that of the first one.
  const other = createNetServer((socket) => socket.once('data', () => socket.end('read')));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  closers.push(() => void other.close());
  for (let n = 0; n < 3; n++) {
    const later = connect((other.address() as AddressInfo).port, '127.0.0.1', () => later.write('x'));
    later.resume();
    await once(later, 'close');
  }
  expect(sockets[0]?.bytesRead).toBe(0);
  resume();
  const [response] = await once(early, 'data');
  expect(response).toContain('HTTP/1.1 200');
});

test('connections may be encrypted', async () => {
  const tls = createCertificate('127.0.0.1', 1);
  const { port } = await start({ tls });
  const status = await new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/livez', ca: tls.cert, agent: false }, ({ statusCode }) =>
      resolve(statusCode),
    ).once('error', reject);
  });
  expect(status).toBe(200);
});
