// An event stream in the form of an older, unofficial server: `connection` first, then `notification` and `progress`. It
// belongs to a session and may be opened before `initialize`. Only used by profiles that configure it.

import { principalKey } from '../../../protocol/callers/principal.ts';
import type { Outlet, SessionHost } from '../../../protocol/exchange.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { type HttpExchange, HttpPeer } from '../exchange.ts';
import { acceptsOf, acceptsStream } from '../media.ts';
import type { ErrorResponses } from '../responses.ts';
import { ActiveSession } from '../sessions/active-sessions.ts';
import type { OpenedSession } from '../sessions/session-ids.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { whenReady } from '../when-ready.ts';
import { eventText, openStandaloneStream } from './event-stream.ts';

const progressStart = '{"jsonrpc":"2.0","method":"notifications/progress"';

export class CompatStream {
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

  open(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#errors.notAcceptable(exchange, 'text/event-stream');
    }
    if (!this.#state.mayStream(exchange)) return this.#errors.busy(exchange, 'too many streams are open');
    const id = this.#sessions.idOf(exchange);
    this.#errors.catchRejection(exchange, id === undefined ? this.#reserve(exchange) : this.#find(exchange, id));
  }

  /** Without a session one is reserved: it is initialized later, under the id that the stream announces. */
  #reserve(exchange: HttpExchange): void | Promise<void> {
    const { ids } = this.#sessions;
    const waitMs = ids.waitMs(exchange);
    if (waitMs !== undefined) return this.#errors.tooManyEnded(exchange, waitMs, 'no new session can be opened');
    return whenReady(ids.reserve(principalKey(exchange.principal)), (opened) =>
      this.#attach(exchange, this.#connect(opened, exchange)),
    );
  }

  #find(exchange: HttpExchange, id: string): void | Promise<void> {
    return whenReady(this.#sessions.find(id, exchange), (opened) => {
      if (opened === undefined) return this.#errors.unknownSession(exchange);
      return whenReady(this.#activate(opened, exchange), (session) => {
        if (session === undefined) this.#errors.unknownSession(exchange);
        else this.#attach(exchange, session);
      });
    });
  }

  #activate(opened: OpenedSession, exchange: HttpExchange): ReturnType<Sessions['activate']> {
    if (opened.negotiated !== undefined) return this.#sessions.activate(opened, exchange);
    return this.#sessions.active.get(opened.key) ?? this.#connect(opened, exchange);
  }

  /** A session that is not initialized yet. */
  #connect(opened: OpenedSession, exchange: HttpExchange): ActiveSession {
    const session = new ActiveSession(this.#sessions.active, opened);
    session.channel = this.#host.connect(new HttpPeer(exchange), undefined, opened.key);
    return session;
  }

  #attach(exchange: HttpExchange, session: ActiveSession): void {
    const stream = openStandaloneStream(exchange, this.#state.heartbeat, session.expiresAtMs);
    const outlet: Outlet = {
      duplex: false,
      push: (text) =>
        stream.write(eventText(text, undefined, text.startsWith(progressStart) ? 'progress' : 'notification')),
      end() {},
    };
    const detach = (): void => {
      if (session.compatOutlet !== outlet) return;
      session.compatOutlet = undefined;
      session.channel.setOutlet(undefined);
      session.releaseIfIdle();
    };
    stream.onEnding = detach;
    exchange.onGone(() => {
      stream.gone();
      detach();
    });
    stream.write(
      eventText(JSON.stringify({ type: 'connected', session_id: session.opened.id }), undefined, 'connection'),
    );
    for (const text of session.takeMissed()) outlet.push(text);
    session.compatOutlet = outlet;
    // Which changes are sent depends on the principal.
    session.channel.peer = new HttpPeer(exchange);
    session.follow();
    session.releaseIfIdle();
  }
}
