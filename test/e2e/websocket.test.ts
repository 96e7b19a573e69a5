// WebSockets: frames, eras, questions, keep-alive, back-pressure, close codes, and who may open one.

import { request as httpRequest } from 'node:http';
import type { Socket as NetSocket } from 'node:net';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpOptions, type HttpServer, type Server, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { initializeBody, type Message, modernBody } from '../support/http-client.ts';

const closers = useClosers();
const aborted: string[] = [];

async function start(options: HttpOptions = {}) {
  const server = createServer({ name: 'sockets', version: '1.0.0' });
  server.tool('echo', {
    description: 'Gives the text back',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }: { text?: string }) => text ?? '',
  });
  server.tool('ask', {
    description: 'Asks the model',
    run: async (_args: unknown, ctx) =>
      JSON.stringify(
        (await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: '?' } }], maxTokens: 5 }))
          .content,
      ),
  });
  server.tool('hang', {
    description: 'Ends only when cancelled',
    run: (_args: unknown, ctx) =>
      new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          aborted.push(String(ctx.requestId));
          reject(ctx.signal.reason);
        });
      }),
  });
  server.tool('flood', {
    description: 'Sends more than is read',
    run: async (_args: unknown, ctx) => {
      for (let n = 0; n < 4000; n++) {
        ctx.log('error', 'x'.repeat(16 * 1024));
        if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return 'flooded';
    },
  });
  server.resource('test://watched', { name: 'watched', read: () => '' });
  const http = await serveHttp(server, { port: 0, graceMs: 300, ...options });
  closers.push(() => http.close());
  return { server, http, url: http.url.replace('http', 'ws') };
}

let http: HttpServer;
let server: Server;
let url: string;
beforeAll(async () => {
  ({ http, server, url } = await start());
});

/** A client that keeps every message, to be looked at in any order. */
class Socket {
  readonly ws: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly opened: Promise<void>;

  constructor(address: string, protocols: string[] = [], options: object = {}) {
    this.ws = new WebSocket(address, protocols, options);
    this.ws.on('message', (data) => this.messages.push(JSON.parse(String(data))));
    this.closed = new Promise((resolve) =>
      this.ws.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
    this.opened = new Promise((resolve, reject) => this.ws.on('open', resolve).on('error', reject));
  }

  send(message: unknown): void {
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async answer(id: string | number): Promise<Message> {
    await expect.poll(() => this.messages.some((each) => each.id === id)).toBe(true);
    return this.messages.find((each) => each.id === id) as Message;
  }

  async said(method: string): Promise<Message> {
    await expect.poll(() => this.messages.some((each) => each.method === method)).toBe(true);
    return this.messages.find((each) => each.method === method) as Message;
  }
}

async function open(address = url, protocols: string[] = [], options: object = {}): Promise<Socket> {
  const socket = new Socket(address, protocols, options);
  await socket.opened;
  return socket;
}

/** The status with which an upgrade is rejected, or 101. */
function upgrade(
  headers: Record<string, string>,
  path = '/mcp',
  port = http.port,
): Promise<{ status: number; challenge?: string }> {
  return new Promise((resolve, reject) => {
    const all = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    };
    const outgoing = httpRequest({ host: '127.0.0.1', port, path, headers: all });
    outgoing.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode as number, challenge: response.headers['www-authenticate'] });
    });
    outgoing.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101 });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

describe('messages', () => {
  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'S4-54: %s is served, one message per text frame',
    async (version) => {
      const socket = await open();
      socket.send(initializeBody(version));
      expect(await socket.answer('open')).toMatchObject({ result: { protocolVersion: version } });
      socket.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      socket.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hé' } } });
      expect(await socket.answer(2)).toMatchObject({ result: { content: [{ text: 'hé' }] } });
      socket.ws.close();
    },
  );

  test('both eras work on one socket, each message decides for itself', async () => {
    const socket = await open();
    socket.send(modernBody('tools/call', { name: 'echo', arguments: { text: 'alone' } }, 'm1'));
    expect((await socket.answer('m1')).result).toMatchObject({ resultType: 'complete', content: [{ text: 'alone' }] });
    socket.send({ jsonrpc: '2.0', id: 'early', method: 'tools/list' });
    expect((await socket.answer('early')).error?.code).toBe(-32600);
    socket.send(initializeBody('2025-06-18'));
    await socket.answer('open');
    socket.send({
      jsonrpc: '2.0',
      id: 'l1',
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'session' } },
    });
    expect((await socket.answer('l1')).result).toEqual({ content: [{ type: 'text', text: 'session' }] });
    socket.send(modernBody('server/discover', {}, 'm2'));
    expect((await socket.answer('m2')).result).toHaveProperty('supportedVersions');
    socket.ws.close();
  });

  test('S4-55: input requests are sent on the same socket, on revisions with a handshake', async () => {
    const socket = await open();
    socket.send(initializeBody('2024-11-05', { sampling: {} }));
    await socket.answer('open');
    socket.send({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'ask' } });
    const question = await socket.said('sampling/createMessage');
    socket.send({
      jsonrpc: '2.0',
      id: question.id,
      result: { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' },
    });
    expect(JSON.stringify((await socket.answer(3)).result)).toContain('Paris');
    socket.send(
      modernBody('tools/call', { name: 'ask' }, 'alone', {
        'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
      }),
    );
    expect((await socket.answer('alone')).result).toMatchObject({ resultType: 'input_required' });
    socket.ws.close();
  });

  test('changes are pushed, to the session untagged and to each subscription tagged', async () => {
    const socket = await open();
    socket.send(initializeBody('2025-06-18'));
    await socket.answer('open');
    socket.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    socket.send(modernBody('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub'));
    await socket.said('notifications/subscriptions/acknowledged');
    server.tool('added', { description: 'x', run: () => '' }).remove();
    await expect
      .poll(() => socket.messages.filter(({ method }) => method === 'notifications/tools/list_changed').length)
      .toBe(2);
    const tags = socket.messages
      .filter(({ method }) => method === 'notifications/tools/list_changed')
      .map(
        ({ params }) =>
          (params?.['_meta'] as Record<string, unknown> | undefined)?.['io.modelcontextprotocol/subscriptionId'],
      );
    expect(new Set(tags)).toEqual(new Set([undefined, 'sub']));
    socket.ws.close();
  });

  test('text that is not JSON is answered, and the connection stays open', async () => {
    const socket = await open();
    socket.send('{"jsonrpc":');
    await expect.poll(() => socket.messages[0]?.error?.code).toBe(-32700);
    socket.send(modernBody('tools/list', {}, 'still here'));
    await socket.answer('still here');
    socket.ws.close();
  });

  test('batches are served where the negotiated revision has them', async () => {
    const socket = await open();
    socket.send([{ jsonrpc: '2.0', id: 1, method: 'ping' }]);
    await expect.poll(() => socket.messages[0]?.error?.code).toBe(-32600);
    socket.send(initializeBody('2025-03-26'));
    await socket.answer('open');
    socket.send([
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    await expect.poll(() => socket.messages.at(-1)).toMatchObject([{ id: 1 }, { id: 2 }]);
    socket.ws.close();
  });

  test('a call is cancelled by a notification, everything by closing', async () => {
    const socket = await open();
    socket.send(modernBody('tools/call', { name: 'hang' }, 'c1'));
    socket.send(modernBody('tools/call', { name: 'hang' }, 'c2'));
    socket.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'c1' } });
    await expect.poll(() => aborted.includes('c1')).toBe(true);
    expect(aborted).not.toContain('c2');
    socket.ws.close();
    await expect.poll(() => aborted.includes('c2')).toBe(true);
    expect(socket.messages).toEqual([]);
  });
});

describe('frames and close codes', () => {
  test('a binary frame closes with 1003', async () => {
    const socket = await open();
    socket.ws.send(Buffer.from('{}'));
    expect((await socket.closed).code).toBe(1003);
  });

  test('a frame beyond the limit closes with 1009', async () => {
    const small = await start({ limits: { maxBodyBytes: 10_000 } });
    const socket = await open(small.url);
    socket.send('x'.repeat(10_001));
    expect((await socket.closed).code).toBe(1009);
  });

  test('a message in thousands of frames is served, one in more of them closes with 1008', async () => {
    const socket = await open();
    const text = JSON.stringify(modernBody('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(1_500) } }, 1));
    const sendByBytes = (all: string): void => {
      for (const byte of all) socket.ws.send(byte, { fin: false });
    };
    sendByBytes(text);
    socket.ws.send('', { fin: true });
    expect((await socket.answer(1)).result).toMatchObject({ content: [{ text: 'x'.repeat(1_500) }] });
    sendByBytes('x'.repeat(2_049));
    expect((await socket.closed).code).toBe(1008);
  });

  describe('with a small share of the buffers', () => {
    const limits = { maxBufferedBytesPerCaller: 200_000, bufferWaitMs: 1 };
    const turn = () => new Promise((resolve) => setImmediate(resolve));

    test('a frame in packets of one byte counts for what it takes in memory', async () => {
      const socket = await open((await start({ limits })).url);
      const { _socket: raw } = socket.ws as unknown as { readonly _socket: NetSocket };
      raw.setNoDelay(true);
      // A frame of 10,000 bytes, masked with zeros.
      raw.write(Buffer.from([0x81, 0x80 | 126, 10_000 >> 8, 10_000 & 0xff, 0, 0, 0, 0]));
      for (let n = 0; n < 9_000 && socket.ws.readyState === WebSocket.OPEN; n++) {
        raw.write('x');
        await turn();
      }
      expect((await socket.closed).code).toBe(1013);
    });

    test('pings beside a part of a message do not make it count less', async () => {
      const socket = await open((await start({ limits })).url);
      const { _socket: raw } = socket.ws as unknown as { readonly _socket: NetSocket };
      for (let n = 0; n < 300 && socket.ws.readyState === WebSocket.OPEN; n++) {
        raw.cork();
        socket.ws.send('x', { fin: false });
        for (let pong = 0; pong < 100; pong++) socket.ws.pong('y'.repeat(125));
        raw.uncork();
        await turn();
      }
      expect((await socket.closed).code).toBe(1013);
    });

    test('pings do not count', async () => {
      const socket = await open((await start({ limits })).url);
      for (let n = 0; n < 3_000; n++) {
        socket.ws.ping();
        await turn();
      }
      socket.send(modernBody('tools/call', { name: 'echo', arguments: { text: 'still here' } }, 1));
      expect((await socket.answer(1)).result).toMatchObject({ content: [{ text: 'still here' }] });
    });
  });

  test('a text frame that is not UTF-8 closes with 1007', async () => {
    const socket = await open();
    socket.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
    expect((await socket.closed).code).toBe(1007);
  });

  test('S4-56: no subprotocol is needed, `mcp` is echoed, others are not', async () => {
    const [none, mcp, other] = [await open(), await open(url, ['mcp', 'x']), new Socket(url, ['chat'])];
    expect([none.ws.protocol, mcp.ws.protocol]).toEqual(['', 'mcp']);
    await expect(other.opened).rejects.toThrow();
    none.ws.close();
    mcp.ws.close();
  });

  test('a peer that does not answer pings is disconnected', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const quick = await start({ limits: { heartbeatMs: 40 } });
      const deaf = await open(quick.url, [], { autoPong: false });
      const lively = await open(quick.url);
      for (let n = 0; n < 3; n++) {
        const pinged = new Promise((resolve) => lively.ws.once('ping', resolve));
        vi.advanceTimersByTime(40);
        await pinged;
        // The pong is there before the response to a later request.
        await fetch(new URL('/health', quick.http.url));
      }
      expect((await deaf.closed).code).toBe(1006);
      lively.send(modernBody('tools/list', {}, 'alive'));
      await lively.answer('alive');
      lively.ws.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('a peer that never reads is disconnected at the queue limit, others are not affected', async () => {
    const tight = await start({ limits: { maxQueuedBytes: 64 * 1024 }, metricsPath: '/metrics' });
    const greedy = await open(tight.url);
    const other = await open(tight.url);
    expect(await held(tight.http.port)).toBe('2');
    greedy.ws.pause();
    greedy.send(modernBody('tools/call', { name: 'flood' }, 'f', { 'io.modelcontextprotocol/logLevel': 'debug' }));
    other.send(modernBody('tools/list', {}, 'fine'));
    await other.answer('fine');
    await expect.poll(() => held(tight.http.port)).toBe('1');
    greedy.ws.terminate();
    other.ws.close();
  });

  test('closing the server ends subscriptions, then closes with 1001', async () => {
    const brief = await start();
    const socket = await open(brief.url);
    socket.send(modernBody('subscriptions/listen', { notifications: { toolsListChanged: true } }, 'sub'));
    await socket.said('notifications/subscriptions/acknowledged');
    await brief.http.close();
    expect((await socket.closed).code).toBe(1001);
    expect(socket.messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/subscriptions/acknowledged',
      'notifications/cancelled',
      'sub',
    ]);
  });
});

describe('access', () => {
  const own = () => `127.0.0.1:${http.port}`;

  test('Host and Origin are checked before the protocol changes', async () => {
    expect((await upgrade({ Host: own() })).status).toBe(101);
    expect((await upgrade({ Host: own(), Origin: `http://${own()}` })).status).toBe(101);
    expect((await upgrade({ Host: own(), Origin: `http://localhost:${http.port}` })).status).toBe(101);
    for (const origin of [
      'https://evil.test',
      'null',
      `http://localhost.evil.test:${http.port}`,
      'http://localhost',
      `https://127.0.0.1:${http.port}`,
    ]) {
      expect((await upgrade({ Host: own(), Origin: origin })).status).toBe(403);
    }
    for (const host of ['evil.test', `evil.test:${http.port}`, `127.0.0.1:1`, `127.0.0.1.evil.test:${http.port}`]) {
      expect((await upgrade({ Host: host })).status).toBe(403);
    }
  });

  test('another path is rejected, and an upgrade to another protocol is ignored', async () => {
    expect((await upgrade({ Host: own() }, '/other')).status).toBe(404);
    expect((await upgrade({ Host: own(), Upgrade: 'h2c' }, '/health')).status).toBe(200);
    expect((await upgrade({ Host: own(), 'Sec-WebSocket-Version': '7' })).status).toBe(400);
  });

  test('S4-57: a socket needs a token', async () => {
    const guarded = await start({
      authenticate: (request) => (request.get('authorization') === 'Bearer good' ? { id: 'ada' } : undefined),
    });
    const host = `127.0.0.1:${guarded.http.port}`;
    expect(await upgrade({ Host: host }, '/mcp', guarded.http.port)).toEqual({ status: 401, challenge: 'Bearer' });
    expect((await upgrade({ Host: host, Authorization: 'Bearer bad' }, '/mcp', guarded.http.port)).status).toBe(401);
    expect((await upgrade({ Host: host, Authorization: 'Bearer good' }, '/mcp', guarded.http.port)).status).toBe(101);
  });

  test('too many sockets are rejected', async () => {
    const few = await start({ limits: { maxStreams: 1 } });
    const first = await open(few.url);
    expect((await upgrade({ Host: `127.0.0.1:${few.http.port}` }, '/mcp', few.http.port)).status).toBe(503);
    first.ws.close();
  });

  test('it can be switched off', async () => {
    const without = await start({ webSocket: false });
    expect((await upgrade({ Host: `127.0.0.1:${without.http.port}` }, '/mcp', without.http.port)).status).not.toBe(101);
  });
});

/** How many sockets the server says it holds. */
async function held(port: number): Promise<string | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return /^mooring_websockets (\d+)$/m.exec(text)?.[1];
}
