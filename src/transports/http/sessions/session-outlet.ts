// The outlet of a POST within a session: JSON, or from the first interim message on an event stream that the client may
// lose and resume. Losing the connection does not cancel the request.

import type { WireError } from '../../../protocol/errors.ts';
import type { Outlet, Principal } from '../../../protocol/exchange.ts';
import type { RequestId } from '../../../protocol/model.ts';
import type { Post } from '../post.ts';
import { requestIds, respond } from '../responses.ts';
import { type EventStream, openEventStream, type StreamConnection } from '../streams/event-stream.ts';
import { type Resumable, ResumableStream } from '../streams/resumable-stream.ts';
import type { ActiveSession, PendingCall } from './active-sessions.ts';

export class SessionOutlet implements Outlet, Resumable, PendingCall {
  readonly #session: ActiveSession;
  readonly #post: Post;
  /** With a bus: resolves when the message has arrived in other processes that it concerns. */
  readonly #relayed: Promise<unknown> | undefined;
  #stream: ResumableStream | undefined;
  #gone = false;
  abandonedAtMs: number | undefined;
  slot = -1;
  ended = false;
  /** The response is in the log, so a client that resumes the stream receives it. */
  #answered = false;

  constructor(session: ActiveSession, post: Post, relayed: Promise<unknown> | undefined) {
    this.#session = session;
    this.#post = post;
    this.#relayed = relayed;
  }

  get #mayStream(): boolean {
    const { accepts, exchange } = this.#post;
    return !this.#gone && (accepts === 'both' || accepts === 'stream') && this.#session.mayStream(exchange);
  }

  /** Without a stream the client has no event id to reconnect with. */
  get duplex(): boolean {
    return !this.ended && (this.#stream?.reachable ?? this.#mayStream);
  }

  push(text: string): boolean {
    if (this.ended) return false;
    if (this.#stream === undefined) {
      if (!this.#mayStream) return this.#session.pushCompat(text);
      this.#open();
    }
    return this.#stream?.push(text) ?? false;
  }

  #open(retryMs?: number): void {
    const { key, log, heartbeat, expiresAtMs, channel, process } = this.#session;
    const { exchange } = this.#post;
    this.#stream = new ResumableStream('post', key, log, this.caller, process);
    const begun = this.#stream.begin(this.requestIds);
    const connection = openEventStream(exchange, heartbeat, expiresAtMs, begun);
    connection.onEnding = (error) => this.ending(connection, error);
    this.#stream.open(connection, channel.session?.polling === true, retryMs);
    exchange.onGone(() => this.lostConnection(connection));
    this.#session.posts.set(this.#stream.name, this);
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    if (this.ended) return;
    this.ended = true;
    const { saved } = this.#session;
    // What this message changed must apply to the next one, whichever process receives that.
    if (saved === undefined && this.#relayed === undefined) this.#finish(text, status, headers);
    else void Promise.all([saved, this.#relayed]).then(() => this.#finish(text, status, headers));
  }

  #finish(text: string | undefined, status?: number, headers?: readonly string[]): void {
    const stream = this.#stream;
    if (stream === undefined) {
      if (!this.#gone) respond(this.#post, text, status, headers);
      return this.#session.exchangeEnded(this);
    }
    const over = (): void => {
      this.#session.posts.delete(stream.name);
      this.#session.exchangeEnded(this);
    };
    this.#answered = true;
    const finished = stream.finish(text);
    if (finished instanceof Promise) void finished.then(over);
    else over();
  }

  closeEarly(retryMs: number): boolean {
    if (this.ended || this.#session.log === undefined) return false;
    if (this.#stream !== undefined) this.#stream.closeEarly(retryMs);
    else if (this.#mayStream) {
      this.#open(retryMs);
      (this.#stream as ResumableStream | undefined)?.closeEarly(undefined);
    } else return false;
    this.abandonedAtMs = Date.now();
    return true;
  }

  async resume(connection: StreamConnection, after: number): Promise<boolean> {
    const known = (await this.#stream?.resume(connection, after)) ?? false;
    if (known) this.abandonedAtMs = undefined;
    // The call may have ended while the log was read; then the client has just been sent its response.
    if (this.#answered) connection.end();
    return known;
  }

  lostConnection(connection: StreamConnection): void {
    if (this.#stream?.lost(connection) !== true) return;
    this.abandonedAtMs = Date.now();
    if (!this.#stream.reachable) this.#session.channel.release();
  }

  ending(connection: EventStream, error: WireError): void {
    if (this.#stream?.carriedBy(connection) !== true) return;
    // Where streams may be polled, the client reconnects with a valid token and the id of the last event.
    if (this.#session.channel.session?.polling === true && this.#session.log !== undefined) {
      this.#stream.detach(connection);
      this.abandonedAtMs = Date.now();
    } else this.fail(error);
  }

  /** Answers every request of this POST with an error. */
  fail(error: WireError): void {
    for (const id of this.requestIds) this.#session.channel.fail(id, error);
  }

  get requestIds(): readonly RequestId[] {
    return requestIds(this.#post.message);
  }

  get principal(): Principal | undefined {
    return this.#post.exchange.principal;
  }

  get caller(): string {
    return this.#post.caller;
  }

  /** The client disconnected before there was a stream. */
  lost(): void {
    if (this.#stream !== undefined || this.ended) return;
    this.#gone = true;
    this.abandonedAtMs = Date.now();
    this.#session.channel.release();
  }
}
