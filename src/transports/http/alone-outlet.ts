// The way back of a POST that stands alone: JSON, or a stream from the first interim message on. Nothing is resumed
// here; when the client goes, the request goes with it.

import type { Outlet } from '../../protocol/exchange.ts';
import { answer } from './answers.ts';
import { EventStream, eventStreamHeaders, type Heartbeat } from './event-stream.ts';
import type { HttpExchange } from './exchange.ts';
import type { Accepts } from './media.ts';

export class AloneOutlet implements Outlet {
  readonly #exchange: HttpExchange;
  readonly #beat: Heartbeat;
  readonly #accepts: Accepts;
  /** Only to tell what silence means, and not kept by a stream, which may stay open for long. */
  #message: unknown;
  #stream: EventStream | undefined;
  /** Whether interim messages may turn the answer into a stream. */
  readonly #mayStream: boolean;
  readonly full: boolean;
  readonly #expiresAtMs: number | undefined;
  ended = false;
  onEnd: (() => void) | undefined;
  /** What to do when the stream outlives what it was opened with. */
  onExpired: (() => void) | undefined;

  /** `streams`: the client takes a stream; `room`: so does the server. */
  constructor(
    exchange: HttpExchange,
    beat: Heartbeat,
    accepts: Accepts,
    message: unknown,
    streams: boolean,
    room: boolean,
    expiresAtMs: number | undefined,
  ) {
    this.#exchange = exchange;
    this.#beat = beat;
    this.#accepts = accepts;
    this.#message = message;
    this.#mayStream = streams && room;
    this.full = streams && !room;
    this.#expiresAtMs = expiresAtMs;
  }

  /** What stands alone is asked by retry, and a lone POST of an older revision has no second way. */
  get duplex(): boolean {
    return false;
  }

  push(text: string): boolean {
    if (this.ended) return false;
    if (this.#stream === undefined) {
      if (!this.#mayStream) return false;
      this.#message = undefined;
      this.#stream = new EventStream(this.#exchange.openStream(eventStreamHeaders), this.#beat, this.#expiresAtMs);
      this.#stream.onExpired = () => this.onExpired?.();
    }
    return this.#stream.send(text);
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    if (this.ended) return;
    this.ended = true;
    const stream = this.#stream;
    if (stream === undefined) answer(this.#exchange, this.#accepts, this.#message, text, status, headers);
    else {
      if (text !== undefined) stream.send(text);
      stream.end();
    }
    this.onEnd?.();
  }

  /** The client has gone: there is nobody to answer. */
  lost(): void {
    this.ended = true;
    this.#stream?.gone();
    this.onEnd?.();
  }
}
