// Upstreams over HTTP that answer calls with a stream of events: what comes on a stream belongs to its call, and nothing
// belongs to a call that has ended.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';

const closers = useClosers(afterEach);

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string };
}

/** The stream that answers a call. */
class CallStream {
  readonly #response: ServerResponse;
  readonly id: number | string | undefined;

  constructor(response: ServerResponse, id: number | string | undefined) {
    this.#response = response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.id = id;
  }

  send(message: object): void {
    this.#response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
  }

  answer(): void {
    this.send({ id: this.id, result: { content: [{ type: 'text', text: 'done' }] } });
  }
}

const serverInfo = { name: 'streams', version: '1' };
const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {}, logging: {} }, serverInfo },
  'tools/list': { tools: ['a', 'b'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
  'logging/setLevel': {},
};

/** A gateway in front of a server with the tools `a` and `b`. `call`: answers a call. */
async function gatewayWith(call: (name: string, stream: CallStream) => void): Promise<Gateway> {
  const http = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method = '', params } = JSON.parse(body) as Message;
    if (method === 'tools/call') return call(params?.name ?? '', new CallStream(response, id));
    const result = results[method];
    if (result === undefined) return void response.writeHead(202).end();
    const headers = { 'content-type': 'application/json', 'mcp-session-id': 's' };
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    http.closeAllConnections();
    http.close();
  });
  const entry = { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` };
  const gateway = createGateway(gatewayConfig([upstream('one', { entry, revision: '2025-06-18' })]), { logger: false });
  closers.push(() => gateway.close());
  return gateway;
}

test('what follows the response on the stream of a call reaches no other caller', async () => {
  let finish = (): void => {};
  const question = {
    id: 'q',
    method: 'elicitation/create',
    params: { message: 'Secret?', requestedSchema: { type: 'object', properties: {} } },
  };
  const gateway = await gatewayWith((name, stream) => {
    if (name === 'b') {
      finish = () => stream.answer();
      return;
    }
    stream.answer();
    setTimeout(() => {
      stream.send({ method: 'notifications/message', params: { level: 'error', data: 'secret' } });
      stream.send(question);
      setTimeout(finish, 50);
    }, 50);
  });
  const reached: unknown[] = [];
  const one = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
  const other = await clientOf(closers, gateway.server, {
    revision: '2025-11-25',
    onLog: ({ data }) => reached.push(data),
    handlers: {
      elicit: ({ message }) => {
        reached.push(message);
        return { action: 'decline' };
      },
    },
  });
  const waiting = other.callTool('one__b');
  await one.callTool('one__a');
  expect(await waiting).toMatchObject({ content: [{ text: 'done' }] });
  expect(reached).toEqual([]);
});

test('streams that a server leaves open after the response do not use up the connections', async () => {
  const gateway = await gatewayWith((_name, stream) => stream.answer());
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  // More than are open at a time.
  for (let n = 0; n < 300; n++) expect(await client.callTool('one__a')).toMatchObject({ content: [{ text: 'done' }] });
});
