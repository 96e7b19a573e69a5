// A client with a `fetch` of its own: what fetch throws is explained as failures of Node are.

import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, serveHttp } from '../../src/index.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function readJson(request: IncomingMessage): Promise<object> {
  let body = '';
  for await (const chunk of request) body += chunk;
  return JSON.parse(body || '{}') as object;
}

test.each(['handshake', '2026-07-28'])(
  '%s: closing a client that waits rejects only to its caller',
  async (revision) => {
    const server = createServer({ name: 'slow', version: '1.0.0', logger: false });
    let begin: () => void = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    server.tool('endless', {
      run: () => {
        begin();
        return new Promise<never>(() => {});
      },
    });
    const served = await serveHttp(server, { port: 0 });
    open.push(served);
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    try {
      const ownFetch: typeof fetch = (input, init) => fetch(input, init);
      const client = await connect(served.url, { revision, fetch: ownFetch, eraCache: false });
      const call = client.callTool('endless').catch((error: unknown) => error);
      await begun;
      await client.close();
      expect(await call).toMatchObject({ code: 'closed' });
      for (let n = 0; n < 5; n++) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  },
);

test('the connection of a response that is too long is closed, and the next responses are read', async () => {
  let ended = 0;
  const endless = createHttpServer((request, response) => {
    void readJson(request).then((message) => {
      const { id, method } = message as { id?: number; method?: string };
      if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
      const results: Record<string, object> = {
        initialize: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'endless', version: '1' } },
        ping: {},
      };
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const result = results[method ?? ''];
      if (result !== undefined) return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      const timer = setInterval(() => response.write(' '.repeat(100_000)), 1);
      response.on('close', () => {
        clearInterval(timer);
        ended++;
      });
    });
  });
  await new Promise<void>((ready) => endless.listen(0, '127.0.0.1', ready));
  open.push({ close: () => endless.close() });
  const { port } = endless.address() as AddressInfo;
  const client = await connect(`http://127.0.0.1:${port}/mcp`, {
    revision: '2025-11-25',
    fetch: (input, init) => fetch(input, init),
    maxMessageBytes: 1_000_000,
  });
  const calls = Array.from({ length: 6 }, () => client.callTool('endless').catch((error: unknown) => error));
  for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: 'message-too-large' });
  await expect.poll(() => ended, { timeout: 5_000 }).toBe(6);
  await client.ping();
  await client.close();
});
