// toNodeHandler: the server as a handler in an application that listens by itself.

import { createServer as createHttpServer, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type EndpointOptions, type Server, toNodeHandler } from '../../src/index.ts';
import { both, initializeBody } from '../support/http-client.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function greeter(): Server {
  const server = createServer({ name: 'greeter', version: '1.0.0' });
  server.tool('greet', { run: (_args, ctx) => `hello ${ctx.principal?.id ?? 'you'}` });
  return server;
}

type Listener = Parameters<typeof createHttpServer>[1];

async function listen(listener: Listener): Promise<string> {
  const http = createHttpServer(listener);
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  closing.push(() => {
    http.closeAllConnections();
    return new Promise((done) => http.close(done));
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function handlerFor(server: Server, options?: EndpointOptions) {
  const handler = toNodeHandler(server, options);
  closing.push(() => handler.close(0));
  return handler;
}

const applications: Readonly<Record<string, (handler: ReturnType<typeof toNodeHandler>) => Listener>> = {
  'node:http': (handler) => (request, response) => handler(request, response),
  Express: (handler) => express().all('/mcp', handler),
  'Express with a prefix and a body parser': (handler) => express().use(express.json()).use('/mcp', handler),
  'Express with a text parser': (handler) =>
    express()
      .use(express.text({ type: '*/*' }))
      .all('/mcp', handler),
  'Express with middleware that replaces writeHead': (handler) =>
    express()
      .use((_request, response, next) => {
        replaceWriteHead(response);
        next();
      })
      .all('/mcp', handler),
};

/** What on-headers did before version 1.1, which compression and express-session used: of a list it reads pairs. */
function replaceWriteHead(response: ServerResponse): void {
  const writeHead = response.writeHead;
  response.writeHead = (status: number, headers?: unknown): ServerResponse => {
    const pairs = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
    for (const [name, value] of pairs) response.setHeader(name, value);
    return writeHead.call(response, status);
  };
}

describe.each(Object.entries(applications))('in %s', (_name, application) => {
  test.each(['2025-11-25', '2026-07-28'] as const)('clients of %s call tools', async (revision) => {
    const url = await listen(application(handlerFor(greeter())));
    const client = await connect(`${url}/mcp`, { revision });
    closing.push(() => client.close());
    expect(client.revision).toBe(revision);
    expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'hello you' }]);
  });
});

test.each(['2025-11-25', '2026-07-28'] as const)(
  'the user that middleware of the application has found is the caller, on %s',
  async (revision) => {
    const handler = handlerFor(greeter(), {
      authenticate: ({ raw }) => (raw as express.Request & { user?: { id: string } }).user,
    });
    const app = express()
      .use((request, _response, next) => {
        if (request.headers.cookie === 'session=ada') Object.assign(request, { user: { id: 'ada' } });
        next();
      })
      .all('/mcp', handler);
    const url = await listen(app);
    const client = await connect(`${url}/mcp`, { revision, headers: { cookie: 'session=ada' } });
    closing.push(() => client.close());
    expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'hello ada' }]);
    expect(await post(url, { user: 'ada' })).toBe(401);
  },
);

function post(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((done, failed) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const sent = send(`${url}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    });
    sent.on('response', (response) => done(response.resume().statusCode)).on('error', failed);
    sent.end(JSON.stringify(message));
  });
}

test('a page that rebinds its name to this machine is rejected, a listed host is not', async () => {
  const open = await listen(handlerFor(greeter()));
  expect(await post(open, { Host: 'attacker.example' })).toBe(403);
  expect(await post(open, { Host: 'localhost:3000' })).not.toBe(403);
  const listed = await listen(handlerFor(greeter(), { allowedHosts: ['shop.example'] }));
  expect(await post(listed, { Host: 'shop.example' })).not.toBe(403);
  expect(await post(listed, { Host: 'localhost:3000' })).toBe(403);
});

test('a user that the application authenticated is the principal', async () => {
  const url = await listen(handlerFor(greeter(), { authenticate: (request) => ({ id: request.get('x-user') ?? '' }) }));
  const client = await connect(`${url}/mcp`, { headers: { 'x-user': 'ada' } });
  closing.push(() => client.close());
  expect((await client.callTool('greet')).content).toEqual([{ type: 'text', text: 'hello ada' }]);
});

test('a compressed body is accepted from a parser that has inflated it, and from no other', async () => {
  const body = gzipSync(JSON.stringify(initializeBody('2025-11-25')));
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', Accept: both };
  const statusFrom = async (listener: Listener): Promise<number> =>
    (await fetch(`${await listen(listener)}/mcp`, { method: 'POST', headers, body })).status;
  expect(await statusFrom(express().use(express.json()).all('/mcp', handlerFor(greeter())))).toBe(200);
  expect(
    await statusFrom(
      express()
        .use(express.raw({ type: '*/*' }))
        .all('/mcp', handlerFor(greeter())),
    ),
  ).toBe(200);
  expect(await statusFrom(express().all('/mcp', handlerFor(greeter())))).toBe(415);
});

test.each([
  ['nothing', undefined, '127.0.0.1'],
  ['one proxy', 1, '192.0.2.7'],
])('when Express trusts %s, the address is that of the client', async (_name, trusted, address) => {
  const addresses: unknown[] = [];
  const server = createServer({ name: 'greeter', version: '1.0.0' });
  server.tool('greet', { run: () => 'hello' });
  server.observe({ ended: ({ request }) => void addresses.push(request.peer.address?.replace('::ffff:', '')) });
  const app = express().all('/mcp', handlerFor(server));
  if (trusted !== undefined) app.set('trust proxy', trusted);
  const headers = { 'X-Forwarded-For': '203.0.113.9, 192.0.2.7' };
  const client = await connect(`${await listen(app)}/mcp`, { headers });
  closing.push(() => client.close());
  await client.callTool('greet');
  expect(new Set(addresses)).toEqual(new Set([address]));
});

test('a parsed body that is too large is rejected', async () => {
  const handler = handlerFor(greeter(), { limits: { maxBodyBytes: 100 } });
  const url = await listen(express().use(express.json()).all('/mcp', handler));
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { text: 'x'.repeat(200) } } }),
  });
  expect(response.status).toBe(413);
});
