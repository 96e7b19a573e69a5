// Requests over HTTP, as the transports need them: headers as a list, a body read as it comes, an end at any time. Node's
// own client, which costs a fifth of `fetch`; a given `fetch` can take its place.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import type { Agent as HttpsAgent, request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: string;
  /** The answer stays open for long: it must not take a place that others wait for. */
  readonly long?: boolean;
}

/** Who reads a body. `end` is called once, with an error when the body is not complete. */
export interface BodySink {
  chunk(bytes: Uint8Array): void;
  end(error?: Error): void;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  read(sink: BodySink): void;
  /** Lets go of the body unread. */
  discard(): void;
}

/** A request under way. */
export interface HttpExchange {
  readonly reply: Promise<HttpReply>;
  abort(): void;
}

export interface HttpWire {
  send(request: HttpRequest): HttpExchange;
  /** Lets go of idle connections. */
  close(): void;
}

/** Requests under way at a time; more wait for their turn, instead of for a file descriptor. */
const maxSockets = 256;
/** Idle connections are let go before servers do so (Node's let go after 5 s), which would race with the next request. */
const idleMs = 4_000;

interface Secure {
  readonly request: typeof requestHttps;
  readonly Agent: typeof HttpsAgent;
}

/** Makes the wire for a URL; what TLS needs is loaded only where it is used. */
export async function createWire(url: URL, given: typeof fetch | undefined): Promise<HttpWire> {
  if (given !== undefined) return new FetchWire(given);
  const secure = url.protocol === 'https:' ? await import('node:https') : undefined;
  return new NodeWire(secure);
}

class NodeWire implements HttpWire {
  readonly #request: typeof requestHttp;
  readonly #short: HttpAgent;
  readonly #long: HttpAgent;

  constructor(secure: Secure | undefined) {
    this.#request = (secure?.request ?? requestHttp) as typeof requestHttp;
    const Agent = (secure?.Agent ?? HttpAgent) as typeof HttpAgent;
    this.#short = new Agent({ keepAlive: true, maxSockets, scheduling: 'lifo', timeout: idleMs });
    this.#long = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: idleMs });
  }

  send(request: HttpRequest): HttpExchange {
    let sent: ClientRequest | undefined;
    const reply = new Promise<HttpReply>((resolve, reject) => {
      sent = this.#start(request, (message) => resolve(new NodeReply(message)));
      sent.on('error', reject);
    });
    return { reply, abort: () => sent?.destroy() };
  }

  #start(
    { method, url, headers, body, long }: HttpRequest,
    onReply: (message: IncomingMessage) => void,
  ): ClientRequest {
    const flat = ['Host', url.host, ...headers];
    if (body !== undefined) flat.push('Content-Length', String(Buffer.byteLength(body)));
    const request = this.#request(
      {
        agent: long === true ? this.#long : this.#short,
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port,
        path: `${url.pathname}${url.search}`,
        method,
        headers: flat,
      },
      onReply,
    );
    request.end(body);
    return request;
  }

  close(): void {
    this.#short.destroy();
    this.#long.destroy();
  }
}

class NodeReply implements HttpReply {
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
  }

  get status(): number {
    return this.#message.statusCode ?? 0;
  }

  get headers(): HttpReply['headers'] {
    return this.#message.headers;
  }

  read(sink: BodySink): void {
    const message = this.#message;
    let over = false;
    const end = (error?: Error): void => {
      if (over) return;
      over = true;
      sink.end(error);
    };
    message.on('data', (chunk: Uint8Array) => {
      if (!over) sink.chunk(chunk);
    });
    message.on('end', () => end());
    message.on('error', end);
    message.on('close', () => end(message.complete ? undefined : new Error('the connection was closed')));
  }

  discard(): void {
    this.#message.on('error', () => {}); // Nobody waits for the rest.
    // Reading a short rest keeps the connection for the next request; a long one is cut off.
    let left = 64 * 1024;
    this.#message.on('data', (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) this.#message.destroy();
    });
    setTimeout(() => this.#message.destroy(), 1_000).unref();
  }
}

class FetchWire implements HttpWire {
  readonly #fetch: typeof fetch;

  constructor(given: typeof fetch) {
    this.#fetch = given;
  }

  send({ method, url, headers, body }: HttpRequest): HttpExchange {
    const controller = new AbortController();
    const pairs: [string, string][] = [];
    for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at] as string, headers[at + 1] as string]);
    const init = { method, headers: pairs, signal: controller.signal, redirect: 'manual' as const };
    const reply = this.#fetch(url.href, body === undefined ? init : { ...init, body }).then(toReply);
    return { reply, abort: () => controller.abort() };
  }

  close(): void {}
}

function toReply(response: Response): HttpReply {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    read(sink) {
      void pump(response, sink);
    },
    discard: () => void response.body?.cancel().catch(() => {}),
  };
}

async function pump(response: Response, sink: BodySink): Promise<void> {
  try {
    const reader = response.body?.getReader();
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      sink.chunk(next.value);
    }
  } catch (error) {
    sink.end(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  sink.end();
}
