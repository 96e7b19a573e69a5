// One POST whose body was read: parsed and classified once, then passed on as one value to whatever serves it.

import { callerKey } from '../../protocol/callers/caller-budget.ts';
import type { MessageRoute, ReadHeader, SessionHost } from '../../protocol/exchange.ts';
import type { HttpExchange } from './exchange.ts';
import type { Accepts } from './media.ts';

export class Post {
  readonly exchange: HttpExchange;
  /** Which kinds of response the client accepts. */
  readonly accepts: Accepts;
  /** A message or a batch, as it was parsed. */
  #message: unknown;
  #text: string | undefined;
  /** Reads a header of the request. */
  readonly header: ReadHeader;
  /** Stateless, `initialize`, or within a session. */
  readonly route: MessageRoute;
  #caller: string | undefined = undefined;

  constructor(exchange: HttpExchange, accepts: Accepts, message: unknown, text: string, host: SessionHost) {
    this.exchange = exchange;
    this.accepts = accepts;
    this.#message = message;
    this.#text = text;
    this.header = (name) => exchange.get(name);
    this.route = host.route(message, this.header);
  }

  get message(): unknown {
    return this.#message;
  }

  /** The body. */
  get text(): string | undefined {
    return this.#text;
  }

  /** The caller whose limits it counts against. */
  get caller(): string {
    return (this.#caller ??= callerKey(this.exchange));
  }

  /** Drops the message: the response may be a stream that stays open for long. */
  releaseMessage(): void {
    this.#message = undefined;
    this.#text = undefined;
  }
}
