// A stream of events as an unofficial server once had them: `connection` first, then `notification` and `progress`.
// It belongs to a session and may open before `initialize`. Only profiles that ask for it have it.

import type { Outlet, SessionHost } from '../../../protocol/exchange.ts';
import { principalKey } from '../../../protocol/principal.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { type HttpExchange, HttpPeer } from '../exchange.ts';
import { acceptsOf, acceptsStream } from '../media.ts';
import type { ErrorResponses } from '../responses.ts';
import { ActiveSession } from '../sessions/active-sessions.ts';
import type { OpenedSession } from '../sessions/session-ids.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { whenReady } from '../when-ready.ts';
import { eventText, openEventStream } from './event-stream.ts';

const progressStart = '{"jsonrpc":"2.0","method":"notifications/progress"';

export class CompatStream {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;

  constructor(host: SessionHost, state: EndpointState, sessions: Sessions, refusals: ErrorResponses) {
    this.#host = host;
    this.#state = state;
    this.#sessions = sessions;
    this.#errors = refusals;
  }

  open(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#errors.notAcceptable(exchange, 'text/event-stream');
    }
    if (!this.#state.mayStream(exchange)) return this.#errors.busy(exchange, 'too many streams are open');
    const id = this.#sessions.idOf(exchange);
    const opened = id === undefined ? this.#reserve(exchange) : this.#find(exchange, id);
    Promise.resolve(opened).catch((error: unknown) => this.#errors.failed(exchange, error));
  }

  /** Without a session one is made up, to be initialized later under the id it announces. */
  #reserve(exchange: HttpExchange): void | Promise<void> {
    const peer = new HttpPeer(exchange);
    const waitMs = this.#sessions.ids.waitMs(peer);
    if (waitMs !== undefined) return this.#errors.tooManyEnded(exchange, waitMs, 'no new session can be opened');
    return whenReady(this.#sessions.ids.reserve(principalKey(exchange.principal)), (known) => {
      const live = new ActiveSession(this.#sessions.live, known);
      live.channel = this.#host.connect(peer, undefined, known.key);
      this.#attach(exchange, live);
    });
  }

  #find(exchange: HttpExchange, id: string): void | Promise<void> {
    return whenReady(this.#sessions.find(id, exchange), (known) => {
      if (known === undefined) return this.#errors.unknownSession(exchange);
      return whenReady(this.#take(known, exchange), (live) => {
        if (live === undefined) this.#errors.unknownSession(exchange);
        else this.#attach(exchange, live);
      });
    });
  }

  #take(known: OpenedSession, exchange: HttpExchange): ReturnType<Sessions['enter']> {
    const peer = new HttpPeer(exchange);
    const live = this.#sessions.live.get(known.key);
    if (live !== undefined || known.settled !== undefined) return live ?? this.#sessions.enter(known, peer);
    const reserved = new ActiveSession(this.#sessions.live, known);
    reserved.channel = this.#host.connect(peer, undefined, known.key);
    return reserved;
  }

  #attach(exchange: HttpExchange, live: ActiveSession): void {
    const stream = openEventStream(exchange, this.#state.beat, live.expiresAtMs);
    const aside: Outlet = {
      duplex: false,
      push: (text) =>
        stream.write(eventText(text, undefined, text.startsWith(progressStart) ? 'progress' : 'notification')),
      end() {},
    };
    const detach = (): void => {
      if (live.compatOutlet !== aside) return;
      live.compatOutlet = undefined;
      live.channel.setOutlet(undefined);
      live.releaseIfIdle();
    };
    stream.onEnding = detach;
    exchange.onGone(() => {
      stream.gone();
      detach();
    });
    stream.write(eventText(JSON.stringify({ type: 'connected', session_id: live.known.id }), undefined, 'connection'));
    for (const text of live.takeMissed()) aside.push(text);
    live.compatOutlet = aside;
    // What it is told of depends on who listens.
    live.channel.peer = new HttpPeer(exchange);
    live.follow();
    live.releaseIfIdle();
  }
}
