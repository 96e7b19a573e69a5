// The outlet of a POST that is served outside of a session: JSON, or an event stream from the first interim message on.
// Nothing can be resumed here.

import type { WireError } from '../../protocol/errors.ts';
import type { Outlet } from '../../protocol/exchange.ts';
import type { Post } from './post.ts';
import { respond } from './responses.ts';
import { type EventStream, type Heartbeat, openEventStream, openStandaloneStream } from './streams/event-stream.ts';

/** When the response may become a stream, and of which kind. */
interface StreamConditions {
  /** The client accepts a stream. */
  readonly wanted: boolean;
  /** No limit of the server prevents it. */
  readonly allowed: boolean;
  /** The request is for the stream itself. */
  readonly isListen: boolean;
}

export class StatelessOutlet implements Outlet {
  readonly #post: Post;
  readonly #heartbeat: Heartbeat;
  #stream: EventStream | undefined;
  /** Interim messages may turn the response into a stream. */
  readonly #mayStream: boolean;
  readonly #isListen: boolean;
  readonly full: boolean;
  #gone = false;
  ended = false;
  onEnd: (() => void) | undefined;
  /** Ends the call with that error, because its stream has to end. */
  onEnding: ((error: WireError) => void) | undefined;

  constructor(post: Post, heartbeat: Heartbeat, { wanted, allowed, isListen }: StreamConditions) {
    this.#isListen = isListen;
    this.#post = post;
    this.#heartbeat = heartbeat;
    this.#mayStream = wanted && allowed;
    this.full = wanted && !allowed;
  }

  /** A stateless request gets input by a retry; a session request without a session has no path for a response. */
  get duplex(): boolean {
    return false;
  }

  push(text: string): boolean {
    if (this.ended || this.#gone) return false;
    if (this.#stream === undefined) {
      if (!this.#mayStream) return false;
      this.#post.releaseMessage();
      const open = this.#isListen ? openStandaloneStream : openEventStream;
      this.#stream = open(this.#post.exchange, this.#heartbeat);
      this.#stream.onEnding = (error) => this.onEnding?.(error);
    }
    return this.#stream.send(text);
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    if (this.ended) return;
    this.ended = true;
    const stream = this.#stream;
    if (this.#gone) stream?.gone();
    else if (stream === undefined) respond(this.#post, text, status, headers);
    else {
      if (text !== undefined) stream.send(text);
      stream.end();
    }
    this.onEnd?.();
  }

  /** The client disconnected: further messages are discarded. The call counts against the limits until it ends. */
  lost(): void {
    this.#gone = true;
    this.#stream?.gone();
  }
}
