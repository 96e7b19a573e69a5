// An HTTP server of a few lines whose manners are the test's: it answers what a proper server would, except where the
// test says otherwise.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, never>;
}

export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What was posted; empty for other methods. */
  readonly message: Message;
  json(body: unknown, status?: number, headers?: Record<string, string>): void;
  /** The result of the posted request, as JSON. */
  result(result: unknown, headers?: Record<string, string>): void;
  /** Begins a stream of events. */
  events(first?: string): void;
}

/** True when the visit was dealt with. */
export type Manners = (visit: Visit) => boolean | undefined | void;

export interface FaultyServer {
  readonly url: string;
  readonly visits: readonly {
    readonly method: string;
    readonly body: string;
    readonly headers: IncomingMessage['headers'];
  }[];
  close(): Promise<void>;
}

export const done = { content: [{ type: 'text', text: 'done' }] };

/** Starts a server with a handshake, one tool and the manners of the test. */
export async function startFaultyServer(manners: Manners = () => false): Promise<FaultyServer> {
  const visits: FaultyServer['visits'][number][] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      visits.push({ method: request.method ?? '', body, headers: request.headers });
      const visit = toVisit(request, response, body);
      if (manners(visit) !== true) serveProperly(visit);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    visits,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

function toVisit(request: IncomingMessage, response: ServerResponse, body: string): Visit {
  const message = (body === '' ? {} : JSON.parse(body)) as Message;
  const json: Visit['json'] = (content, status = 200, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof content === 'string' ? content : JSON.stringify(content));
  };
  return {
    request,
    response,
    message,
    json,
    result: (result, headers) => json({ jsonrpc: '2.0', id: message.id, result }, 200, headers),
    events: (first = ': hello\n\n') => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(first);
    },
  };
}

function serveProperly({ request, response, message, json, result }: Visit): void {
  if (request.method !== 'POST') json('', 405);
  else if (message.id === undefined) response.writeHead(202).end();
  else if (message.method === 'initialize') {
    const serverInfo = { name: 'faulty', version: '1.0.0' };
    result({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
  } else if (message.method === 'tools/list') result({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] });
  else if (message.method === 'tools/call') result(done);
  else json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } });
}
