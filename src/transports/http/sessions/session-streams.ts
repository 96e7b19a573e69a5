// GET on the endpoint: the standalone stream of a session, or the rest of a stream that began as the response to a POST.

import { wireErrors } from '../../../protocol/errors.ts';
import type { SessionHost } from '../../../protocol/exchange.ts';
import { errorText } from '../../../protocol/json-rpc.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { type HttpExchange, HttpPeer } from '../exchange.ts';
import { acceptsOf, acceptsStream } from '../media.ts';
import type { ErrorResponses } from '../responses.ts';
import { type EventStream, openStandaloneStream } from '../streams/event-stream.ts';
import { type RemoteCall, RemoteStreams } from '../streams/remote-streams.ts';
import { type EventPosition, parseEventId, replay } from '../streams/resumable-stream.ts';
import type { ActiveSession } from './active-sessions.ts';
import type { Sessions } from './sessions.ts';
import type { SharedSessions } from './shared-sessions.ts';

/** A comment. Proxies and clients wait for the first bytes of a stream. */
const firstBytes = ':\n\n';

export class SessionStreams {
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;

  /** Undefined without a bus. */
  readonly #remote: RemoteStreams | undefined;

  constructor({ bus, name }: SessionHost, state: EndpointState, sessions: Sessions, errors: ErrorResponses) {
    const find = (session: string, stream: string) => sessions.active.get(session)?.posts.get(stream);
    this.#remote = bus && new RemoteStreams(bus, name, find, (call) => state.logRejection(this.#recover(call)));
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
      const { shared } = this.#sessions;
      if (shared !== undefined) return this.#openShared(shared, session, exchange, position);
      return this.#openStandalone(session, exchange, position);
    });
  }

  #connect(session: ActiveSession, exchange: HttpExchange): EventStream {
    const connection = this.#respond(session, exchange);
    connection.write(firstBytes);
    return connection;
  }

  #respond(session: ActiveSession, exchange: HttpExchange): EventStream {
    return openStandaloneStream(exchange, this.#state.heartbeat, session.expiresAtMs);
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

  /** The same where other processes serve the session: only one of them has its stream. */
  async #openShared(
    shared: SharedSessions,
    session: ActiveSession,
    exchange: HttpExchange,
    position: EventPosition | undefined,
  ): Promise<void> {
    const connection = this.#respond(session, exchange);
    const { standalone, channel } = session;
    let isGone = false;
    const lost = (): void => {
      isGone = true;
      if (standalone.lost(connection)) shared.streamLost(session);
      session.releaseIfIdle();
    };
    exchange.onGone(lost);
    connection.onEnding = () => {
      if (standalone.carriedBy(connection)) shared.streamLost(session);
      standalone.detach(connection);
      session.releaseIfIdle();
    };
    channel.peer = new HttpPeer(exchange);
    const open = (missed: readonly string[]): void => {
      if (session.ended) return;
      for (const text of missed) standalone.push(text);
      session.follow();
    };
    const isOpen = await shared.claimStream(session, open).catch((error: unknown) => {
      // The client tries again; without this it would wait on a stream that carries nothing.
      connection.end();
      throw error;
    });
    if (!isOpen || session.ended) return connection.end();
    // Not earlier: only from now on, what other processes send to the session reaches this stream.
    connection.write(firstBytes);
    await standalone.open(connection, channel.session?.polling === true, position);
    // While the log was read, the session may have been ended, or another process may have opened the stream.
    if (session.ended) return connection.end();
    if (session.heldStream === undefined && standalone.carriedBy(connection)) session.releaseStream();
    // It may have been lost while other processes were asked.
    if (isGone) lost();
    else session.releaseIfIdle();
  }

  /** Sends a client that reconnected the rest of the response to a POST. */
  async #resume(session: ActiveSession, exchange: HttpExchange, position: EventPosition): Promise<void> {
    const { log } = this.#state;
    if (log === undefined || (await log.after(session.key, position.stream, position.sequence)) === undefined) {
      return this.#errors.sendError(exchange, 400, wireErrors.unknownEventId());
    }
    if (this.#remote?.isElsewhere(position) === true)
      return this.#resumeRemote(this.#remote, session, exchange, position);
    const connection = this.#connect(session, exchange);
    const running = session.posts.get(position.stream);
    if (running === undefined) return this.#replay(log, session.key, position, connection);
    exchange.onGone(() => running.lostConnection(connection));
    connection.onEnding = (error) => running.ending(connection, error);
    await running.resume(connection, position.sequence);
  }

  /** The same where the call runs, or ran, in another process. */
  async #resumeRemote(
    remote: RemoteStreams,
    session: ActiveSession,
    exchange: HttpExchange,
    position: EventPosition,
  ): Promise<void> {
    const connection = this.#connect(session, exchange);
    exchange.onGone(() => remote.lost(connection));
    connection.onEnding = () => remote.lost(connection);
    const continued = await remote.resume(session.key, position, connection);
    if (continued === 'running' || continued === 'recovered') return;
    if (continued === 'ended') await replay(this.#state.log as EventLog, session.key, position, () => connection);
    connection.end();
  }

  /** The process of a call has ended while its client was connected here. */
  async #recover({ session, stream, sequence, connection, requests }: RemoteCall): Promise<void> {
    const { log } = this.#state;
    if (log?.unanswered !== undefined) {
      try {
        return await this.#replay(log, session, { kind: 'post', stream, sequence }, connection);
      } catch (error) {
        this.#state.logger.warn('the events of a process that has ended could not be read', { error });
      }
    }
    for (const id of requests) connection.send(errorText(id, wireErrors.processEnded()));
    connection.end();
  }

  /** Sends the rest of a stream whose call does not run any more. */
  async #replay(log: EventLog, session: string, position: EventPosition, connection: EventStream): Promise<void> {
    await replay(log, session, position, () => connection);
    // The process of the call was killed: its client must not wait forever.
    for (const id of (await log.unanswered?.(session, position.stream)) ?? []) {
      connection.send(errorText(id, wireErrors.processEnded()));
    }
    connection.end();
  }
}
