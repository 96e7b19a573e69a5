// `initialize` over HTTP: opens a session and sends its id, or negotiates a session whose id was reserved earlier.

import { principalKey } from '../../../protocol/callers/principal.ts';
import type { Outlet, SessionChannel, SessionHost } from '../../../protocol/exchange.ts';
import { receive } from '../../receive.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { HttpPeer } from '../exchange.ts';
import type { Post } from '../post.ts';
import { type ErrorResponses, respond } from '../responses.ts';
import { whenReady } from '../when-ready.ts';
import type { OpenedSession } from './session-ids.ts';
import type { Sessions } from './sessions.ts';

type MaybeId = string | undefined;

export class InitializeRequests {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;

  constructor(host: SessionHost, state: EndpointState, sessions: Sessions, errors: ErrorResponses) {
    this.#host = host;
    this.#state = state;
    this.#sessions = sessions;
    this.#errors = errors;
  }

  /** Opens a session. `hasSessions` false: the handshake is served, but no id is sent. */
  open(post: Post, hasSessions: boolean): void {
    const { exchange } = post;
    const { ids } = this.#sessions;
    const waitMs = hasSessions ? ids.waitMs(exchange) : undefined;
    if (waitMs !== undefined) return this.#errors.tooManyEnded(exchange, waitMs, 'no new session can be opened');
    const channel = this.#host.connect(new HttpPeer(exchange));
    this.#receive(post, channel, () => {
      const facts = channel.session?.facts;
      if (facts === undefined || !hasSessions) return undefined;
      return ids.create(facts, principalKey(exchange.principal));
    });
  }

  /** `initialize` with a session id: rejected by the session, unless its id was reserved and it is not initialized yet. */
  openReserved(post: Post, id: string): void {
    const { exchange } = post;
    const done = whenReady(this.#sessions.find(id, exchange), (opened) => {
      if (opened === undefined) return this.#errors.unknownSession(exchange);
      if (opened.negotiated === undefined) return this.#negotiate(post, opened);
      return this.#sessions.useNegotiated(exchange, opened, (session) => this.#sessions.deliver(post, session));
    });
    this.#errors.catchRejection(exchange, done);
  }

  #negotiate(post: Post, opened: OpenedSession): void {
    const { exchange } = post;
    const { key, id, expiresAtMs, context } = opened;
    const session = this.#sessions.active.get(key);
    const channel = session?.channel ?? this.#host.connect(new HttpPeer(exchange), undefined, key);
    this.#receive(post, channel, () => {
      const facts = channel.session?.facts;
      if (facts === undefined) return undefined;
      if (session !== undefined) this.#sessions.negotiated(session, exchange, facts);
      return whenReady(this.#sessions.ids.storeFacts(facts, expiresAtMs, context), () => id);
    });
  }

  /** `createId`: called when the handshake has ended; undefined when it failed. */
  #receive(post: Post, channel: SessionChannel, createId: () => MaybeId | Promise<MaybeId>): void {
    const { requests, logger } = this.#state;
    const { exchange, caller, route } = post;
    let [isOver, isCounted] = [false, false];
    const finish = (): void => {
      isOver = true;
      if (isCounted) requests.release(caller);
    };
    const outlet: Outlet = {
      duplex: false,
      push: () => false,
      end: (text, status) => {
        try {
          const responded = whenReady(createId(), (id) =>
            respond(post, text, status, id === undefined ? [] : this.#sessions.headersOf(id)),
          );
          if (responded instanceof Promise) this.#errors.catchRejection(exchange, responded.finally(finish));
          else finish();
        } catch (error) {
          finish();
          // The engine has ended this request, so an error that it caught would not be answered.
          this.#errors.failed(exchange, error);
        }
      },
    };
    receive(channel, post.message, logger, { outlet, route });
    if (isOver) return;
    isCounted = true;
    requests.charge(caller);
  }
}
