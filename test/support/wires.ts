// One server behind every transport, and clients of few words for each of them: what holds on one must hold on all.

import { PassThrough } from 'node:stream';
import { WebSocket } from 'ws';
import type { Server } from '../../src/engine/server.ts';
import { createToken, createTokenAuthenticator } from '../../src/security/auth/index.ts';
import { type HttpServer, serveHttp } from '../../src/transports/http.ts';
import { serveStream } from '../../src/transports/stream.ts';
import { both, EventReader, HttpTestClient, initializeBody, modernBody, modernHeaders } from './http-client.ts';
import type { Message } from './test-client.ts';

export type WireKind = 'stdio' | 'http' | 'sse' | 'websocket';
export const wireKinds: readonly WireKind[] = ['stdio', 'http', 'sse', 'websocket'];
/** Those that carry stateless requests. */
export const statelessKinds: readonly WireKind[] = ['stdio', 'http', 'websocket'];

export interface Wire {
  /** Everything that came, oldest first. */
  readonly received: Message[];
  /** Characters of the longest message that came. */
  readonly longest: number;
  /** Sends a message of the session and waits for its answer: the one with its id, or the next without an id. */
  ask(message: object): Promise<Message>;
  request(method: string, params?: object): Promise<Message>;
  notify(method: string, params?: object): Promise<void>;
  /** Responds to a request of the server. */
  respond(id: unknown, result: object): Promise<void>;
  /** A stateless request. One that stays open resolves with the first notification about it. */
  stateless(method: string, params?: Record<string, unknown>, meta?: object): Promise<Message>;
  /** Waits for a message that fits, also among those that came already. */
  next(fits: (message: Message) => boolean): Promise<Message>;
  close(): void;
}

/** Serves on every transport. Callers are told apart by their names. */
export async function serveWires(
  server: Server,
  callers: Readonly<Record<string, readonly string[]>> = { someone: [] },
) {
  const tokens = new Map(Object.keys(callers).map((name) => [name, createToken()]));
  const http = await serveHttp(server, {
    port: 0,
    graceMs: 100,
    authenticate: createTokenAuthenticator({
      tokens: [...tokens].map(([id, { hash }]) => ({ id, hash, scopes: callers[id] ?? [] })),
    }),
  });
  const open: Wire[] = [];
  const headersOf = (caller: string): Headers => ({ Authorization: `Bearer ${tokens.get(caller)?.token}` });
  return {
    http,
    /** What a caller sends with every HTTP request. */
    headersOf,
    async connect(kind: WireKind, caller = Object.keys(callers)[0] as string, capabilities = {}): Promise<Wire> {
      const principal = { id: caller, scopes: callers[caller] ?? [] };
      const wire = await connectors[kind](server, http, headersOf(caller), principal, capabilities);
      open.push(wire);
      return wire;
    },
    async close(): Promise<void> {
      for (const wire of open) wire.close();
      await http.close();
    },
  };
}

type Headers = { readonly Authorization: string };
type Connect = (
  server: Server,
  http: HttpServer,
  headers: Headers,
  principal: { readonly id: string; readonly scopes: readonly string[] },
  capabilities: object,
) => Promise<Wire>;

/** What all of them share: a list of what came, and waiting for more. */
abstract class Received {
  readonly received: Message[] = [];
  longest = 0;
  #waiting: (() => void)[] = [];
  #id = 0;

  abstract ask(message: object): Promise<Message>;

  protected take(text: string): void {
    this.longest = Math.max(this.longest, text.length);
    this.received.push(...([JSON.parse(text)].flat() as Message[]));
    for (const wake of this.#waiting.splice(0)) wake();
  }

  protected nextId(): string {
    return `r${++this.#id}`;
  }

  async next(fits: (message: Message) => boolean, from = 0): Promise<Message> {
    for (let at = from; ; at++) {
      while (at >= this.received.length) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      const message = this.received[at] as Message;
      if (fits(message)) return message;
    }
  }

  protected answerTo(message: object, from: number): Promise<Message> {
    const { id } = message as { id?: unknown };
    const isAnswer = ({ method, id: given }: Message): boolean =>
      method === undefined && (given === id || given === undefined || given === null);
    return this.next(isAnswer, from);
  }

  request(method: string, params: object = {}): Promise<Message> {
    return this.ask({ jsonrpc: '2.0', id: this.nextId(), method, params });
  }

  protected async begin(capabilities: object): Promise<void> {
    await this.ask(initializeBody('2025-11-25', capabilities));
    await this.notify('notifications/initialized');
  }

  abstract notify(method: string, params?: object): Promise<void>;
}

/** A connection that carries everything in both directions. */
class Duplex extends Received implements Wire {
  readonly #send: (text: string) => void;
  readonly close: () => void;

  private constructor(send: (text: string) => void, close: () => void) {
    super();
    this.#send = send;
    this.close = close;
  }

  static async open(
    send: (text: string) => void,
    close: () => void,
    listen: (take: (text: string) => void) => void,
    capabilities: object,
  ): Promise<Duplex> {
    const wire = new Duplex(send, close);
    listen((text) => wire.take(text));
    await wire.begin(capabilities);
    return wire;
  }

  ask(message: object): Promise<Message> {
    const from = this.received.length;
    this.#send(JSON.stringify(message));
    return this.answerTo(message, from);
  }

  async notify(method: string, params: object = {}): Promise<void> {
    this.#send(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  async respond(id: unknown, result: object): Promise<void> {
    this.#send(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }

  async stateless(method: string, params: Record<string, unknown> = {}, meta: object = {}): Promise<Message> {
    const id = this.nextId();
    const from = this.received.length;
    this.#send(JSON.stringify(modernBody(method, params, id, meta)));
    return this.next(
      (each) => each.id === id || each.params?._meta?.['io.modelcontextprotocol/subscriptionId'] === id,
      from,
    );
  }
}

class HttpSession extends Received implements Wire {
  readonly #client: HttpTestClient;
  readonly #headers: Headers;
  #session = '';
  readonly #streams: EventReader[] = [];

  constructor(client: HttpTestClient, headers: Headers) {
    super();
    this.#client = client;
    this.#headers = headers;
  }

  async open(capabilities: object): Promise<void> {
    this.#session = await this.#client.initialize({ headers: this.#headers, capabilities });
    await this.#listen({ method: 'GET', headers: { ...this.#own, Accept: 'text/event-stream' } });
  }

  get #own() {
    return { ...this.#headers, Accept: both, 'Mcp-Session-Id': this.#session };
  }

  async #listen(wanted: object): Promise<void> {
    const response = await this.#client.open(wanted);
    if (response.headers['content-type']?.startsWith('application/json') === true) {
      let text = '';
      for await (const chunk of response) text += chunk;
      return this.take(text);
    }
    const reader = new EventReader(response);
    this.#streams.push(reader);
    passOn(reader, (text) => this.take(text));
  }

  async ask(message: object): Promise<Message> {
    const from = this.received.length;
    await this.#listen({ body: message, headers: this.#own });
    return this.answerTo(message, from);
  }

  async notify(method: string, params: object = {}): Promise<void> {
    await this.#client.send({ body: { jsonrpc: '2.0', method, params }, headers: this.#own });
  }

  async respond(id: unknown, result: object): Promise<void> {
    await this.#client.send({ body: { jsonrpc: '2.0', id, result }, headers: this.#own });
  }

  async stateless(method: string, params: Record<string, unknown> = {}, meta: object = {}): Promise<Message> {
    const id = this.nextId();
    const from = this.received.length;
    await this.#listen({
      body: modernBody(method, params, id, meta),
      headers: { ...this.#headers, ...modernHeaders(method, params) },
    });
    return this.next(
      (each) => each.id === id || each.params?._meta?.['io.modelcontextprotocol/subscriptionId'] === id,
      from,
    );
  }

  close(): void {
    for (const stream of this.#streams) stream.cut();
    this.#client.close();
  }
}

/** Hands on the messages of an event stream as they come. */
function passOn({ response, events }: EventReader, take: (text: string) => void): void {
  let told = 0;
  response.on('data', () => {
    for (; told < events.length; told++) {
      const { event, data } = events[told] as EventReader['events'][number];
      if (event !== 'endpoint' && data !== undefined && data !== '') take(data);
    }
  });
}

const connectors: Readonly<Record<WireKind, Connect>> = {
  async stdio(server, _http, _headers, principal, capabilities) {
    const input = new PassThrough();
    const output = new PassThrough();
    const served = serveStream(server, input, output, { transport: 'stdio', principal });
    return Duplex.open(
      (text) => void input.write(`${text}\n`),
      () => served.close(),
      (take) => {
        let rest = '';
        output.on('data', (chunk: Buffer) => {
          const lines = `${rest}${chunk}`.split('\n');
          rest = lines.pop() as string;
          for (const line of lines) take(line);
        });
      },
      capabilities,
    );
  },
  async http(_server, http, headers, _principal, capabilities) {
    const wire = new HttpSession(new HttpTestClient(http.port), headers);
    await wire.open(capabilities);
    return wire;
  },
  async sse(_server, http, headers, _principal, capabilities) {
    const client = new HttpTestClient(http.port);
    const response = await client.open({
      method: 'GET',
      path: '/sse',
      headers: { ...headers, Accept: 'text/event-stream' },
    });
    const reader = new EventReader(response);
    while (reader.events.length === 0) await new Promise((resolve) => response.once('data', resolve));
    const path = reader.events[0]?.data as string;
    return Duplex.open(
      // A client that closes the connection does not need the responses that are on their way.
      (text) => void client.send({ path, body: text, headers }).catch(() => {}),
      () => {
        reader.cut();
        client.close();
      },
      (take) => passOn(reader, take),
      capabilities,
    );
  },
  async websocket(_server, http, headers, _principal, capabilities) {
    const socket = new WebSocket(http.url.replace('http', 'ws'), { headers });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return Duplex.open(
      (text) => socket.send(text),
      () => socket.terminate(),
      (take) => socket.on('message', (data) => take(String(data))),
      capabilities,
    );
  },
};
