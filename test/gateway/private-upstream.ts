// A server of 2026-07-28 over HTTP, written out by hand, whose lists depend on the header `x-user`.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Closers } from '../support/closers.ts';

/** What one user sees. */
export interface UserLists {
  tools: readonly object[];
  prompts?: readonly object[];
  resources?: readonly object[];
  skills?: readonly { readonly uri: string }[];
  instructions?: string;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly name?: string; readonly uri?: string; readonly arguments?: unknown };
}

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';

export const toolOf = (name: string, argument = 'text'): object => ({
  name,
  description: `Takes ${argument}`,
  inputSchema: { type: 'object', properties: { [argument]: { type: 'string' } } },
});

export class PrivateUpstream {
  /** By the value of `x-user`; empty: requests without it. */
  readonly users = new Map<string, UserLists>();
  cacheScope: 'public' | 'private' | undefined = 'private';
  ttlMs = 60_000;
  /** The user and method of each request, in order. */
  readonly requests: string[] = [];
  /** Waited for before lists are answered. */
  delay: Promise<void> | undefined;
  /** Users whose lists fail. */
  readonly failing = new Set<string>();
  readonly #streams = new Set<{ readonly id: number; readonly response: ServerResponse }>();
  #http: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/mcp`;
  }

  /** How often a user has requested a list. */
  reads(user: string): number {
    return this.requests.filter((each) => each === `${user} tools/list`).length;
  }

  /** Announces a change on every stream: they are opened without the headers of callers. */
  announce(kind: 'tools' | 'prompts' | 'resources' = 'tools'): void {
    for (const { id, response } of this.#streams) {
      const params = { _meta: { [subscriptionKey]: id } };
      send(response, { method: `notifications/${kind}/list_changed`, params });
    }
  }

  /** Announces a change of a resource on every stream. */
  updated(uri: string): void {
    for (const { id, response } of this.#streams) {
      send(response, { method: 'notifications/resources/updated', params: { uri, _meta: { [subscriptionKey]: id } } });
    }
  }

  async start(): Promise<void> {
    this.#http = createServer((request, response) => void this.#handle(request, response));
    await new Promise<void>((resolve) => this.#http?.listen(0, '127.0.0.1', resolve));
    this.#port = (this.#http.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#http?.closeAllConnections();
    await new Promise((resolve) => this.#http?.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    const user = String(request.headers['x-user'] ?? '');
    this.requests.push(`${user} ${message.method}`);
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === 'subscriptions/listen') return this.#listen(message, response);
    if (message.method.endsWith('/list')) await this.delay;
    const outcome = this.#outcome(message, user);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome }));
  }

  #listen({ id = 0, params }: Message, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const acknowledged = { ...params, _meta: { [subscriptionKey]: id } };
    send(response, { method: 'notifications/subscriptions/acknowledged', params: acknowledged });
    const stream = { id, response };
    this.#streams.add(stream);
    response.on('close', () => this.#streams.delete(stream));
  }

  #outcome({ method, params }: Message, user: string): object {
    const { tools, prompts = [], resources = [], skills = [], instructions } = this.users.get(user) ?? { tools: [] };
    const hint = { ttlMs: this.ttlMs, ...(this.cacheScope && { cacheScope: this.cacheScope }) };
    const listed = (items: object): object => {
      if (this.failing.has(user)) return { error: { code: -32603, message: `no lists for ${user}` } };
      return { result: { resultType: 'complete', ...(this.cacheScope && hint), ...items } };
    };
    const text = (value: string): object => ({
      result: { resultType: 'complete', content: [{ type: 'text', text: value }] },
    });
    switch (method) {
      case 'server/discover': {
        const listChanged = true;
        const hasSkills = [...this.users.values()].some((each) => each.skills !== undefined);
        const capabilities = {
          tools: { listChanged },
          prompts: { listChanged },
          resources: { listChanged, subscribe: true },
          ...(hasSkills && { extensions: { 'io.modelcontextprotocol/skills': {} } }),
        };
        const about = { supportedVersions: ['2026-07-28'], capabilities, instructions };
        return { result: { resultType: 'complete', ...hint, ...about, serverInfo: { name: 'private', version: '1' } } };
      }
      case 'skills/list':
        return listed({ skills });
      case 'skills/get': {
        const skill = skills.find(({ uri }) => uri === params.uri);
        if (skill === undefined) return { error: { code: -32602, message: 'No such skill' } };
        return listed({ skill });
      }
      case 'tools/list':
        return listed({ tools });
      case 'prompts/list':
        return listed({ prompts });
      case 'resources/list':
        return listed({ resources });
      case 'resources/templates/list':
        return listed({ resourceTemplates: [] });
      case 'tools/call':
        return text(`${params.name} for ${user}: ${JSON.stringify(params.arguments)}`);
      case 'resources/read': {
        const contents = [{ uri: params.uri, text: `read by ${user}` }];
        return { result: { resultType: 'complete', ...hint, contents } };
      }
      default:
        return { error: { code: -32601, message: 'Method not found' } };
    }
  }
}

function send(response: ServerResponse, message: object): void {
  response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

export async function privateUpstream(closers: Closers): Promise<PrivateUpstream> {
  const server = new PrivateUpstream();
  await server.start();
  closers.push(() => server.stop());
  return server;
}
