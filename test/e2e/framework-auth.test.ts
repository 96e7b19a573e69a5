// Applications that know their users before MCP is reached: Hono, Next.js route handlers, Express and Fastify pass the user on
// in a header, as the guide about embedding shows.

import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type EndpointOptions, type Server, toFetch, toNodeHandler } from '../../src/index.ts';

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function shop(): Server {
  const server = createServer({ name: 'shop', version: '1.0.0' });
  server.tool('who_am_i', { run: (_args, ctx) => String(ctx.principal?.id) });
  return server;
}

const options: EndpointOptions = {
  authenticate: (request) => {
    const id = request.get('x-user');
    return id === undefined ? undefined : { id };
  },
};

const findUser = (cookie: string | null | undefined): string | undefined => /session=(\w+)/.exec(cookie ?? '')?.[1];

/** What a handler of web-standard requests does before it calls the server. */
function withUser(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.delete('x-user');
  const user = findUser(headers.get('cookie'));
  if (user !== undefined) headers.set('x-user', user);
  return new Request(request, { headers });
}

/** The same for requests of node:http. */
function setUser(headers: Record<string, string | string[] | undefined>): void {
  delete headers['x-user'];
  const user = findUser(headers['cookie'] as string | undefined);
  if (user !== undefined) headers['x-user'] = user;
}

const urlOf = (address: AddressInfo): string => `http://127.0.0.1:${address.port}/mcp`;

/** Starts an application; resolves with the URL of its endpoint. */
const applications: Readonly<Record<string, () => Promise<string>>> = {
  Hono: async () => {
    const mcp = toFetch(shop(), options);
    const app = new Hono();
    app.all('/mcp', (c) => mcp(withUser(c.req.raw)));
    return listenWithHono(app.fetch);
  },
  // Next.js calls the exported functions of a route with a web-standard request.
  'Next.js': async () => {
    const mcp = toFetch(shop(), options);
    const handle = (request: Request): Promise<Response> => mcp(withUser(request));
    const route = { GET: handle, POST: handle, DELETE: handle };
    return listenWithHono(async (request) => route[request.method as keyof typeof route](request));
  },
  Express: async () => {
    const handle = toNodeHandler(shop(), options);
    const app = express();
    app.use(express.json());
    app.all('/mcp', (request, response) => {
      setUser(request.headers);
      handle(request, response);
    });
    const http = createHttpServer(app);
    await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
    closing.push(() => {
      http.closeAllConnections();
      return new Promise((done) => http.close(done));
    });
    return urlOf(http.address() as AddressInfo);
  },
  Fastify: async () => {
    const handle = toNodeHandler(shop(), options);
    const app = Fastify({ forceCloseConnections: true });
    app.all('/mcp', (request, reply) => {
      setUser(request.raw.headers);
      reply.hijack();
      handle(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    closing.push(() => app.close());
    return urlOf(app.server.address() as AddressInfo);
  },
};

function listenWithHono(fetch: (request: Request) => Response | Promise<Response>): Promise<string> {
  return new Promise((listening) => {
    const http = serve({ fetch, hostname: '127.0.0.1', port: 0 }, (address) => listening(urlOf(address)));
    closing.push(
      () =>
        new Promise((done) => {
          http.close(done);
          if ('closeAllConnections' in http) http.closeAllConnections();
        }),
    );
  });
}

describe.each(Object.entries(applications))('%s', (_name, start) => {
  test.each(['2025-11-25', '2026-07-28'])('the user of the application is the principal (%s)', async (revision) => {
    const client = await connect(await start(), { revision, headers: { cookie: 'session=ada' }, eraCache: false });
    closing.push(() => client.close());
    expect((await client.callTool('who_am_i')).content).toEqual([{ type: 'text', text: 'ada' }]);
  });

  test('without a session, and with a header that only the application may set, clients are rejected', async () => {
    const url = await start();
    const attempts: readonly Record<string, string>[] = [{}, { 'x-user': 'ada' }];
    for (const headers of attempts) {
      await expect(connect(url, { headers, eraCache: false })).rejects.toMatchObject({ code: 'unauthorized' });
    }
  });
});
