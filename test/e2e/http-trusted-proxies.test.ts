// Whose address a request has behind reverse proxies: over HTTP, HTTP+SSE and WebSocket, with and without TLS.

import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as connectSocket, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createServer, type HttpOptions, type Logger, serveHttp } from '../../src/index.ts';
import { createCertificate } from '../support/certificate.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { both, EventReader, initializeBody, modernBody } from '../support/http-client.ts';

const closers = useClosers();
/** The client added the first address itself. */
const forwarded = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' };

function where() {
  const server = createServer({ name: 'where', version: '1.0.0' });
  /** Address and port of the client, when a call has ended. */
  const ended: (readonly [address: string | undefined, hasPort: boolean])[] = [];
  server.observe({
    ended: ({ request: { peer } }) => void ended.push([peer.address, peer.port !== undefined]),
  });
  server.tool('steps', {
    run: async (_args: unknown, ctx) => {
      await ctx.progress(1, 1);
      return 'done';
    },
  });
  server.tool('hang', {
    run: (_args: unknown, ctx) =>
      new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  });
  return { server, ended };
}

async function start(options: HttpOptions = {}) {
  const { server, ended } = where();
  const warnings: string[] = [];
  const logger = {
    debug() {},
    info() {},
    warn: (message: string, fields?: object) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
    error() {},
    enabled: () => false,
  } as unknown as Logger;
  const { client, http } = await startHttp(closers, server, { logger, ...options });
  return { client, http, ended, warnings, port: http.port };
}

const steps = { name: 'steps', arguments: {} };
const token = { progressToken: 1 };

describe('a header from a peer that is not trusted', () => {
  test.each([
    ['without the option', {}],
    ['from a proxy that is not listed', { trustedProxies: ['192.0.2.80'] }],
  ])('is ignored, and logged once: %s', async (_when, options) => {
    const { client, ended, warnings } = await start(options);
    await client.modern('tools/call', steps, { headers: forwarded });
    await client.modern('tools/call', steps, { headers: forwarded });
    expect(ended).toEqual([
      ['127.0.0.1', true],
      ['127.0.0.1', true],
    ]);
    expect(warnings).toEqual([
      'X-Forwarded-For is ignored, because any client can send it. If this address is that of your proxy, add it with the option trustedProxies {"address":"127.0.0.1"}',
    ]);
  });
});

describe('behind a trusted proxy', () => {
  const trusted = { trustedProxies: ['loopback'] };

  test('the address is that of the client, and its port is not known', async () => {
    const { client, ended, warnings } = await start(trusted);
    await client.modern('tools/call', steps, { headers: forwarded });
    await client.modern('tools/call', steps);
    expect(ended).toEqual([
      ['203.0.113.9', false],
      ['127.0.0.1', true],
    ]);
    expect(warnings).toEqual([]);
  });

  test('a chain of two proxies: both must be trusted', async () => {
    const headers = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9, 192.0.2.80' };
    const both = await start({ trustedProxies: ['127.0.0.1', '192.0.2.0/24'] });
    await both.client.modern('tools/call', steps, { headers });
    const last = await start({ trustedProxies: ['127.0.0.1'] });
    await last.client.modern('tools/call', steps, { headers });
    expect([both.ended, last.ended]).toEqual([[['203.0.113.9', false]], [['192.0.2.80', false]]]);
  });

  test('several headers are one list', async () => {
    const { client, ended } = await start(trusted);
    const headers = { 'X-Forwarded-For': ['198.51.100.1', '203.0.113.9'] };
    await client.modern('tools/call', steps, { headers });
    expect(ended).toEqual([['203.0.113.9', false]]);
  });

  test('the requests of one connection may be those of several clients', async () => {
    const { client, ended } = await start(trusted);
    for (const address of ['203.0.113.9', '2001:DB8::9']) {
      await client.modern('tools/call', steps, { headers: { 'X-Forwarded-For': address } });
    }
    expect(ended.map(([address]) => address)).toEqual(['203.0.113.9', '2001:db8::9']);
  });

  test('the address is known after the headers of an open stream were released', async () => {
    const { client, ended } = await start(trusted);
    const answer = await client.modern('tools/call', steps, { headers: forwarded, meta: token });
    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(ended).toEqual([['203.0.113.9', false]]);
  });

  test('requests of a session', async () => {
    const { client, ended } = await start(trusted);
    const id = await client.initialize({ headers: forwarded });
    await client.session(id, 'tools/call', steps, { headers: forwarded });
    expect(new Set(ended.map(([address]) => address))).toEqual(new Set(['203.0.113.9']));
  });

  test('HTTP+SSE', async () => {
    const { client, ended } = await start(trusted);
    const response = await client.open({
      method: 'GET',
      path: '/sse',
      headers: { Accept: 'text/event-stream', ...forwarded },
    });
    const reader = new EventReader(response);
    closers.push(() => response.destroy());
    await expect.poll(() => reader.events.length).toBeGreaterThan(0);
    const path = reader.events[0]?.data as string;
    const headers = { Accept: both, ...forwarded };
    await client.send({ path, headers, body: initializeBody('2024-11-05') });
    await reader.until(1);
    await client.send({ path, headers, body: { jsonrpc: '2.0', method: 'notifications/initialized' } });
    await client.send({ path, headers, body: { jsonrpc: '2.0', id: 2, method: 'tools/call', params: steps } });
    await reader.until(2);
    expect(new Set(ended.map(([address]) => address))).toEqual(new Set(['203.0.113.9']));
  });

  test('WebSockets, also with TLS', async () => {
    const tls = createCertificate('127.0.0.1', 30);
    const plain = await start(trusted);
    const { server, ended } = where();
    const secure = await serveHttp(server, { port: 0, graceMs: 100, tls, ...trusted });
    closers.push(() => secure.close());
    for (const { url } of [plain.http, secure]) {
      const socket = new WebSocket(url.replace('http', 'ws'), 'mcp', { ca: tls.cert, headers: forwarded });
      await once(socket, 'open');
      socket.send(JSON.stringify(modernBody('tools/call', steps)));
      await once(socket, 'message');
      socket.close();
    }
    expect([plain.ended, ended]).toEqual([[['203.0.113.9', false]], [['203.0.113.9', false]]]);
  });

  test('requests with TLS', async () => {
    const tls = createCertificate('127.0.0.1', 30);
    const seen: (string | undefined)[] = [];
    const authenticate = ({ address }: { address: string | undefined }) => {
      seen.push(address);
      return { id: 'ada' };
    };
    const { server } = where();
    const http = await serveHttp(server, { port: 0, graceMs: 100, tls, authenticate, ...trusted });
    closers.push(() => http.close());
    const options = { host: '127.0.0.1', port: http.port, path: '/mcp', ca: tls.cert, agent: false } as const;
    const sent = httpsRequest({ ...options, headers: forwarded }).end();
    const [response] = await once(sent, 'response');
    response.resume();
    expect(seen).toEqual(['203.0.113.9']);
  });

  test('each client has its own share of the requests in flight', async () => {
    const { client, port } = await start({ ...trusted, limits: { maxInFlightPerCaller: 1 } });
    const body = JSON.stringify(modernBody('tools/call', { name: 'hang', arguments: {} }));
    const headers = {
      Host: `127.0.0.1:${port}`,
      'Content-Type': 'application/json',
      Accept: both,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'hang',
      ...forwarded,
    };
    const hanging = httpRequest({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers, agent: false });
    hanging.on('error', () => {}).end(body);
    const status = async (address: string) =>
      (await client.modern('tools/call', steps, { headers: { 'X-Forwarded-For': address } })).status;
    await expect.poll(() => status('203.0.113.9')).toBe(503);
    expect(await status('203.0.113.10')).toBe(200);
    hanging.destroy();
    await expect.poll(() => status('203.0.113.9')).toBe(200);
  });

  test('the limit of connections by address does not apply to the proxy, that of all connections does', async () => {
    const limits = { maxConnectionsPerAddress: 2, maxConnections: 5 };
    const { port } = await start({ ...trusted, limits });
    const open: Socket[] = [];
    const closed: Socket[] = [];
    for (let n = 0; n < 7; n++) {
      const socket = connectSocket(port, '127.0.0.1');
      socket.on('close', () => closed.push(socket)).on('error', () => {});
      open.push(socket);
    }
    await expect.poll(() => closed.length).toBe(2);
    for (const socket of open) socket.destroy();
  });
});

test.each([
  [{ trustedProxies: ['10'] }, 'trustedProxies: "10" is not an address; write that of the proxy, a range, or loopback'],
  [{ trustedProxies: ['proxy.example'] }, 'trustedProxies: "proxy.example" is not an address'],
  [{ trustedProxies: 'loopback' }, 'trustedProxies: must be a list, such as ["loopback"]'],
])('%j is an error', async (options, message) => {
  await expect(serveHttp(where().server, { port: 0, ...(options as HttpOptions) })).rejects.toThrow(message);
});
