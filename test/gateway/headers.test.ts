// Headers of clients: those that the entry of a server names reach it, whatever revision the client has; no others do.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createGateway } from '../../src/gateway/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterEach);
const serverInfo = { name: 'far', version: '1' };
const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
  'tools/list': { tools: [{ name: 'work', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [] },
};

test.each(['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])(
  'the headers of a call by a client of %s',
  async (revision) => {
    const seen: (readonly [method: string, headers: IncomingHttpHeaders])[] = [];
    const http = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(body) as { id?: number; method: string };
      seen.push([method, request.headers]);
      if (id === undefined) return void response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      http.closeAllConnections();
      http.close();
    });
    const entry = { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` };
    const config = upstream('far', { entry, revision: '2025-06-18', forwardHeaders: ['x-team'] });
    const gateway = createGateway(gatewayConfig([config]), { logger: false });
    closers.push(() => gateway.close());
    const { http: front } = await startHttp(closers, gateway.server);
    const headers = { Authorization: 'Bearer secret', Cookie: 'a=secret', 'X-Team': 'blue', 'X-Other': 'secret' };
    const client = await connect(front.url, { revision, headers });
    closers.push(() => client.close());
    await client.callTool('far__work');
    expect(seen.filter(([, { 'x-team': team }]) => team === 'blue').map(([method]) => method)).toEqual(['tools/call']);
    expect(JSON.stringify(seen)).not.toContain('secret');
  },
);
