// Connections: when they stay open, how they are upgraded, and that responses are sent in order.

import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpOptions, type HttpServer, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';
import { ensureProgram } from '../support/programs.ts';

const closers = useClosers();
const order: string[] = [];
let release: (() => void)[] = [];

async function start(options: HttpOptions = {}) {
  const server = createServer({ name: 'connection', version: '1.0.0' });
  server.tool('echo', {
    description: 'Gives the text back',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }: { text?: string }) => {
      order.push(text ?? '');
      return text ?? '';
    },
  });
  server.tool('wait', {
    description: 'Waits to be released',
    run: () => {
      order.push('wait');
      return new Promise<string>((resolve) => release.push(() => resolve('released')));
    },
  });
  const http = await serveHttp(server, { port: 0, graceMs: 100, metricsPath: '/metrics', ...options });
  closers.push(() => http.close());
  return http;
}

let http: HttpServer;
let client: HttpTestClient;
beforeAll(async () => {
  http = await start();
  client = new HttpTestClient(http.port);
  closers.push(() => client.close());
});

const headerLines = (headers: Record<string, string>): string =>
  Object.entries({ Host: `127.0.0.1:${http.port}`, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

function call(name: string, args: object = {}, headers: Record<string, string> = {}): string {
  const params = { name, arguments: args };
  const body = JSON.stringify(modernBody('tools/call', params));
  const all = { ...modernHeaders('tools/call', params), 'Content-Type': 'application/json', ...headers };
  return `POST /mcp HTTP/1.1\r\n${headerLines({ ...all, 'Content-Length': String(body.length) })}\r\n${body}`;
}

interface Raw {
  readonly socket: Socket;
  readonly text: () => string;
  readonly closed: Promise<void>;
}

function raw(...texts: string[]): Raw {
  const socket = connect(http.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  for (const each of texts) socket.write(each);
  closers.push(() => void socket.destroy());
  return { socket, text: () => text, closed };
}

const statuses = (text: string): string[] =>
  [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status as string);

describe('a request that is answered before its body was read', () => {
  const cases: Record<string, { status: string; head: string }> = {
    'to a path that does not exist': { status: '404', head: 'POST /nowhere HTTP/1.1' },
    'with a method that is not served': { status: '405', head: 'PUT /mcp HTTP/1.1' },
    'of another type': { status: '415', head: 'POST /mcp HTTP/1.1\r\nContent-Type: text/plain' },
    'that is too large': {
      status: '413',
      head: 'POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream',
    },
  };

  test.each(Object.keys(cases))('%s: the response announces the end of the connection, and it ends', async (name) => {
    const { status, head } = cases[name] as (typeof cases)[string];
    const length = status === '413' ? 11 * 1024 * 1024 : 100;
    const { text, closed } = raw(`${head}\r\n${headerLines({ 'Content-Length': String(length) })}\r\n{`);
    await closed;
    expect(statuses(text())).toEqual([status]);
    expect(text()).toMatch(/^Connection: close\r$/im);
    expect(text()).not.toMatch(/keep-alive/i);
    // All of it arrived: the client is given the time to read it.
    const [, body] = text().split('\r\n\r\n');
    expect(body).toHaveLength(Number(/^Content-Length: (\d+)\r$/im.exec(text())?.[1]));
  });

  test('a client with a pool of connections opens a new one, and gets no reset', async () => {
    const before = new HttpTestClient(http.port);
    for (let n = 0; n < 5; n++) {
      const rejected = await before.send({ path: '/nowhere', body: { text: 'x'.repeat(200_000) } });
      expect([rejected.status, rejected.headers['connection']]).toEqual([404, 'close']);
      expect((await before.modern('tools/list')).status).toBe(200);
    }
    before.close();
  });

  test('a request without a body keeps its connection, and so does one whose body was read', async () => {
    for (const wanted of [
      { method: 'GET', path: '/health' },
      { method: 'GET', path: '/nowhere' },
      { method: 'DELETE', path: '/mcp' },
      { path: '/mcp', body: '{"jsonrpc"', headers: modernHeaders('tools/list') },
    ]) {
      expect((await client.send(wanted)).headers['connection'], JSON.stringify(wanted)).toBe('keep-alive');
    }
  });
});

test('the error for a compressed body names Content-Encoding, on both transports', async () => {
  const body = gzipSync(JSON.stringify(modernBody('tools/list'))).toString('latin1');
  const stream = raw(`GET /sse HTTP/1.1\r\n${headerLines({ Accept: 'text/event-stream' })}\r\n`);
  await expect.poll(() => /data: (\S+)/.exec(stream.text())?.[1]).toBeTruthy();
  for (const path of ['/mcp', /data: (\S+)/.exec(stream.text())?.[1] as string]) {
    const answer = await client.send({
      path,
      body,
      headers: { ...modernHeaders('tools/list'), 'Content-Encoding': 'gzip' },
    });
    expect([answer.status, answer.headers['accept-encoding']]).toEqual([415, 'identity']);
    expect(answer.json.error?.message).toContain('Content-Encoding gzip');
    expect(answer.json.error?.message).not.toContain('Content-Type');
  }
  const plain = { ...modernHeaders('tools/list'), 'Content-Encoding': 'identity' };
  expect((await client.send({ body: modernBody('tools/list'), headers: plain })).status).toBe(200);
});

describe('an upgrade to another protocol', () => {
  const offer = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABkAARAAAAAAAIAAAAA' };

  test('is ignored, with and without a body, and the connection continues', async () => {
    const get = `GET /health HTTP/1.1\r\n${headerLines(offer)}\r\n`;
    const { socket, text } = raw(get, get, call('echo', { text: 'h2c' }, offer));
    await expect.poll(() => statuses(text())).toEqual(['200', '200', '200']);
    expect(text()).toContain('"h2c"');
    socket.write(get + call('echo', { text: 'plain' }));
    await expect.poll(() => statuses(text())).toEqual(['200', '200', '200', '200', '200']);
    expect(text()).toContain('"plain"');
    expect(text()).not.toMatch(/^(Upgrade|Connection: close)/im);
  });

  test('is ignored with a body that arrives later, in chunks', async () => {
    const whole = call('echo', { text: 'late' }, offer);
    const { socket, text } = raw(whole.slice(0, -30));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.write(whole.slice(-30, -10));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.write(whole.slice(-10));
    await expect.poll(() => statuses(text())).toEqual(['200']);
  });

  test('does not bypass the checks of any other request', async () => {
    const headers = { ...offer, Host: 'evil.test' };
    const { text } = raw(`GET /health HTTP/1.1\r\n${headerLines(headers)}\r\n`);
    await expect.poll(() => statuses(text())).toEqual(['403']);
  });

  test('connections are counted once', async () => {
    const before = await connections();
    const sockets = await Promise.all(
      [1, 2, 3].map(async () => {
        const each = raw(`GET /health HTTP/1.1\r\n${headerLines(offer)}\r\n`);
        await expect.poll(() => statuses(each.text())).toEqual(['200']);
        return each;
      }),
    );
    expect(await connections()).toBe(before + 3);
    for (const { socket } of sockets) socket.destroy();
    await expect.poll(connections).toBe(before);
  });

  test.skipIf(!ensureProgram('curl'))('curl --http2 is served', async () => {
    const body = JSON.stringify(modernBody('tools/call', { name: 'echo', arguments: { text: 'curl' } }));
    const headers = { ...modernHeaders('tools/call', { name: 'echo' }), 'Content-Type': 'application/json' };
    const args = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
    const curl = spawn('curl', [
      '-sS',
      '--http2',
      '-w',
      ' %{http_code} %{http_version}',
      ...args,
      '-d',
      body,
      http.url,
    ]);
    let said = '';
    curl.stdout.on('data', (chunk) => {
      said += chunk;
    });
    curl.stderr.on('data', (chunk) => {
      said += chunk;
    });
    await new Promise((resolve) => curl.once('close', resolve));
    expect(said).toContain('"curl"');
    expect(said).toMatch(/ 200 1\.1$/);
  });

  async function connections(): Promise<number> {
    const { text } = await client.send({ method: 'GET', path: '/metrics' });
    return Number(/^mooring_http_connections (\d+)$/m.exec(text)?.[1]);
  }
});

describe('pipelined requests', () => {
  test('are served one after the other, and answered in order', async () => {
    order.length = 0;
    release = [];
    const { text } = raw(call('wait') + call('echo', { text: 'second' }) + call('echo', { text: 'third' }));
    await expect.poll(() => release.length).toBe(1);
    // The others are there by now, and wait.
    expect((await client.modern('tools/list')).status).toBe(200);
    expect(order).toEqual(['wait']);
    release[0]?.();
    await expect.poll(() => statuses(text())).toEqual(['200', '200', '200']);
    expect(order).toEqual(['wait', 'second', 'third']);
    expect(text().indexOf('released')).toBeLessThan(text().indexOf('second'));
    expect(text().indexOf('second')).toBeLessThan(text().indexOf('third'));
  });

  test('large bodies among them are read when it is their turn', async () => {
    release = [];
    const large = 'x'.repeat(2_000_000);
    const { text } = raw(call('wait') + call('echo', { text: large }) + call('echo', { text: 'after' }));
    await expect.poll(() => release.length).toBe(1);
    release[0]?.();
    await expect.poll(() => statuses(text())).toEqual(['200', '200', '200']);
    expect(text()).toContain('"after"');
  });

  test('a POST and a WebSocket do not mix: the socket opens once the response was sent', async () => {
    release = [];
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    };
    const open = `GET /mcp HTTP/1.1\r\n${headerLines(upgrade)}\r\n`;
    // A masked text frame with an empty mask.
    const message = JSON.stringify(modernBody('tools/list', {}, 'over the socket'));
    const head = Buffer.from([0x81, 0xfe, message.length >> 8, message.length & 255, 0, 0, 0, 0]);
    const { socket, text } = raw(call('wait') + call('echo', { text: 'second' }) + open);
    socket.write(Buffer.concat([head, Buffer.from(message)]));
    await expect.poll(() => release.length).toBe(1);
    expect((await client.modern('tools/list')).status).toBe(200);
    expect(text()).toBe('');
    release[0]?.();
    await expect.poll(() => text().includes('"over the socket"')).toBe(true);
    expect(statuses(text())).toEqual(['200', '200', '101']);
    const [answers, frames] = text().split('HTTP/1.1 101') as [string, string];
    expect(answers.trimEnd().endsWith('}')).toBe(true);
    expect(frames).toMatch(/^ Switching Protocols\r\n/);
  });
});

test('a WebSocket that receives data is alive, whether or not it answers pings', async () => {
  const heartbeatMs = 80;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const quick = await start({ limits: { heartbeatMs } });
    const socket = new WebSocket(quick.url.replace('http', 'ws'), { autoPong: false });
    const heard: string[] = [];
    let code = 0;
    socket.on('message', (data) => heard.push(String(data)));
    socket.on('close', (closed) => {
      code = closed;
    });
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    const text = JSON.stringify(
      modernBody('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(2_000) } }, 'slow'),
    );
    /** What was sent before is there when another request has its response. */
    const nextHeartbeat = async (): Promise<void> => {
      await client.modern('tools/list');
      vi.advanceTimersByTime(heartbeatMs);
    };
    const step = Math.ceil(text.length / 16);
    for (let at = 0; at < text.length; at += step) {
      socket.send(text.slice(at, at + step), { fin: at + step >= text.length });
      await nextHeartbeat();
    }
    await expect.poll(() => heard.length).toBe(1);
    expect([code, JSON.parse(heard[0] as string).id]).toEqual([0, 'slow']);
    // One that falls silent is cut off as before.
    for (let n = 0; n < 2; n++) await nextHeartbeat();
    await expect.poll(() => code).toBe(1006);
  } finally {
    vi.useRealTimers();
  }
});
