// A server of 2025-06-18 over HTTP, written out by hand, that forgets its sessions, wants credentials or ends when a test says so.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Closers } from '../support/closers.ts';

type Message = { readonly id?: number; readonly method: string; readonly params?: { readonly name?: string } };

export class HttpUpstream {
  /** What it lists. */
  tools: readonly object[] = [toolOf('first version')];
  /** It responds to everything with 401. */
  needsLogin = false;
  /** The methods of the requests, in order. */
  readonly requests: string[] = [];
  /** Waited for before a call is answered. */
  answer: Promise<void> | undefined;
  #sessions = new Set<string>();
  #created = 0;
  #port = 0;
  #http: Server | undefined;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** How many calls of its tool have run. */
  get calls(): number {
    return this.requests.filter((method) => method === 'tools/call').length;
  }

  forgetSessions(): void {
    this.#sessions.clear();
  }

  /** On the same port as before. */
  async start(): Promise<void> {
    const http = createServer((request, response) => void this.#handle(request, response));
    this.#http = http;
    await new Promise<void>((resolve) => http.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (http.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const http = this.#http;
    this.#http = undefined;
    this.forgetSessions();
    http?.closeAllConnections();
    await new Promise((resolve) => (http === undefined ? resolve(undefined) : http.close(resolve)));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (this.needsLogin) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    if (message.method === 'initialize') this.#sessions.add(`session-${++this.#created}`);
    else if (!this.#sessions.has(String(request.headers['mcp-session-id']))) return void response.writeHead(404).end();
    this.requests.push(message.method);
    if (message.id === undefined) return void response.writeHead(202).end();
    const headers = { 'content-type': 'application/json', 'mcp-session-id': `session-${this.#created}` };
    const outcome = await this.#outcome(message);
    response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome }));
  }

  async #outcome({ method }: Message): Promise<object> {
    if (method === 'initialize') {
      const serverInfo = { name: 'http', version: '1' };
      return { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } };
    }
    if (method === 'tools/list') return { result: { tools: this.tools } };
    if (method !== 'tools/call') return { error: { code: -32601, message: 'Method not found' } };
    await this.answer;
    return { result: { content: [{ type: 'text', text: 'done' }] } };
  }
}

/** The only tool of such a server. */
export function toolOf(description: string): object {
  return { name: 'work', description, inputSchema: { type: 'object' } };
}

export async function httpUpstream(closers: Closers): Promise<HttpUpstream> {
  const server = new HttpUpstream();
  await server.start();
  closers.push(() => server.stop());
  return server;
}
