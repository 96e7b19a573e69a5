// A stream of events as an unofficial server once had them: `connection` first, then `notification` and `progress`.
// It belongs to a session and may open before `initialize`. Only profiles that ask for it have it.

import type { Outlet, SessionHost } from '../../protocol/exchange.ts';
import { principalKey } from '../../protocol/principal.ts';
import type { Refusals } from './answers.ts';
import type { EndpointState } from './endpoint-state.ts';
import { eventText, openEventStream } from './event-stream.ts';
import { type HttpExchange, HttpPeer } from './exchange.ts';
import { LiveSession } from './live-session.ts';
import { acceptsOf, acceptsStream } from './media.ts';
import { whenReady } from './ready.ts';
import type { KnownSession } from './session-ids.ts';
import type { Sessions } from './sessions.ts';

const progressStart = '{"jsonrpc":"2.0","method":"notifications/progress"';

export class CompatStream {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #refusals: Refusals;

  constructor(host: SessionHost, state: EndpointState, sessions: Sessions, refusals: Refusals) {
    this.#host = host;
    this.#state = state;
    this.#sessions = sessions;
    this.#refusals = refusals;
  }

  open(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#refusals.notAcceptable(exchange, 'text/event-stream');
    }
    if (!this.#state.mayStream(exchange)) return this.#refusals.busy(exchange, 'too many streams are open');
    const id = this.#sessions.idOf(exchange);
    const opened = id === undefined ? this.#reserve(exchange) : this.#find(exchange, id);
    Promise.resolve(opened).catch((error: unknown) => this.#refusals.failed(exchange, error));
  }

  /** Without a session one is made up, to be initialized later under the id it announces. */
  #reserve(exchange: HttpExchange): void | Promise<void> {
    const peer = new HttpPeer(exchange);
    const waitMs = this.#sessions.ids.waitMs(peer);
    if (waitMs !== undefined) return this.#refusals.tooManyEnded(exchange, waitMs, 'no new session can be opened');
    return whenReady(this.#sessions.ids.reserve(principalKey(exchange.principal)), (known) => {
      const live = new LiveSession(this.#sessions.live, known);
      live.channel = this.#host.connect(peer, undefined, known.key);
      this.#attach(exchange, live);
    });
  }

  #find(exchange: HttpExchange, id: string): void | Promise<void> {
    return whenReady(this.#sessions.find(id, exchange), (known) => {
      if (known === undefined) return this.#refusals.unknownSession(exchange);
      return whenReady(this.#take(known, exchange), (live) => {
        if (live === undefined) this.#refusals.unknownSession(exchange);
        else this.#attach(exchange, live);
      });
    });
  }

  #take(known: KnownSession, exchange: HttpExchange): ReturnType<Sessions['enter']> {
    const peer = new HttpPeer(exchange);
    const live = this.#sessions.live.get(known.key);
    if (live !== undefined || known.settled !== undefined) return live ?? this.#sessions.enter(known, peer);
    const reserved = new LiveSession(this.#sessions.live, known);
    reserved.channel = this.#host.connect(peer, undefined, known.key);
    return reserved;
  }

  #attach(exchange: HttpExchange, live: LiveSession): void {
    const stream = openEventStream(exchange, this.#state.beat, live.expiresAtMs);
    const aside: Outlet = {
      duplex: false,
      push: (text) =>
        stream.write(eventText(text, undefined, text.startsWith(progressStart) ? 'progress' : 'notification')),
      end() {},
    };
    const detach = (): void => {
      if (live.aside !== aside) return;
      live.aside = undefined;
      live.channel.follow(undefined);
      live.rest();
    };
    stream.onEnding = detach;
    exchange.onGone(() => {
      stream.gone();
      detach();
    });
    stream.write(eventText(JSON.stringify({ type: 'connected', session_id: live.known.id }), undefined, 'connection'));
    for (const text of live.takeMissed()) aside.push(text);
    live.aside = aside;
    // What it is told of depends on who listens.
    live.channel.peer = new HttpPeer(exchange);
    live.follow();
    live.rest();
  }
}
