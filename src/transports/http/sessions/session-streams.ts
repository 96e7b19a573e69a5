// GET on the endpoint: the standalone stream of a session, or the rest of a stream that began as the response to a POST.

import { wireErrors } from '../../../protocol/errors.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { type HttpExchange, HttpPeer } from '../exchange.ts';
import { acceptsOf, acceptsStream } from '../media.ts';
import type { ErrorResponses } from '../responses.ts';
import { type EventStream, openEventStream } from '../streams/event-stream.ts';
import { type EventPosition, parseEventId, replay } from '../streams/resumable-stream.ts';
import type { ActiveSession } from './active-sessions.ts';
import type { Sessions } from './sessions.ts';

export class SessionStreams {
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;

  constructor(state: EndpointState, sessions: Sessions, errors: ErrorResponses) {
    this.#state = state;
    this.#sessions = sessions;
    this.#errors = errors;
  }

  get(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#errors.notAcceptable(exchange, 'text/event-stream');
    }
    const id = this.#sessions.idOf(exchange);
    if (id === undefined) return this.#errors.sessionRequired(exchange);
    this.#sessions.use(exchange, id, (session) => {
      if (!session.mayStream(exchange)) return this.#errors.busy(exchange, 'too many streams are open');
      const last = this.#state.log && exchange.get('last-event-id');
      const position = last === undefined ? undefined : parseEventId(last);
      if (position?.kind === 'post') return this.#resume(session, exchange, position);
      return this.#openStandalone(session, exchange, position);
    });
  }

  #connect(session: ActiveSession, exchange: HttpExchange): EventStream {
    const connection = openEventStream(exchange, this.#state.heartbeat, session.expiresAtMs);
    // Proxies and clients wait for the first bytes.
    connection.write(':\n\n');
    return connection;
  }

  #openStandalone(session: ActiveSession, exchange: HttpExchange, position: EventPosition | undefined): Promise<void> {
    const connection = this.#connect(session, exchange);
    // Which changes are sent depends on the principal, and a session that was idle has no peer.
    session.channel.peer = new HttpPeer(exchange);
    exchange.onGone(() => {
      session.standalone.lost(connection);
      session.releaseIfIdle();
    });
    connection.onEnding = () => {
      session.standalone.detach(connection);
      session.releaseIfIdle();
    };
    session.follow();
    const opened = session.standalone.open(connection, session.channel.session?.polling === true, position);
    session.releaseIfIdle();
    return opened;
  }

  /** Sends a client that reconnected the rest of the response to a POST. */
  async #resume(session: ActiveSession, exchange: HttpExchange, position: EventPosition): Promise<void> {
    const { log } = this.#state;
    if (log === undefined || (await log.after(session.key, position.stream, position.sequence)) === undefined) {
      return this.#errors.sendError(exchange, 400, wireErrors.unknownEventId());
    }
    const connection = this.#connect(session, exchange);
    const running = session.posts.get(position.stream);
    if (running === undefined) {
      await replay(log, session.key, position, () => connection);
      return connection.end();
    }
    exchange.onGone(() => running.lostConnection(connection));
    connection.onEnding = (error) => running.ending(connection, error);
    await running.resume(connection, position.sequence);
  }
}
