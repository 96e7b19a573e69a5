// Server-sent events: one connection that carries them, and the beat that keeps idle ones alive. Knows nothing of
// sessions; what can be resumed is resumable-stream.ts.

import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { Logger } from '../../protocol/log.ts';
import type { Principal } from '../../protocol/principal.ts';
import type { ByteSink, HeaderList, HttpExchange } from './exchange.ts';

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
  return new EventStream(exchange.openStream(eventStreamHeaders), beat, exchange.principal, sessionExpiresAtMs);
}

/** How much more than the limit may be written in one turn, before anybody could have read it. */
const patience = 8;

/** After so many beats without an event taken nobody is reading; a large one may take a slow reader a while. */
const maxIdleBeats = 8;

/** One open connection. */
export class EventStream {
  readonly #sink: ByteSink;
  readonly #beat: Heartbeat;
  #open = true;
  #judging = false;
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

  constructor(sink: ByteSink, beat: Heartbeat, principal?: Principal, sessionExpiresAtMs = Number.POSITIVE_INFINITY) {
    this.#sink = sink;
    this.#beat = beat;
    this.principal = principal;
    this.expiresAtMs = Math.min(sessionExpiresAtMs, principal?.expiresAtMs ?? Number.POSITIVE_INFINITY);
    beat.add(this);
  }

  /** Writes something already in the form of events. False when the stream is over, or its reader was cut off. */
  write(text: string): boolean {
    if (!this.#open) return false;
    this.#active = true;
    this.#written += text.length;
    const { queued } = this.#sink;
    const { maxQueuedBytes } = this.#beat;
    if (queued > maxQueuedBytes) {
      if (queued > maxQueuedBytes * patience) {
        this.drop();
        return false;
      }
      this.#judgeSoon();
    }
    this.#sink.write(text);
    return true;
  }

  /** What one turn writes leaves at its end, so only what is still there then was not taken by the reader. */
  #judgeSoon(): void {
    if (this.#judging) return;
    this.#judging = true;
    setTimeout(() => {
      this.#judging = false;
      if (this.#sink.queued > this.#beat.maxQueuedBytes) this.drop();
    }, 0);
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
    this.#open = false;
    clearTimeout(this.#expiry);
    this.#beat.delete(this);
  }
}

/** Keeps idle streams alive and ends expired ones, on one timer that exists only while there are streams. */
export class Heartbeat {
  readonly #streams = new Set<EventStream>();
  readonly #intervalMs: number;
  readonly maxQueuedBytes: number;
  readonly logger: Logger;
  /** How many readers were cut off. */
  dropped = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(intervalMs: number, maxQueuedBytes: number, logger: Logger) {
    this.#intervalMs = intervalMs;
    this.maxQueuedBytes = maxQueuedBytes;
    this.logger = logger;
  }

  get size(): number {
    return this.#streams.size;
  }

  add(stream: EventStream): void {
    this.#streams.add(stream);
    this.#timer ??= this.#start();
    if (stream.expiresAtMs !== Number.POSITIVE_INFINITY) this.#expireSoon(stream, Date.now());
  }

  delete(stream: EventStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size === 0) this.stop();
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
