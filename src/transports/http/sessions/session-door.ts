// Where a request that names a session is let into it, or turned away. Everything goes on at once where store and
// sealer answer at once.

import { wireErrors } from '../../../protocol/errors.ts';
import type { SessionHost } from '../../../protocol/exchange.ts';
import { type HttpExchange, HttpPeer } from '../exchange.ts';
import type { ErrorResponses } from '../responses.ts';
import type { ActiveSession } from './active-sessions.ts';
import type { OpenedSession } from './session-ids.ts';
import type { Sessions } from './sessions.ts';

type Next = (live: ActiveSession) => void | Promise<void>;

export class SessionDoor {
  readonly #host: SessionHost;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;

  constructor(host: SessionHost, sessions: Sessions, refusals: ErrorResponses) {
    this.#host = host;
    this.#sessions = sessions;
    this.#errors = refusals;
  }

  /** Goes on in the session with that id, if it is one of this principal's. */
  handle(exchange: HttpExchange, id: string, next: Next): void {
    const found = this.#sessions.find(id, exchange);
    if (found instanceof Promise) {
      return this.settle(
        exchange,
        found.then((known) => this.#authorize(exchange, known, next)),
      );
    }
    this.settle(exchange, this.#authorize(exchange, found, next));
  }

  #authorize(exchange: HttpExchange, known: OpenedSession | undefined, next: Next): void | Promise<void> {
    if (known === undefined) return this.#errors.unknownSession(exchange);
    if (known.settled === undefined) return this.#errors.sendError(exchange, 400, wireErrors.notInitialized());
    return this.enterKnown(exchange, known, next);
  }

  /** The same for a session that has been found. */
  enterKnown(exchange: HttpExchange, known: OpenedSession, next: Next): void | Promise<void> {
    if (!this.speaks(exchange)) return;
    const live = this.#sessions.enter(known, new HttpPeer(exchange));
    if (live instanceof Promise) {
      return live.then((entered) => (entered === undefined ? this.#errors.unknownSession(exchange) : next(entered)));
    }
    return live === undefined ? this.#errors.unknownSession(exchange) : next(live);
  }

  /** Refuses a request whose header names a revision that no session speaks. */
  speaks(exchange: HttpExchange): boolean {
    const { handshakeVersions } = this.#host;
    const said = exchange.get('mcp-protocol-version');
    // Another revision than the session's is tolerated as long as we speak it: the session decides.
    if (said === undefined || handshakeVersions.includes(said) || handshakeVersions.includes(said.trim())) return true;
    this.#errors.unknownVersion(exchange, said, handshakeVersions);
    return false;
  }

  /** Sees to it that what fails later becomes an answer too. */
  settle(exchange: HttpExchange, done: void | Promise<void>): void {
    if (done instanceof Promise) done.catch((error: unknown) => this.#errors.failed(exchange, error));
  }
}
