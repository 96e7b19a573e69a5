// A server that an application embeds in the wrong way: the response or the log says what is wrong and what to do.

import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Logger } from '../../src/common/logger.ts';
import { createServer, type EndpointOptions, type Server, toFetch, toNodeHandler } from '../../src/index.ts';
import { both, initializeBody } from '../support/http-client.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What the server has logged: the level, the message, and the message of the error. */
const logged: string[] = [];
beforeEach(() => void logged.splice(0));

const write =
  (level: string) =>
  (message: string, fields: { readonly error?: unknown; readonly path?: unknown } = {}): void =>
    void logged.push(`${level} ${message} ${fields.path} ${fields.error instanceof Error ? fields.error.message : ''}`);
const logger: Logger = {
  debug: () => {},
  info: () => {},
  notice: () => {},
  warn: write('warn'),
  error: write('error'),
  child: () => logger,
  enabled: (level) => level === 'warning' || level === 'error',
};

function shop(): Server {
  const server = createServer({ name: 'shop', version: '1.0.0', logger });
  server.tool('opening_hours', { run: () => '9 to 17' });
  return server;
}

function nodeHandler(options?: EndpointOptions) {
  const handler = toNodeHandler(shop(), options);
  closing.push(() => handler.close(0));
  return handler;
}

function fetchHandler(options?: EndpointOptions) {
  const handler = toFetch(shop(), options);
  closing.push(() => handler.close(0));
  return handler;
}

async function listen(listener: Parameters<typeof createHttpServer>[1]): Promise<string> {
  const http = createHttpServer(listener);
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  closing.push(() => {
    http.closeAllConnections();
    return new Promise((done) => http.close(done));
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function listenWithHono(app: Hono): Promise<string> {
  return new Promise((listening) => {
    const http = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) =>
      listening(`http://127.0.0.1:${port}`),
    );
    closing.push(() => new Promise((done) => http.close(done)));
  });
}

async function listenWithFastify(app: ReturnType<typeof Fastify>): Promise<string> {
  closing.push(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0 });
}

const initialize = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Accept: both, Connection: 'close' },
  body: JSON.stringify(initializeBody('2025-11-25')),
};

async function messageOf(response: Response): Promise<string> {
  return ((await response.json()) as { readonly error: { readonly message: string } }).error.message;
}

test('a body that was read and not passed on is an error of the application, not of the client', async () => {
  const handle = nodeHandler();
  const app = Fastify();
  app.all('/mcp', (request, reply) => {
    reply.hijack();
    handle(request.raw, reply.raw);
  });
  const response = await fetch(`${await listenWithFastify(app)}/mcp`, initialize);
  expect(response.status).toBe(500);
  expect(await messageOf(response)).toContain('the application has read the body of this request');
  expect(logged).toEqual([expect.stringMatching(/^error .*Pass on what it has parsed as request\.body .* \/mcp /)]);
});

test('the same for a Request, which would wait for its body forever', async () => {
  const handle = fetchHandler();
  const app = new Hono();
  app.use(async (c, next) => {
    await c.req.json();
    await next();
  });
  app.all('/mcp', (c) => handle(c.req.raw));
  const response = await fetch(`${await listenWithHono(app)}/mcp`, initialize);
  expect(response.status).toBe(500);
  expect(await messageOf(response)).toContain('the application has read the body of this request');
  expect(logged).toEqual([expect.stringMatching(/^error .*read only a copy, request\.clone\(\)/)]);
});

test('a body of which a copy was read is served', async () => {
  const request = new Request('http://localhost/mcp', initialize);
  await request.clone().text();
  expect((await fetchHandler()(request)).status).toBe(200);
});

test('a POST without a body is an error of the client', async () => {
  const url = await listen(express().use(express.json()).all('/mcp', nodeHandler()));
  const { body: _body, ...empty } = initialize;
  const response = await fetch(`${url}/mcp`, empty);
  expect(response.status).toBe(400);
  expect(logged).toEqual([]);
});

test('handlers that get something else say what they need', async () => {
  const node = nodeHandler() as (...args: unknown[]) => void;
  const web = fetchHandler() as (...args: unknown[]) => unknown;
  let mistakes: unknown[] = [];
  const app = Fastify();
  app.all('/mcp', (request, reply) => {
    mistakes = [node, web].map((handle) => {
      try {
        return handle(request, reply);
      } catch (error) {
        return error;
      }
    });
    reply.send('');
  });
  await fetch(`${await listenWithFastify(app)}/mcp`, initialize);
  expect(mistakes).toEqual([
    expect.objectContaining({ message: expect.stringContaining('With Fastify, pass request.raw and reply.raw') }),
    expect.objectContaining({ message: expect.stringContaining('use toNodeHandler') }),
  ]);
  const request = new Request('http://localhost/mcp', initialize);
  expect(() => node(request)).toThrow('use toFetch');
  expect(() => web({ req: { raw: request } })).toThrow('pass c.req.raw');
});

test('Express answers 500 where it was given a handler of toFetch', async () => {
  const app = express();
  app.set('env', 'test'); // Express prints errors in other environments
  const response = await fetch(`${await listen(app.all('/mcp', fetchHandler() as never))}/mcp`, initialize);
  expect(response.status).toBe(500);
  expect(await response.text()).toContain('use toNodeHandler');
});

test('an application that responds by itself is told how to leave that to the handler', async () => {
  const handle = nodeHandler();
  const url = await listen((request, response) => {
    handle(request, response);
    response.writeHead(404).end();
  });
  for (const _attempt of [1, 2]) expect((await fetch(`${url}/mcp`, initialize)).status).toBe(404);
  await expect.poll(() => logged.length).toBe(2);
  expect(logged[0]).toMatch(/^error .*The application has responded to this request.*reply\.hijack\(\)/);
});

test.each(['toNodeHandler', 'toFetch'])('%s logs once that it is mounted at another path', async (callee) => {
  const app = new Hono();
  const handle = fetchHandler();
  app.all('/api/*', (c) => handle(c.req.raw));
  const url =
    callee === 'toFetch' ? await listenWithHono(app) : await listen(express().all('/api/*path', nodeHandler()));
  expect((await fetch(`${url}/api/mcp`, { headers: initialize.headers })).status).toBe(404);
  expect(logged).toEqual([]);
  for (const path of ['/api/mcp', '/api/other']) {
    const response = await fetch(`${url}${path}`, initialize);
    expect(response.status).toBe(404);
    // Where the endpoint is may be a secret.
    expect(await messageOf(response)).toBe('Not Found: nothing is served at this path');
  }
  expect(logged).toEqual([expect.stringMatching(/^warn .*set the option path.* \/api\/mcp $/)]);
});

test('somebody who opens the endpoint in a browser sees what it is', async () => {
  const url = await listen(nodeHandler());
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const shown = await messageOf(await fetch(`${url}/mcp`, { headers: { Accept: browser } }));
  expect(shown).toContain('This is the endpoint of an MCP server');
  const stream = await messageOf(await fetch(`${url}/mcp`, { headers: { Accept: 'text/event-stream' } }));
  expect(stream).toBe('Bad Request: Mcp-Session-Id header is required');
});
