// Requests and responses of the web platform: for runtimes whose servers are functions from Request to Response.

import { monotonicMs } from '../../../common/clock.ts';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import type { Principal } from '../../../protocol/callers/principal.ts';
import type { BufferedBytes } from '../buffered-bytes.ts';
import type { BodyError, ByteSink, HeaderList, HttpExchange } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';

const encoder = new TextEncoder();

/** What an exchange needs from its server. */
export interface FetchServerState {
  readonly limits: HttpLimits;
  readonly state: { readonly buffered: BufferedBytes };
  /** Responds to a request that could not be served because of an unexpected error. */
  failed(exchange: HttpExchange, error: unknown): void;
}

export class FetchExchange implements HttpExchange {
  readonly #request: Request;
  readonly #server: FetchServerState;
  readonly path: string;
  readonly query: string;
  readonly address: string | undefined;
  readonly atMs = monotonicMs();
  principal: Principal | undefined = undefined;
  extraHeaders: HeaderList | undefined = undefined;
  onResponded: ((status: number) => void) | undefined = undefined;
  /** Resolves with the response. */
  readonly response: Promise<Response>;
  #resolve: (response: Response) => void = () => {};
  #responded = false;
  #failed = false;
  #sink: StreamSink | undefined;
  #gone: (() => void)[] = [];

  constructor(request: Request, address: string | undefined, server: FetchServerState) {
    this.#request = request;
    this.#server = server;
    const url = new URL(request.url);
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.address = address;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    request.signal.addEventListener('abort', () => this.#disconnected(), { once: true });
  }

  get raw(): Request {
    return this.#request;
  }

  get method(): string {
    return this.#request.method;
  }

  get(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // A Request that was built in code has no Host header; its URL contains the host.
    return value ?? (name === 'host' ? new URL(this.#request.url).host : undefined);
  }

  readBody(maxBytes: number, done: (body: string | BodyError) => void): void {
    if (Number(this.get('content-length') ?? 0) > maxBytes) return done({ reason: 'too-large' });
    if (this.#request.bodyUsed || this.#request.body?.locked === true) return done({ reason: 'read-before' });
    const held = this.#server.state.buffered.open(callerKey(this));
    const makeRoom = (bytes: number): boolean | Promise<boolean> => {
      if (!this.#server.state.buffered.isFull(held.caller)) held.set(bytes);
      else
        return new Promise(
          (resolve) =>
            void this.#server.state.buffered.whenRoom(held.caller, (hasRoom) => {
              if (hasRoom) held.set(bytes);
              resolve(hasRoom);
            }),
        );
      return true;
    };
    readText(this.#request.body, maxBytes, makeRoom)
      .finally(() => held.release())
      .then(done, () => this.#disconnected())
      .catch((error: unknown) => this.#server.failed(this, error));
  }

  /** The runtime buffers responses. */
  hasRoomFor(): boolean {
    return true;
  }

  respond(status: number, headers: HeaderList, body?: string | Uint8Array): void {
    if (this.#responded) return;
    try {
      const response = new Response((body as string | undefined) ?? null, { status, headers: this.#headers(headers) });
      this.#responded = true;
      this.#resolve(response);
      this.onResponded?.(status);
    } catch (error) {
      // A header or a status that cannot be sent. If that happens for the error response too, the exchange is aborted.
      if (this.#failed) return this.abort();
      this.#failed = true;
      this.#server.failed(this, error);
    }
  }

  openStream(headers: HeaderList): ByteSink {
    this.#sink ??= new StreamSink(this.#server.limits.maxQueuedBytes, () => this.#disconnected());
    if (!this.#responded) {
      const response = new Response(this.#sink.readable, { status: 200, headers: this.#headers(headers) });
      this.#responded = true;
      this.#resolve(response);
      this.onResponded?.(200);
    }
    return this.#sink;
  }

  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }

  abort(): void {
    if (this.#sink !== undefined) this.#sink.destroy();
    else if (!this.#responded) {
      this.#responded = true;
      this.#resolve(new Response(null, { status: 500 }));
    }
  }

  #disconnected(): void {
    if (this.#sink === undefined ? this.#responded : this.#sink.ended) return;
    this.#sink?.readerGone();
    for (const listener of this.#gone.splice(0)) {
      try {
        listener();
      } catch (error) {
        this.#server.failed(this, error);
      }
    }
  }

  #headers(list: HeaderList): Headers {
    const headers = new Headers();
    const all = this.extraHeaders === undefined ? list : [...list, ...this.extraHeaders];
    for (let at = 0; at < all.length; at += 2) headers.append(all[at] as string, all[at + 1] as string);
    return headers;
  }
}

/** `makeRoom`: whether that much may be buffered, possibly after waiting for space. */
async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  makeRoom: (bytes: number) => boolean | Promise<boolean>,
): Promise<string | BodyError> {
  if (body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const reader = body.getReader();
  let size = 0;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) {
      size += value.byteLength;
      if (size > maxBytes) {
        await reader.cancel();
        return { reason: 'too-large' };
      }
      // Most bodies arrive in one chunk.
      if (size > value.byteLength && !(await makeRoom(size))) {
        await reader.cancel();
        return { reason: 'busy' };
      }
    }
    try {
      text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    } catch {
      // The decoder throws only for invalid UTF-8.
      await reader.cancel();
      return { reason: 'not-utf8' };
    }
    if (done) return text;
  }
}

class StreamSink implements ByteSink {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #max: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #onCancel: () => void;
  ended = false;

  constructor(maxQueuedBytes: number, onCancel: () => void) {
    this.#max = maxQueuedBytes;
    this.#onCancel = onCancel;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#onCancel(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxQueuedBytes }),
    );
  }

  get queued(): number {
    return this.#max - (this.#controller?.desiredSize ?? this.#max);
  }

  write(text: string): void {
    if (!this.ended) this.#controller?.enqueue(encoder.encode(text));
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#controller?.close();
  }

  destroy(): void {
    if (this.ended) return;
    this.#controller?.error(new Error('The client does not read'));
    this.#onCancel();
  }

  /** The reader has cancelled the stream. */
  readerGone(): void {
    this.ended = true;
  }
}
