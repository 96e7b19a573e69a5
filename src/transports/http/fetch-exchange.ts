// Requests and answers as the web has them: for runtimes whose servers are functions from Request to Response.

import { monotonicMs } from '../../protocol/clock.ts';
import type { Principal } from '../../protocol/principal.ts';
import type { BodyRefusal, ByteSink, HeaderList, HttpExchange } from './exchange.ts';

const encoder = new TextEncoder();

export class FetchExchange implements HttpExchange {
  readonly #request: Request;
  readonly #maxQueuedBytes: number;
  readonly path: string;
  readonly query: string;
  readonly address: string | undefined;
  readonly atMs = monotonicMs();
  principal: Principal | undefined = undefined;
  extraHeaders: HeaderList | undefined = undefined;
  onAnswered: ((status: number) => void) | undefined = undefined;
  /** Resolves with the one answer. */
  readonly response: Promise<Response>;
  #answer: (response: Response) => void = () => {};
  #answered = false;
  #sink: StreamSink | undefined;
  #gone: (() => void)[] = [];

  constructor(request: Request, address: string | undefined, maxQueuedBytes: number) {
    this.#request = request;
    this.#maxQueuedBytes = maxQueuedBytes;
    const url = new URL(request.url);
    this.path = url.pathname;
    this.query = url.search.slice(1);
    this.address = address;
    this.response = new Promise((resolve) => {
      this.#answer = resolve;
    });
    request.signal.addEventListener('abort', () => this.#leave(), { once: true });
  }

  get method(): string {
    return this.#request.method;
  }

  get(name: string): string | undefined {
    const value = this.#request.headers.get(name);
    // A Request built by hand has no Host header; what its URL names is what it was sent to.
    return value ?? (name === 'host' ? new URL(this.#request.url).host : undefined);
  }

  readBody(maxBytes: number, done: (body: string | BodyRefusal) => void): void {
    if (Number(this.get('content-length') ?? 0) > maxBytes) return done({ refused: 'too-large' });
    readText(this.#request.body, maxBytes).then(done, () => this.#leave());
  }

  respond(status: number, headers: HeaderList, body?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    this.#answer(new Response(body ?? null, { status, headers: this.#headers(headers) }));
    this.onAnswered?.(status);
  }

  openStream(headers: HeaderList): ByteSink {
    this.#sink ??= new StreamSink(this.#maxQueuedBytes, () => this.#leave());
    if (!this.#answered) {
      this.#answered = true;
      this.#answer(new Response(this.#sink.readable, { status: 200, headers: this.#headers(headers) }));
      this.onAnswered?.(200);
    }
    return this.#sink;
  }

  onGone(listener: () => void): void {
    this.#gone.push(listener);
  }

  #leave(): void {
    if (this.#sink === undefined ? this.#answered : this.#sink.ended) return;
    this.#sink?.forget();
    for (const listener of this.#gone.splice(0)) listener();
  }

  #headers(list: HeaderList): Headers {
    const headers = new Headers();
    const all = this.extraHeaders === undefined ? list : [...list, ...this.extraHeaders];
    for (let at = 0; at < all.length; at += 2) headers.append(all[at] as string, all[at + 1] as string);
    return headers;
  }
}

async function readText(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string | BodyRefusal> {
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
        return { refused: 'too-large' };
      }
    }
    try {
      text += done ? decoder.decode() : decoder.decode(value, { stream: true });
    } catch {
      // The decoder throws for one reason only.
      await reader.cancel();
      return { refused: 'not-utf8' };
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

  /** The reader has gone. */
  forget(): void {
    this.ended = true;
  }
}
