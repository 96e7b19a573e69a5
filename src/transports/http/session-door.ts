// Where a request that names a session is let into it, or turned away. Everything goes on at once where store and
// sealer answer at once.

import { wireErrors } from '../../protocol/errors.ts';
import type { SessionHost } from '../../protocol/exchange.ts';
import type { Refusals } from './answers.ts';
import { type HttpExchange, HttpPeer } from './exchange.ts';
import type { LiveSession } from './live-session.ts';
import type { KnownSession } from './session-ids.ts';
import type { Sessions } from './sessions.ts';

type Next = (live: LiveSession) => void | Promise<void>;

export class SessionDoor {
  readonly #host: SessionHost;
  readonly #sessions: Sessions;
  readonly #refusals: Refusals;

  constructor(host: SessionHost, sessions: Sessions, refusals: Refusals) {
    this.#host = host;
    this.#sessions = sessions;
    this.#refusals = refusals;
  }

  /** Goes on in the session with that id, if it is one of this principal's. */
  enter(exchange: HttpExchange, id: string, next: Next): void {
    const found = this.#sessions.find(id, exchange);
    if (found instanceof Promise) {
      return this.settle(
        exchange,
        found.then((known) => this.#admit(exchange, known, next)),
      );
    }
    this.settle(exchange, this.#admit(exchange, found, next));
  }

  #admit(exchange: HttpExchange, known: KnownSession | undefined, next: Next): void | Promise<void> {
    if (known === undefined) return this.#refusals.unknownSession(exchange);
    if (known.settled === undefined) return this.#refusals.refuse(exchange, 400, wireErrors.notInitialized());
    return this.enterKnown(exchange, known, next);
  }

  /** The same for a session that has been found. */
  enterKnown(exchange: HttpExchange, known: KnownSession, next: Next): void | Promise<void> {
    if (!this.speaks(exchange)) return;
    const live = this.#sessions.enter(known, new HttpPeer(exchange));
    if (live instanceof Promise) {
      return live.then((entered) => (entered === undefined ? this.#refusals.unknownSession(exchange) : next(entered)));
    }
    return live === undefined ? this.#refusals.unknownSession(exchange) : next(live);
  }

  /** Refuses a request whose header names a revision that no session speaks. */
  speaks(exchange: HttpExchange): boolean {
    const { handshakeVersions } = this.#host;
    const said = exchange.get('mcp-protocol-version');
    // Another revision than the session's is tolerated as long as we speak it: the session decides.
    if (said === undefined || handshakeVersions.includes(said) || handshakeVersions.includes(said.trim())) return true;
    this.#refusals.unknownVersion(exchange, said, handshakeVersions);
    return false;
  }

  /** Sees to it that what fails later becomes an answer too. */
  settle(exchange: HttpExchange, done: void | Promise<void>): void {
    if (done instanceof Promise) done.catch((error: unknown) => this.#refusals.failed(exchange, error));
  }
}
