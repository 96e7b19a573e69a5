// Server-sent events: one connection that carries them, and the beat that keeps idle ones alive. Knows nothing of
// sessions; what can be resumed is resumable-stream.ts.

import { type CallerBudget, callerKey } from '../../../protocol/caller-budget.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Logger } from '../../../protocol/logger.ts';
import type { Principal } from '../../../protocol/principal.ts';
import type { BufferedBytes, HeldBytes } from '../buffered-bytes.ts';
import type { AdmittedRequest, ByteSink, HeaderList, HttpExchange } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';

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

/** Answers a request with an event stream, which ends with its session or its access token. */
export function openEventStream(exchange: HttpExchange, beat: Heartbeat, sessionExpiresAtMs?: number): EventStream {
  return new EventStream(exchange.openStream(eventStreamHeaders), beat, exchange, sessionExpiresAtMs);
}

/** What is in the pipes of any stream now and then, and not counted. */
const maxFreeBytes = 64 * 1024;

/** How often one that lags behind is looked at. */
const lookMs = 250;

/** How much more than the limit may be written in one turn, before anybody could have read it. */
const maxStalledBeats = 8;

/** After so many beats without an event taken nobody is reading; a large one may take a slow reader a while. */
const maxIdleBeats = 8;

/** One open connection. */
export class EventStream {
  readonly #sink: ByteSink;
  readonly #beat: Heartbeat;
  readonly #held: HeldBytes;
  #open = true;
  /** More than the limit was queued when something was written. */
  #tooMuch = false;
  /** Something was written since the last beat. */
  #active = true;
  #written = 0;
  #taken = 0;
  #idleBeats = 0;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  /** Who opened it. */
  readonly principal: Principal | undefined;
  /** When the session, or the access token it was opened with, expires. */
  readonly expiresAtMs: number;
  /** Told before the server ends the stream early, and why: the last chance to send something. */
  onEnding: ((error: WireError) => void) | undefined;

  constructor(
    sink: ByteSink,
    beat: Heartbeat,
    owner: Pick<AdmittedRequest, 'principal' | 'address'>,
    sessionExpiresAtMs = Number.POSITIVE_INFINITY,
  ) {
    const { principal } = owner;
    this.#sink = sink;
    this.#beat = beat;
    this.#held = beat.buffered.open(callerKey(owner));
    this.principal = principal;
    this.expiresAtMs = Math.min(sessionExpiresAtMs, principal?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    beat.add(this);
  }

  /** Who opened it, as budgets know them. */
  get caller(): string {
    return this.#held.caller;
  }

  /** Writes something already in the form of events. False when the stream is over, or its reader was cut off. */
  write(text: string): boolean {
    if (!this.#open) return false;
    this.#active = true;
    this.#written += text.length;
    const { queued } = this.#sink;
    const { freeBytes } = this.#beat;
    if ((queued > freeBytes || text.length > freeBytes) && !this.#mayLag(queued)) {
      this.drop();
      return false;
    }
    this.#sink.write(text);
    return true;
  }

  /** Whether a reader that has this much before it is given more. */
  #mayLag(queued: number): boolean {
    const { maxQueuedBytes, freeBytes, buffered } = this.#beat;
    if (queued > maxQueuedBytes * maxStalledBeats) return false;
    if (queued > freeBytes && buffered.isOverfull(this.caller)) return false;
    // What one turn writes leaves at its end, so only what is still there then was not taken by the reader.
    if (queued > maxQueuedBytes) this.#tooMuch = true;
    this.#beat.watch(this);
    return true;
  }

  /** Counts what the reader has not taken yet. False once there is nothing to watch. */
  settleLag(): boolean {
    if (!this.#open) return false;
    const { queued } = this.#sink;
    const { maxQueuedBytes, freeBytes } = this.#beat;
    if (this.#tooMuch && queued > maxQueuedBytes) {
      this.drop();
      return false;
    }
    this.#tooMuch = false;
    this.#held.set(queued > freeBytes ? queued : 0);
    return queued > freeBytes;
  }

  /** One beat: a comment if nothing else was said, or the end of a reader that takes nothing. */
  beat(): void {
    const { queued } = this.#sink;
    const taken = this.#written - queued;
    this.#idleBeats = queued > 0 && taken <= this.#taken ? this.#idleBeats + 1 : 0;
    this.#taken = taken;
    if (this.#idleBeats >= maxIdleBeats) return this.drop();
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

  /** Ends the stream before its time, and says why: to what waits for an answer on it, and in a last comment. */
  endEarly(error: WireError): void {
    if (!this.#open) return;
    try {
      this.onEnding?.(error);
    } catch (cause) {
      this.#beat.logger.error('the end of a stream could not be told', { error: cause });
    }
    this.write(`: ${error.message}\n\n`);
    this.end();
  }

  /** Ends the stream in `delayMs`, when it expires. */
  expireIn(delayMs: number): void {
    this.#expiry ??= setTimeout(() => this.endEarly(this.#expired()), delayMs);
    (this.#expiry as { unref?: () => void }).unref?.();
  }

  #expired(): WireError {
    return this.expiresAtMs === this.principal?.expiresAtMs
      ? wireErrors.tokenEnded('expired')
      : wireErrors.unknownSession();
  }

  /** Cuts off a reader that does not read; whoever waits for the end of the connection hears of it. */
  drop(): void {
    if (!this.#open) return;
    this.gone();
    this.#beat.dropped++;
    this.#sink.destroy();
  }

  /** The connection has ended by itself. */
  gone(): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#expiry);
    this.#held.release();
    this.#beat.delete(this);
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
  readonly logger: Logger;
  /** Those whose readers have something before them. */
  readonly #lagging = new Set<EventStream>();
  #lookSoon: ReturnType<typeof setTimeout> | undefined;
  #lookLater: ReturnType<typeof setTimeout> | undefined;
  /** How many readers were cut off. */
  dropped = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(limits: HttpLimits, budget: CallerBudget, buffered: BufferedBytes, logger: Logger) {
    this.#intervalMs = limits.heartbeatMs;
    this.maxQueuedBytes = limits.maxQueuedBytes;
    this.freeBytes = Math.min(maxFreeBytes, limits.maxQueuedBytes);
    this.#budget = budget;
    this.buffered = buffered;
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
    this.#lagging.delete(stream);
    this.#budget.release(stream.caller);
    if (this.#streams.size === 0) this.stop();
  }

  /** Looks at a stream at the end of this turn, and again for as long as its reader lags behind. */
  watch(stream: EventStream): void {
    this.#lagging.add(stream);
    this.#lookSoon ??= setTimeout(() => {
      this.#lookSoon = undefined;
      this.#look();
    }, 0);
  }

  #look(): void {
    for (const stream of this.#lagging) if (!stream.settleLag()) this.#lagging.delete(stream);
    if (this.#lagging.size === 0) return;
    this.#lookLater ??= setTimeout(() => {
      this.#lookLater = undefined;
      this.#look();
    }, lookMs);
    (this.#lookLater as { unref?: () => void }).unref?.();
  }

  endAll(): void {
    for (const stream of [...this.#streams]) stream.end();
  }

  /** Ends the streams of those principals, and tells why. */
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
    const timer = setInterval(() => this.#beat(), this.#intervalMs);
    // A stream is kept open by its connection; the beat alone is no reason to stay.
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }

  /** A stream that expires before the next beat gets a timer of its own: most never do. */
  #expireSoon(stream: EventStream, now: number): void {
    const leftMs = stream.expiresAtMs - now;
    if (leftMs <= this.#intervalMs) stream.expireIn(Math.max(0, leftMs));
  }

  #beat(): void {
    const now = Date.now();
    for (const stream of this.#streams) {
      stream.beat();
      this.#expireSoon(stream, now);
    }
  }
}
