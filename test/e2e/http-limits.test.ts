// Limits: bodies, headers, connections, calls, streams, and readers that do not read.

import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { createServer, type HttpOptions } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { both, EventReader, type HttpTestClient, modernBody, modernHeaders } from '../support/http-client.ts';

const closers = useClosers();
const started: string[] = [];
const aborted: string[] = [];

async function start(options: HttpOptions = {}) {
  const server = createServer({ name: 'limits', version: '1.0.0' });
  server.tool('echo', {
    description: 'Gives the text back',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    run: ({ text }: { text?: string }) => text ?? '',
  });
  server.tool('hang', {
    description: 'Ends only when cancelled',
    run: (_args: unknown, ctx) =>
      new Promise((_, reject) => {
        started.push('hang');
        ctx.signal.addEventListener('abort', () => {
          aborted.push('hang');
          reject(ctx.signal.reason);
        });
      }),
  });
  server.tool('big', { description: 'Says a lot', run: () => 'x'.repeat(24 * 1024 * 1024) });
  const { http, client } = await startHttp(closers, server, { metricsPath: '/metrics', ...options });
  return { server, http, client, port: http.port };
}

const echo = { name: 'echo', arguments: { text: 'x' } };
const gigabyte = 1024 ** 3;

/** Streams a body that is far too large and gives the status; counts what the server let it send. */
function flood(port: number, headers: Record<string, string>): Promise<{ status: number; sent: number }> {
  return new Promise((resolve, reject) => {
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    let sent = 0;
    let status = 0;
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      path: '/mcp',
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
    });
    const finish = (): void =>
      status === 0 ? reject(new Error('cut off without an answer')) : resolve({ status, sent });
    outgoing.on('response', (response) => {
      status = response.statusCode as number;
      response.resume();
    });
    outgoing.on('error', finish);
    outgoing.on('close', finish);
    const write = (): void => {
      while (sent < gigabyte && !outgoing.destroyed) {
        sent += chunk.length;
        if (!outgoing.write(chunk)) {
          outgoing.once('drain', write);
          return;
        }
      }
    };
    write();
  });
}

async function metric(client: HttpTestClient, name: string): Promise<number> {
  const { text } = await client.send({ method: 'GET', path: '/metrics' });
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

describe('bodies', () => {
  test.each<[string, Record<string, string>, number]>([
    ['that says so', { 'Content-Length': String(gigabyte) }, 8 * 1024 * 1024],
    ['that does not say so', { 'Transfer-Encoding': 'chunked' }, 20 * 1024 * 1024],
    ['that waits to be asked', { 'Content-Length': String(gigabyte), Expect: '100-continue' }, 8 * 1024 * 1024],
  ])('one of 1 GiB %s is rejected early, and others are served', async (_name, headers, limit) => {
    const { client, port } = await start();
    const rss = process.memoryUsage().rss;
    const flooding = flood(port, headers);
    expect((await client.modern('tools/call', echo)).status).toBe(200);
    const { status, sent } = await flooding;
    expect(status).toBe(413);
    expect(sent).toBeLessThan(limit);
    // Both ends are in this process: 32 MiB for the server, as much again for the sender's buffers.
    expect(process.memoryUsage().rss - rss).toBeLessThan(64 * 1024 * 1024);
    expect((await client.modern('tools/call', echo)).status).toBe(200);
  });

  test('the largest one that is allowed is served', async () => {
    const { client } = await start({ limits: { maxBodyBytes: 2000 } });
    const size = (text: string) =>
      Buffer.byteLength(JSON.stringify(modernBody('tools/call', { name: 'echo', arguments: { text } })));
    const space = 2000 - size('');
    expect((await client.modern('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(space) } })).status).toBe(
      200,
    );
    const over = await client.modern('tools/call', { name: 'echo', arguments: { text: 'x'.repeat(space + 1) } });
    expect([over.status, over.json.error?.code]).toEqual([413, -32600]);
  });

  test('a body in many chunks, split anywhere, is joined correctly', async () => {
    const { port } = await start();
    const text = 'ü€😀'.repeat(3000);
    const body = Buffer.from(JSON.stringify(modernBody('tools/call', { name: 'echo', arguments: { text } })));
    const answer = await new Promise<string>((resolve, reject) => {
      const headers = { ...modernHeaders('tools/call', { name: 'echo' }), 'Content-Type': 'application/json' };
      const outgoing = httpRequest({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (response) => {
        let heard = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          heard += chunk;
        });
        response.on('end', () => resolve(heard));
      });
      outgoing.on('error', reject);
      for (let at = 0; at < body.length; at += 997) outgoing.write(body.subarray(at, at + 997));
      outgoing.end();
    });
    expect(JSON.parse(answer).result.content[0].text).toBe(text);
  });

  test('endless nesting is rejected', async () => {
    const { client } = await start();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const answer = await client.send({
      body: `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${deep}}}`,
      headers: modernHeaders('x'),
    });
    expect([answer.status, answer.json.error?.code]).toEqual([400, -32600]);
  });
});

describe('headers and connections', () => {
  test('headers beyond the limit are rejected with 431', async () => {
    const { client } = await start({ limits: { maxHeaderBytes: 4096 } });
    expect((await client.modern('tools/call', echo, { headers: { 'X-Big': 'x'.repeat(5000) } })).status).toBe(431);
  });

  test('one address may hold only so many connections', async () => {
    const { port, client } = await start({ limits: { maxConnectionsPerAddress: 3 } });
    const open: Socket[] = [];
    const closed: Socket[] = [];
    for (let n = 0; n < 6; n++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('close', () => closed.push(socket));
      socket.on('error', () => {});
      open.push(socket);
    }
    await expect.poll(() => closed.length).toBe(3);
    for (const socket of open) socket.destroy();
    await expect
      .poll(() =>
        client.modern('tools/call', echo).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
  });

  test('200 slow sockets are closed, and do not affect a normal client meanwhile', async () => {
    const { port, client } = await start({ limits: { headersTimeoutMs: 600, requestTimeoutMs: 900 } });
    let cut = 0;
    const slow: Socket[] = [];
    for (let n = 0; n < 200; n++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => cut++);
      // Half of them never end their headers, the others never end their body.
      const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
      socket.write(n % 2 === 0 ? head : `${head}Content-Length: 1000\r\n\r\n{`);
      slow.push(socket);
    }
    const drip = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write('x');
    }, 100);
    for (let n = 0; n < 50; n++) expect((await client.modern('tools/call', echo)).status).toBe(200);
    await expect.poll(() => cut).toBe(200);
    clearInterval(drip);
    expect((await client.modern('tools/call', echo)).status).toBe(200);
  });
});

describe('calls and streams', () => {
  test('requests in flight are counted, and beyond the limit rejected', async () => {
    const { client } = await start({ limits: { maxInFlight: 2 } });
    const session = await client.initialize();
    const begun = started.length;
    const hanging = [
      client.open({
        body: modernBody('tools/call', { name: 'hang' }),
        headers: modernHeaders('tools/call', { name: 'hang' }),
      }),
      client.open({
        body: { jsonrpc: '2.0', id: 'h', method: 'tools/call', params: { name: 'hang' } },
        headers: { Accept: both, 'Mcp-Session-Id': session },
      }),
    ];
    for (const each of hanging) each.catch(() => {});
    await expect.poll(() => started.length).toBe(begun + 2);
    const busy = await client.modern('tools/call', echo);
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '1']);
    client.close();
    await expect.poll(async () => (await client.modern('tools/call', echo)).status).toBe(200);
  });

  test('open streams are counted, and beyond the limit rejected', async () => {
    const { client } = await start({ limits: { maxStreams: 1 } });
    const session = await client.initialize();
    const listen = { notifications: { toolsListChanged: true } };
    const first = new EventReader(
      await client.open({
        body: modernBody('subscriptions/listen', listen),
        headers: modernHeaders('subscriptions/listen'),
      }),
    );
    await first.until(1);
    expect(
      (await client.send({ method: 'GET', headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': session } }))
        .status,
    ).toBe(503);
    expect((await client.send({ method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } })).status).toBe(
      503,
    );
    const late = await client.modern('subscriptions/listen', listen, { id: 'late' });
    expect([late.status, late.headers['retry-after'], late.json.id]).toEqual([503, '1', 'late']);
    const onlyJson = await client.modern('subscriptions/listen', listen, { headers: { Accept: 'application/json' } });
    expect(onlyJson.status).toBe(406);
    expect((await client.modern('tools/call', echo)).status).toBe(200);
    first.cut();
    await expect.poll(async () => metric(client, 'mooring_http_streams')).toBe(0);
  });

  test('idle streams send comments', async () => {
    const { client } = await start({ limits: { heartbeatMs: 30 } });
    const response = await client.open({
      body: modernBody('subscriptions/listen', { notifications: {} }),
      headers: modernHeaders('subscriptions/listen'),
    });
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await expect.poll(() => text.split('\n\n').filter((each) => each === ':').length).toBeGreaterThanOrEqual(3);
    response.destroy();
  });

  test('a subscriber that never reads is disconnected at the queue limit, the others receive everything', async () => {
    const { server, client } = await start({ limits: { maxQueuedBytes: 32 * 1024 } });
    const uris = Array.from({ length: 40 }, (_, n) => `test://${n}/${'x'.repeat(2000)}`);
    for (const uri of uris) server.resource(uri, { name: uri.slice(0, 20), read: () => '' });
    const params = { notifications: { resourceSubscriptions: uris } };
    const open = () =>
      client.open({ body: modernBody('subscriptions/listen', params), headers: modernHeaders('subscriptions/listen') });
    const deaf = await open();
    deaf.pause();
    const attentive = new EventReader(await open());
    await attentive.until(1);
    const dropped = () => metric(client, 'mooring_http_dropped_streams_total');
    let told = 0;
    for (let round = 0; round < 400 && (await dropped()) === 0; round++) {
      for (const uri of uris) server.resourceUpdated(uri);
      told += uris.length;
      await attentive.until(1 + told);
    }
    expect(await dropped()).toBe(1);
    expect(await metric(client, 'mooring_http_streams')).toBe(1);
    expect(attentive.messages).toHaveLength(1 + told);
    attentive.cut();
    deaf.destroy();
  });

  test('a client that reads nothing of its response is disconnected, one that reads slowly gets all of it', async () => {
    const { client, port } = await start({ limits: { stallTimeoutMs: 5_000 } });
    const body = JSON.stringify(modernBody('tools/call', { name: 'big' }));
    const head = Object.entries({
      ...modernHeaders('tools/call', { name: 'big' }),
      Host: `127.0.0.1:${port}`,
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
    });
    const ask = (): Socket => {
      const socket = connect(port, '127.0.0.1');
      socket.pause();
      socket.on('error', () => {});
      socket.write(`POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
      return socket;
    };
    const deaf = ask();
    const slow = ask();
    let read = 0;
    slow.on('data', (chunk: Buffer) => {
      read += chunk.length;
      slow.pause();
      setTimeout(() => slow.resume(), 1);
    });
    slow.resume();
    await expect.poll(() => read).toBeGreaterThan(24 * 1024 * 1024);
    // Left are the slow one and the one that asks for the figures.
    await expect.poll(() => metric(client, 'mooring_http_connections')).toBe(2);
    slow.destroy();
    deaf.destroy();
  });
});
