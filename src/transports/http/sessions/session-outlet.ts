// The way back of a POST within a session: JSON, or from the first interim message on a stream that the client may
// lose and resume. Losing the connection cancels nothing here.

import { callerKey } from '../../../protocol/caller-budget.ts';
import type { WireError } from '../../../protocol/errors.ts';
import type { Outlet, Principal } from '../../../protocol/exchange.ts';
import type { HttpExchange } from '../exchange.ts';
import type { Accepts } from '../media.ts';
import { requestIds, respond } from '../responses.ts';
import { type EventStream, openEventStream } from '../streams/event-stream.ts';
import { type Resumable, ResumableStream } from '../streams/resumable-stream.ts';
import type { ActiveSession, PendingCall } from './active-sessions.ts';

export class SessionOutlet implements Outlet, Resumable, PendingCall {
  readonly #live: ActiveSession;
  readonly #exchange: HttpExchange;
  readonly #accepts: Accepts;
  readonly #message: unknown;
  #stream: ResumableStream | undefined;
  #gone = false;
  abandonedAtMs: number | undefined;
  #caller: string | undefined;
  ended = false;

  constructor(live: ActiveSession, exchange: HttpExchange, accepts: Accepts, message: unknown) {
    this.#live = live;
    this.#exchange = exchange;
    this.#accepts = accepts;
    this.#message = message;
  }

  get #mayStream(): boolean {
    return (
      !this.#gone && (this.#accepts === 'both' || this.#accepts === 'stream') && this.#live.mayStream(this.#exchange)
    );
  }

  /** Without a stream there is no id to come back with, so a lost client stays lost. */
  get duplex(): boolean {
    return !this.ended && (this.#stream?.reachable ?? this.#mayStream);
  }

  push(text: string): boolean {
    if (this.ended) return false;
    if (this.#stream === undefined) {
      if (!this.#mayStream) return this.#live.pushCompat(text);
      this.#open();
    }
    return this.#stream?.push(text) ?? false;
  }

  #open(retryMs?: number): void {
    const { key, log, heartbeat, expiresAtMs, channel } = this.#live;
    const connection = openEventStream(this.#exchange, heartbeat, expiresAtMs);
    connection.onEnding = (error) => this.ending(connection, error);
    this.#stream = new ResumableStream('post', key, log, this.caller);
    this.#stream.open(connection, channel.session?.polling === true, retryMs);
    this.#exchange.onGone(() => this.lostConnection(connection));
    this.#live.posts.set(this.#stream.name, this);
  }

  end(text: string | undefined, status?: number, headers?: readonly string[]): void {
    if (this.ended) return;
    this.ended = true;
    const stream = this.#stream;
    if (stream === undefined) {
      if (!this.#gone) respond(this.#exchange, this.#accepts, this.#message, text, status, headers);
    } else {
      if (text !== undefined) stream.push(text);
      stream.end();
      this.#live.posts.delete(stream.name);
    }
    this.#live.exchangeEnded(this);
  }

  closeEarly(retryMs: number): boolean {
    if (this.ended || this.#live.log === undefined) return false;
    if (this.#stream !== undefined) this.#stream.closeEarly(retryMs);
    else if (this.#mayStream) {
      this.#open(retryMs);
      (this.#stream as ResumableStream | undefined)?.closeEarly(undefined);
    } else return false;
    this.abandonedAtMs = Date.now();
    return true;
  }

  async resume(connection: EventStream, after: number): Promise<boolean> {
    const known = (await this.#stream?.resume(connection, after)) ?? false;
    if (known) this.abandonedAtMs = undefined;
    // The call may have ended while a log was read; its answer is among what the client was just told.
    if (this.ended) connection.end();
    return known;
  }

  lostConnection(connection: EventStream): void {
    if (this.#stream?.lost(connection) !== true) return;
    this.abandonedAtMs = Date.now();
    if (!this.#stream.reachable) this.#live.channel.release();
  }

  ending(connection: EventStream, error: WireError): void {
    if (this.#stream?.carriedBy(connection) !== true) return;
    // Where streams may be polled, the client comes back with a valid token and the id of the last event.
    if (this.#live.channel.session?.polling === true && this.#live.log !== undefined) {
      this.#stream.detach(connection);
      this.abandonedAtMs = Date.now();
    } else this.fail(error);
  }

  /** Answers every request of this exchange with an error. */
  fail(error: WireError): void {
    for (const id of requestIds(this.#message)) this.#live.channel.fail(id, error);
  }

  get principal(): Principal | undefined {
    return this.#exchange.principal;
  }

  get caller(): string {
    return (this.#caller ??= callerKey(this.#exchange));
  }

  /** The client went away before there was a stream. */
  lost(): void {
    if (this.#stream !== undefined || this.ended) return;
    this.#gone = true;
    this.abandonedAtMs = Date.now();
    this.#live.channel.release();
  }
}
