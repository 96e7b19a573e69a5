// Requests over HTTP, as the transports need them: headers as a list, a body read as it comes, an end at any time. Node's
// own client, which costs a fifth of `fetch`; a given `fetch` can take its place.

import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import type { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { SocketPool } from './socket-pool.ts';

/** A request as it goes out. */
export interface OutgoingHttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  /** The answer stays open for long: it must not take a place that others wait for. */
  readonly long?: boolean | undefined;
}

/** Who reads a body. `end` is called once, with an error when the body is not complete. */
export interface BodySink {
  chunk(bytes: Uint8Array): void;
  end(error?: Error): void;
}

/** A reply whose head has arrived. */
export interface HttpReply {
  readonly status: number;
  /** One header, by its name in lower case. */
  header(name: string): string | undefined;
  /** All of them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  read(sink: BodySink): void;
  /** Lets go of the body unread. */
  discard(): void;
}

/** Hears of one request: a reply or an error, never both. */
export interface ReplyListener {
  reply(reply: HttpReply): void;
  error(error: unknown): void;
}

/** A way to send requests. */
export interface HttpWire {
  /** Sends; returns how to give up. */
  send(request: OutgoingHttpRequest, listener: ReplyListener): () => void;
  /** Lets go of idle connections. */
  close(): void;
}

/** Requests under way at a time; more wait for their turn, instead of for a file descriptor. */
const maxSockets = 256;

interface Secure {
  readonly request: typeof requestHttps;
  readonly Agent: typeof HttpsAgent;
}

/** Makes the wire for a URL; what TLS needs is loaded only where it is used. */
export async function createWire(url: URL, given: typeof fetch | undefined): Promise<HttpWire> {
  if (given !== undefined) return new FetchWire(given);
  const secure = url.protocol === 'https:' ? await import('node:https') : undefined;
  return new NodeWire(url, secure);
}

/** The parts of a URL as Node's client wants them; taking a URL apart costs more than sending to it should. */
interface RequestTarget {
  readonly url: URL;
  readonly header: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
}

class NodeWire implements HttpWire {
  readonly #request: typeof requestHttp;
  readonly #short: SocketPool;
  readonly #long: SocketPool;
  #place: RequestTarget | undefined;

  constructor(url: URL, secure: Secure | undefined) {
    this.#request = (secure?.request ?? requestHttp) as typeof requestHttp;
    const Agent = (secure?.Agent ?? HttpAgent) as typeof HttpAgent;
    const { host, port } = toPlace(url);
    const pool = (maxSockets: number): SocketPool =>
      new SocketPool(
        new Agent({ keepAlive: true }),
        host,
        Number(port || (secure === undefined ? 80 : 443)),
        maxSockets,
      );
    this.#short = pool(maxSockets);
    this.#long = pool(Number.POSITIVE_INFINITY);
  }

  send({ method, url, headers, body, long }: OutgoingHttpRequest, listener: ReplyListener): () => void {
    const place = this.#place?.url === url ? this.#place : (this.#place = toPlace(url));
    const flat = ['Host', place.header, ...headers];
    if (body !== undefined) flat.push('Content-Length', String(Buffer.byteLength(body)));
    try {
      const request = this.#request(
        {
          agent: long === true ? this.#long.agent : this.#short.agent,
          host: place.host,
          port: place.port,
          path: place.path,
          method,
          headers: flat,
        },
        (message) => listener.reply(new NodeReply(message)),
      );
      request.on('error', (error) => listener.error(error));
      request.end(body);
      return () => request.destroy();
    } catch (error) {
      // Only a header that can not be sent comes to this.
      listener.error(error);
      return () => {};
    }
  }

  close(): void {
    this.#short.close();
    this.#long.close();
  }
}

function toPlace(url: URL): RequestTarget {
  return {
    url,
    header: url.host,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: `${url.pathname}${url.search}`,
  };
}

class NodeReply implements HttpReply {
  readonly status: number;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
  }

  header(name: string): string | undefined {
    const { rawHeaders } = this.#message;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const each = rawHeaders[at] as string;
      if (each.length === name.length && each.toLowerCase() === name) return rawHeaders[at + 1];
    }
    return undefined;
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
    const timer = setTimeout(() => this.#message.destroy(), 1_000);
    timer.unref();
    this.#message.once('close', () => clearTimeout(timer));
  }
}

class FetchWire implements HttpWire {
  readonly #fetch: typeof fetch;

  constructor(given: typeof fetch) {
    this.#fetch = given;
  }

  send({ method, url, headers, body }: OutgoingHttpRequest, listener: ReplyListener): () => void {
    const controller = new AbortController();
    const pairs: [string, string][] = [];
    for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at] as string, headers[at + 1] as string]);
    const init = { method, headers: pairs, signal: controller.signal, redirect: 'manual' as const };
    this.#fetch(url.href, body === undefined ? init : { ...init, body }).then(
      (response) => listener.reply(toReply(response)),
      (error: unknown) => listener.error(error),
    );
    return () => controller.abort();
  }

  close(): void {}
}

function toReply(response: Response): HttpReply {
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
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
