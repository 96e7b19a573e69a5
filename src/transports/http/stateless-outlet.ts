// The way back of a POST that stands alone: JSON, or a stream from the first interim message on. Nothing is resumed
// here; when the client goes, the request goes with it.

import type { WireError } from '../../protocol/errors.ts';
import type { Outlet } from '../../protocol/exchange.ts';
import type { HttpExchange } from './exchange.ts';
import type { Accepts } from './media.ts';
import { respond } from './responses.ts';
import { type EventStream, type Heartbeat, openEventStream } from './streams/event-stream.ts';

export class StatelessOutlet implements Outlet {
  readonly #exchange: HttpExchange;
  readonly #beat: Heartbeat;
  readonly #accepts: Accepts;
  /** Only to tell what silence means, and not kept by a stream, which may stay open for long. */
  #message: unknown;
  #stream: EventStream | undefined;
  /** Whether interim messages may turn the answer into a stream. */
  readonly #mayStream: boolean;
  readonly full: boolean;
  #gone = false;
  ended = false;
  onEnd: (() => void) | undefined;
  /** Ends the call with that error, because its stream has to end. */
  onEnding: ((error: WireError) => void) | undefined;

  /** `streams`: the client takes a stream; `room`: so does the server. */
  constructor(
    exchange: HttpExchange,
    beat: Heartbeat,
    accepts: Accepts,
    message: unknown,
    streams: boolean,
    room: boolean,
  ) {
    this.#exchange = exchange;
    this.#beat = beat;
    this.#accepts = accepts;
    this.#message = message;
    this.#mayStream = streams && room;
    this.full = streams && !room;
  }

  /** What stands alone is asked by retry, and a lone POST of an older revision has no second way. */
  get duplex(): boolean {
    return false;
  }

  push(text: string): boolean {
    if (this.ended || this.#gone) return false;
    if (this.#stream === undefined) {
      if (!this.#mayStream) return false;
      this.#message = undefined;
      this.#stream = openEventStream(this.#exchange, this.#beat);
      this.#stream.onEnding = (error) => this.onEnding?.(error);
    }
    return this.#stream.send(text);
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    if (this.ended) return;
    this.ended = true;
    const stream = this.#stream;
    if (this.#gone) stream?.gone();
    else if (stream === undefined) respond(this.#exchange, this.#accepts, this.#message, text, status, headers);
    else {
      if (text !== undefined) stream.send(text);
      stream.end();
    }
    this.onEnd?.();
  }

  /** The client has gone: what is still said about the call goes nowhere. It counts until it ends. */
  lost(): void {
    this.#gone = true;
    this.#stream?.gone();
  }
}
