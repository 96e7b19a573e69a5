// Server-sent events: one connection that carries them, and the heartbeat that keeps idle ones alive. Streams that can be
// resumed are in resumable-stream.ts.

import type { Logger } from '../../../common/logger.ts';
import { type CallerBudget, callerKey } from '../../../protocol/callers/caller-budget.ts';
import type { Principal } from '../../../protocol/callers/principal.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { BufferedBytes, HeldBytes } from '../buffered-bytes.ts';
import type { AdmittedRequest, ByteSink, HeaderList, HttpExchange } from '../exchange.ts';
import { type FairTurns, smallResponse } from '../fair-turns.ts';
import type { HttpLimits } from '../limits.ts';
import { DelayedSink } from './delayed-sink.ts';

export const eventStreamHeaders: HeaderList = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache, no-transform',
  'X-Accel-Buffering',
  'no',
];

/** One event as text. JSON has no raw line breaks, so a message is always one `data` line. */
export function eventText(text: string, id?: string, type = 'message'): string {
  return id === undefined ? `event: ${type}\ndata: ${text}\n\n` : `event: ${type}\nid: ${id}\ndata: ${text}\n\n`;
}

/**
 * Responds to a request with an event stream, which ends when its session or access token expires. `ready`: nothing is sent
 * before it has settled, apart from the headers.
 */
export function openEventStream(
  exchange: HttpExchange,
  heartbeat: Heartbeat,
  sessionExpiresAtMs?: number,
  ready?: void | Promise<void>,
): EventStream {
  const sink = exchange.openStream(eventStreamHeaders);
  const delayed = ready instanceof Promise ? new DelayedSink(sink, ready) : sink;
  return new EventStream(delayed, heartbeat, exchange, sessionExpiresAtMs);
}

/** As `openEventStream`, for a stream that no handler writes to: such streams stay open by the thousand. */
export function openStandaloneStream(
  exchange: HttpExchange,
  heartbeat: Heartbeat,
  sessionExpiresAtMs?: number,
): EventStream {
  const stream = openEventStream(exchange, heartbeat, sessionExpiresAtMs);
  exchange.releaseHeaders?.();
  return stream;
}

/** What any stream usually has queued, and is not counted. */
const maxFreeBytes = 64 * 1024;

/** How often a stream whose reader is slow is checked. */
const checkMs = 250;

/** How many times the limit may be written in one turn of the event loop, before the client could have read it. */
const maxTurnFactor = 8;

/** A client that reads nothing during so many heartbeats is disconnected; a large event may take a slow one a while. */
const maxStalledHeartbeats = 8;

/** What carries the events of a stream: a connection of this process, or one of another process. */
export interface StreamConnection {
  /** Writes text that is formatted as events. False when it has ended, or its reader is too slow. */
  write(text: string): boolean;
  end(): void;
  /** It was closed by the client. */
  gone(): void;
}

/** One open connection. */
export class EventStream implements StreamConnection {
  readonly #sink: ByteSink;
  readonly #heartbeat: Heartbeat;
  readonly #held: HeldBytes;
  #open = true;
  /** More than the limit was queued when something was written. */
  #tooMuch = false;
  /** Something was written since the last heartbeat. */
  #active = true;
  #written = 0;
  #taken = 0;
  #stalledHeartbeats = 0;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  /** The principal that opened it. */
  readonly principal: Principal | undefined;
  /** When the session, or the access token it was opened with, expires. */
  readonly expiresAtMs: number;
  /** Called before the server ends the stream early, with the reason: the last chance to send something. */
  onEnding: ((error: WireError) => void) | undefined;

  constructor(
    sink: ByteSink,
    heartbeat: Heartbeat,
    owner: Pick<AdmittedRequest, 'principal' | 'address'>,
    sessionExpiresAtMs = Number.POSITIVE_INFINITY,
  ) {
    const { principal } = owner;
    this.#sink = sink;
    this.#heartbeat = heartbeat;
    this.#held = heartbeat.buffered.open(callerKey(owner));
    this.principal = principal;
    this.expiresAtMs = Math.min(sessionExpiresAtMs, principal?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    heartbeat.add(this);
  }

  /** The caller whose limits it counts against. */
  get caller(): string {
    return this.#held.caller;
  }

  /** Writes text that is formatted as events. False when the stream has ended, or its reader is too slow. */
  write(text: string): boolean {
    if (!this.#open) return false;
    this.#active = true;
    this.#written += text.length;
    const { queued } = this.#sink;
    const { freeBytes } = this.#heartbeat;
    if (queued > freeBytes || text.length > freeBytes) return this.#writeMuch(text, queued);
    this.#sink.write(text);
    return true;
  }

  /** Writes a large text, or one for a reader that has much unread. */
  #writeMuch(text: string, queued: number): boolean {
    if (!this.#mayQueue(queued)) {
      this.drop();
      return false;
    }
    if (text.length > smallResponse) this.#heartbeat.turns.spent(text.length);
    this.#sink.write(text);
    this.#countUnread();
    return true;
  }

  /** Whether more may be written for a reader that has this much unread. */
  #mayQueue(queued: number): boolean {
    const { maxQueuedBytes, buffered } = this.#heartbeat;
    if (queued > maxQueuedBytes * maxTurnFactor) return false;
    // Also if this stream has nothing unread: hundreds of streams may get one large result each.
    if (buffered.isOverfull(this.caller)) return false;
    // What is written in one turn leaves at its end, so only what is queued after that was not read.
    if (queued > maxQueuedBytes) this.#tooMuch = true;
    this.#heartbeat.watch(this);
    return true;
  }

  /** Counts what is unread. False once the reader is not slow any more. */
  checkBacklog(): boolean {
    if (!this.#open) return false;
    if (this.#tooMuch && this.#sink.queued > this.#heartbeat.maxQueuedBytes) {
      this.drop();
      return false;
    }
    this.#tooMuch = false;
    return this.#countUnread();
  }

  /** False if it is not worth counting. */
  #countUnread(): boolean {
    const { queued } = this.#sink;
    const isMuch = queued > this.#heartbeat.freeBytes;
    this.#held.set(isMuch ? queued : 0);
    return isMuch;
  }

  /** Sends a comment if nothing else was sent, or disconnects a reader that reads nothing. */
  onHeartbeat(): void {
    const { queued } = this.#sink;
    const taken = this.#written - queued;
    this.#stalledHeartbeats = queued > 0 && taken <= this.#taken ? this.#stalledHeartbeats + 1 : 0;
    this.#taken = taken;
    if (this.#stalledHeartbeats >= maxStalledHeartbeats) return this.drop();
    if (!this.#active) this.write(':\n\n');
    this.#active = false;
  }

  send(text: string, id?: string): boolean {
    return this.write(eventText(text, id));
  }

  end(): void {
    if (!this.#open) return;
    this.gone();
    this.#sink.end();
  }

  /** Ends the stream early, and reports why: to the calls that use it, and in a last comment. */
  endEarly(error: WireError): void {
    if (!this.#open) return;
    try {
      this.onEnding?.(error);
    } catch (cause) {
      this.#heartbeat.logger.error('the end of a stream could not be reported', { error: cause });
    }
    this.write(`: ${error.message}\n\n`);
    this.end();
  }

  /** Ends the stream after `delayMs`, when it expires. */
  expireIn(delayMs: number): void {
    this.#expiry ??= setTimeout(() => this.endEarly(this.#expired()), delayMs);
    (this.#expiry as { unref?: () => void }).unref?.();
  }

  #expired(): WireError {
    return this.expiresAtMs === this.principal?.expiresAtMs
      ? wireErrors.tokenEnded('expired')
      : wireErrors.unknownSession();
  }

  /** Disconnects a reader that does not read; the exchange reports the end of the connection. */
  drop(): void {
    if (!this.#open) return;
    this.gone();
    this.#heartbeat.dropped++;
    this.#sink.destroy();
  }

  /** The connection was closed by the client. */
  gone(): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#expiry);
    this.#held.release();
    this.#heartbeat.delete(this);
  }
}

/** Keeps idle streams alive and ends expired ones, on one timer that exists only while there are streams. */
export class Heartbeat {
  readonly #streams = new Set<EventStream>();
  readonly #budget: CallerBudget;
  readonly #intervalMs: number;
  readonly maxQueuedBytes: number;
  readonly freeBytes: number;
  readonly buffered: BufferedBytes;
  readonly turns: FairTurns;
  readonly logger: Logger;
  /** Streams whose readers are slow. */
  readonly #slow = new Set<EventStream>();
  #checkSoon: ReturnType<typeof setTimeout> | undefined;
  #checkLater: ReturnType<typeof setTimeout> | undefined;
  /** How many readers were disconnected. */
  dropped = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(limits: HttpLimits, budget: CallerBudget, buffered: BufferedBytes, turns: FairTurns, logger: Logger) {
    this.#intervalMs = limits.heartbeatMs;
    this.maxQueuedBytes = limits.maxQueuedBytes;
    this.freeBytes = Math.min(maxFreeBytes, limits.maxQueuedBytes);
    this.#budget = budget;
    this.buffered = buffered;
    this.turns = turns;
    this.logger = logger;
  }

  get size(): number {
    return this.#streams.size;
  }

  add(stream: EventStream): void {
    this.#streams.add(stream);
    this.#budget.charge(stream.caller);
    this.#timer ??= this.#start();
    if (stream.expiresAtMs !== Number.POSITIVE_INFINITY) this.#expireSoon(stream, Date.now());
  }

  delete(stream: EventStream): void {
    this.#streams.delete(stream);
    this.#slow.delete(stream);
    this.#budget.release(stream.caller);
    if (this.#streams.size === 0) this.stop();
  }

  /** Checks a stream at the end of this turn, and then regularly while its reader is slow. */
  watch(stream: EventStream): void {
    this.#slow.add(stream);
    this.#checkSoon ??= setTimeout(() => {
      this.#checkSoon = undefined;
      this.#checkSlow();
    }, 0);
  }

  #checkSlow(): void {
    for (const stream of this.#slow) if (!stream.checkBacklog()) this.#slow.delete(stream);
    if (this.#slow.size === 0) return;
    this.#checkLater ??= setTimeout(() => {
      this.#checkLater = undefined;
      this.#checkSlow();
    }, checkMs);
    (this.#checkLater as { unref?: () => void }).unref?.();
  }

  endAll(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  /** Ends the streams of principals for which `match` is true, with that error. */
  endEarly(match: (principal: Principal) => boolean, error: WireError): void {
    for (const stream of [...this.#streams]) {
      if (stream.principal !== undefined && match(stream.principal)) stream.endEarly(error);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.#run(), this.#intervalMs);
    // The heartbeat must not keep the process alive.
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }

  /** A stream that expires before the next heartbeat gets a timer of its own: most never do. */
  #expireSoon(stream: EventStream, now: number): void {
    const leftMs = stream.expiresAtMs - now;
    if (leftMs <= this.#intervalMs) stream.expireIn(Math.max(0, leftMs));
  }

  #run(): void {
    const now = Date.now();
    for (const stream of this.#streams) {
      stream.onHeartbeat();
      this.#expireSoon(stream, now);
    }
  }
}
