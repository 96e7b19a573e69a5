// A loopback Streamable HTTP endpoint in front of any message pipe (a child's stdio, a WebSocket, HTTP+SSE), so that the official suite,
// which speaks nothing but HTTP, can check those transports. Sessions are routed in bridge-session.ts, the stateless wire in bridge-stateless.ts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Session } from './bridge-session.ts';
import { StatelessChannel } from './bridge-stateless.ts';
import { Reply } from './reply.ts';
import { errorMessage, isObject, isRequest, type Message, metaKeys } from './wire.ts';

/** A connection to the server under test that carries whole JSON-RPC messages. */
export interface Pipe {
  send(message: Message): void;
  close(): Promise<void>;
}

/** What a pipe reports: each message of the server, and its end with the reason. */
export interface PipeEvents {
  message(message: Message): void;
  closed(reason: string): void;
}

/** Opens one connection; called once per session and once for all stateless requests together. */
export type OpenPipe = (events: PipeEvents) => Promise<Pipe>;

export interface Bridge {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the bridge on a free loopback port. */
export async function startBridge(open: OpenPipe): Promise<Bridge> {
  const sessions = new Map<string, Session>();
  const stateless = new StatelessChannel(open);
  let ownHosts: string[] = [];

  const server = createServer((request, response) => {
    serve(request, response).catch((cause: unknown) => {
      const message = errorMessage(null, -32603, `bridge: ${cause instanceof Error ? cause.message : String(cause)}`);
      if (response.headersSent) response.destroy();
      else new Reply(response).answer(message, 502);
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = new Reply(response);
    if (!isOwnHost(request)) return reply.answer(errorMessage(null, -32000, 'Forbidden: another Host or Origin'), 403);
    if (request.method === 'POST') return post(request, response, reply);

    const id = header(request, 'mcp-session-id');
    const session = sessions.get(id ?? '');
    if (!id) return reply.answer(errorMessage(null, -32000, 'Bad Request: Mcp-Session-Id header is required'), 400);
    if (!session) return reply.answer(errorMessage(null, -32001, 'Session not found'), 404);
    if (request.method === 'GET') {
      session.stream(reply);
      response.once('close', () => session.streamClosed(reply));
    } else if (request.method === 'DELETE') {
      sessions.delete(id);
      await session.close();
      response.writeHead(200).end();
    } else {
      reply.answer(errorMessage(null, -32000, 'Method not allowed.'), 405, { allow: 'GET, POST, DELETE' });
    }
  }

  async function post(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
    const message = await readMessage(request);
    if (!message)
      return reply.answer(errorMessage(null, -32700, 'The bridge carries one JSON-RPC message a POST'), 400);
    if (isStateless(message, header(request, 'mcp-protocol-version'))) {
      return stateless.accept(message, response, reply);
    }
    const id = header(request, 'mcp-session-id');
    if (id) {
      const session = sessions.get(id);
      return session
        ? session.accept(message, response, reply)
        : reply.answer(errorMessage(null, -32001, 'Session not found'), 404);
    }
    if (message.method !== 'initialize' || !isRequest(message)) {
      return reply.answer(errorMessage(null, -32000, 'Bad Request: Mcp-Session-Id header is required'), 400);
    }
    const session = await Session.open(open, (ended) => sessions.delete(ended.id));
    sessions.set(session.id, session);
    session.accept(message, response, reply, { 'mcp-session-id': session.id });
  }

  function isOwnHost(request: IncomingMessage): boolean {
    const { host, origin } = request.headers;
    return ownHosts.includes(host ?? '') && (!origin || ownHosts.some((own) => origin === `http://${own}`));
  }

  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  ownHosts = [`127.0.0.1:${port}`, `localhost:${port}`];

  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      await Promise.all([stateless.close(), ...[...sessions.values()].map((session) => session.close())]);
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

// The body's claim decides. Without a claim a date of the stateless wire in the header does: such a request must reach the server, to be rejected there.
function isStateless(message: Message, versionHeader: string | undefined): boolean {
  const meta = message.params?._meta;
  if (isObject(meta) && metaKeys.protocolVersion in meta) return true;
  return versionHeader !== undefined && /^\d{4}-\d\d-\d\d$/.test(versionHeader) && versionHeader >= '2026-07-28';
}

async function readMessage(request: IncomingMessage): Promise<Message | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isObject(value) ? (value as unknown as Message) : undefined;
  } catch {
    return undefined; // Answered with a parse error by the caller.
  }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
