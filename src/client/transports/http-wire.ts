// HTTP requests as the transports need them: headers as a list, a body that is read as it arrives, and a way to abort at
// any time. Uses Node's HTTP client, which costs a fifth of `fetch` (bench client, "mooring", HTTP); the application can
// pass a `fetch` of its own.

import type { IncomingMessage } from 'node:http';
import { findRoute, type HttpRoute, type RequestTarget } from '../../transports/proxy/http-route.ts';
import { ReadTurns } from './read-turns.ts';
import { SocketPool } from './socket-pool.ts';

/** A request to send. */
export interface OutgoingHttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  /** The response is a long-lived stream: it must not occupy a connection that other requests wait for. */
  readonly long?: boolean | undefined;
}

/**
 * Receives a body. The next chunk comes when the promise that `chunk` may return is resolved. `end` is called once, with an
 * error if the body is incomplete.
 */
export interface BodySink {
  chunk(bytes: Uint8Array): void | Promise<void>;
  end(error?: Error): void;
}

/** A response whose headers have arrived. */
export interface HttpReply {
  readonly status: number;
  /** The value of a header; `name` is in lower case. */
  header(name: string): string | undefined;
  /** All headers. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  read(sink: BodySink): void;
  /** Discards the body. */
  discard(): void;
}

/** Is called once per request, with a response or an error. */
export interface ReplyListener {
  reply(reply: HttpReply): void;
  error(error: unknown): void;
}

/** Sends requests. */
export interface HttpWire {
  /** Sends a request; returns a function that aborts it. */
  send(request: OutgoingHttpRequest, listener: ReplyListener): () => void;
  /** The version of HTTP that requests use, if that is known. */
  readonly httpVersion?: string;
  /** Closes all connections. */
  close(): void;
}

/** How long the rest of a body that is not needed may take, before its connection is closed. */
const discardMs = 1_000;

/** Requests in flight at a time; more of them wait, so that a busy client does not run out of file descriptors. */
const maxSockets = 256;

/** Creates the wire for a URL, through the proxy of the environment if there is one. */
export async function createWire(url: URL, given: typeof fetch | undefined): Promise<HttpWire> {
  return given === undefined ? new NodeWire(await findRoute(url)) : new FetchWire(given);
}

class NodeWire implements HttpWire {
  readonly httpVersion = '1.1';
  readonly #route: HttpRoute;
  readonly #short: SocketPool;
  readonly #long: SocketPool;
  /** Of the last URL: parsing a URL for every request is slow. */
  #target: RequestTarget | undefined;

  constructor(route: HttpRoute) {
    this.#route = route;
    this.#short = new SocketPool(route.Agent, maxSockets);
    this.#long = new SocketPool(route.Agent, Number.POSITIVE_INFINITY);
  }

  send({ method, url, headers, body, long }: OutgoingHttpRequest, listener: ReplyListener): () => void {
    const route = this.#route;
    const target = this.#target?.url === url ? this.#target : (this.#target = route.toTarget(url));
    const flat = [...target.headers, ...headers];
    if (body !== undefined) flat.push('Content-Length', String(Buffer.byteLength(body)));
    try {
      const request = route.request(
        {
          agent: (long === true ? this.#long : this.#short).agent(),
          host: target.host,
          port: target.port,
          path: target.path,
          method,
          headers: flat,
        },
        (message) => {
          const rejection = route.rejection?.(url, message.statusCode ?? 0);
          if (rejection === undefined) listener.reply(new NodeReply(message));
          else {
            new NodeReply(message).discard();
            listener.error(rejection);
          }
        },
      );
      request.on('error', (error) => listener.error(route.explain?.(error) ?? error));
      // The requests of one turn of the event loop leave together. Each by itself would wake the server again and again: a
      // quarter of the time of a call (bench client, "http").
      setImmediate(() => {
        if (!request.destroyed) request.end(body);
      });
      return () => request.destroy();
    } catch (error) {
      // A header that cannot be sent, or a closed pool.
      listener.error(error);
      return () => {};
    }
  }

  close(): void {
    this.#short.close();
    this.#long.close();
  }
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
    const turns = new ReadTurns();
    let over = false;
    const end = (error?: Error): void => {
      if (over) return;
      over = true;
      sink.end(error);
    };
    message.on('data', (chunk: Uint8Array) => {
      const wait = over ? undefined : (sink.chunk(chunk) ?? turns.after(chunk.length));
      if (wait === undefined) return;
      message.pause();
      void wait.then(() => message.resume());
    });
    message.on('error', end);
    message.on('close', () => end(message.complete ? undefined : new Error('the connection was closed')));
  }

  discard(): void {
    this.#message.on('error', () => {}); // The rest of the body is not needed.
    // Reading the rest of a short body keeps the connection usable; a long one is not worth it.
    let left = 64 * 1024;
    this.#message.on('data', (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) this.#message.destroy();
    });
    const timer = setTimeout(() => this.#message.destroy(), discardMs);
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
      (response) => listener.reply(toReply(response, () => controller.abort())),
      (error: unknown) => listener.error(error),
    );
    return () => controller.abort();
  }

  close(): void {}
}

function toReply(response: Response, abort: () => void): HttpReply {
  let reading: Promise<void> | undefined;
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    headers: Object.fromEntries(response.headers),
    read(sink) {
      reading = pump(response, sink);
    },
    discard() {
      if (reading === undefined) {
        void response.body?.cancel().catch(() => {});
        return;
      }
      // A body that is being read cannot be cancelled. If it ends soon, the connection stays usable.
      const timer = setTimeout(abort, discardMs);
      timer.unref();
      void reading.then(() => clearTimeout(timer));
    },
  };
}

async function pump(response: Response, sink: BodySink): Promise<void> {
  try {
    const reader = response.body?.getReader();
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      await sink.chunk(next.value);
    }
  } catch (error) {
    sink.end(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  sink.end();
}
