// GET on the endpoint: the standing stream of a session, or the rest of a stream that a POST was answered with.

import { wireErrors } from '../../../protocol/errors.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { type HttpExchange, HttpPeer } from '../exchange.ts';
import { acceptsOf, acceptsStream } from '../media.ts';
import type { ErrorResponses } from '../responses.ts';
import { type EventStream, openEventStream } from '../streams/event-stream.ts';
import { type EventPosition, parseEventId, replay } from '../streams/resumable-stream.ts';
import type { ActiveSession } from './active-sessions.ts';
import type { SessionDoor } from './session-door.ts';
import type { Sessions } from './sessions.ts';

export class SessionStreams {
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #sessionRequests: SessionDoor;
  readonly #errors: ErrorResponses;

  constructor(state: EndpointState, sessions: Sessions, door: SessionDoor, refusals: ErrorResponses) {
    this.#state = state;
    this.#sessions = sessions;
    this.#sessionRequests = door;
    this.#errors = refusals;
  }

  get(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#errors.notAcceptable(exchange, 'text/event-stream');
    }
    const id = this.#sessions.idOf(exchange);
    if (id === undefined) return this.#errors.sessionRequired(exchange);
    this.#sessionRequests.handle(exchange, id, (live) => {
      if (!live.mayStream(exchange)) return this.#errors.busy(exchange, 'too many streams are open');
      const last = this.#state.log && exchange.get('last-event-id');
      const place = last === undefined ? undefined : parseEventId(last);
      if (place?.kind === 'post') return this.#resume(live, exchange, place);
      return this.#stand(live, exchange, place);
    });
  }

  #connect(live: ActiveSession, exchange: HttpExchange): EventStream {
    const connection = openEventStream(exchange, this.#state.beat, live.expiresAtMs);
    // Proxies and clients wait for the first bytes.
    connection.write(':\n\n');
    return connection;
  }

  #stand(live: ActiveSession, exchange: HttpExchange, place: EventPosition | undefined): Promise<void> {
    const connection = this.#connect(live, exchange);
    // What it is told of depends on who listens: the session may have rested since its last request.
    live.channel.peer = new HttpPeer(exchange);
    exchange.onGone(() => {
      live.standalone.lost(connection);
      live.releaseIfIdle();
    });
    connection.onEnding = () => {
      live.standalone.detach(connection);
      live.releaseIfIdle();
    };
    live.follow();
    const opened = live.standalone.open(connection, live.channel.session?.polling === true, place);
    live.releaseIfIdle();
    return opened;
  }

  /** A client comes back for the rest of what a POST is, or was, answered with. */
  async #resume(live: ActiveSession, exchange: HttpExchange, place: EventPosition): Promise<void> {
    const { log } = this.#state;
    if (log === undefined || (await log.after(live.key, place.stream, place.sequence)) === undefined) {
      const error = wireErrors.transport(
        'Bad Request: this Last-Event-ID is not known any more; send the request again',
      );
      return this.#errors.sendError(exchange, 400, error);
    }
    const connection = this.#connect(live, exchange);
    const running = live.posts.get(place.stream);
    if (running === undefined) {
      await replay(log, live.key, place, () => connection);
      return connection.end();
    }
    exchange.onGone(() => running.lostConnection(connection));
    connection.onEnding = (error) => running.ending(connection, error);
    await running.resume(connection, place.sequence);
  }
}
