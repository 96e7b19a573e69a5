// Which sessions are known to be as they were when the store was last asked, so that a request need not ask it again.

import { monotonicMs } from '../../../common/clock.ts';
import type { Bus } from '../../../protocol/ports.ts';

/** A session that was looked up in the store. */
export interface CheckedSession {
  readonly key: string;
  /** When the store was last asked, on the monotonic clock. */
  checkedAtMs: number;
}

/**
 * How old an answer of the store may be, and how long nothing may have been heard on the bus: the longest time that a
 * session which was ended in one process is served by another.
 */
export const maxCheckAgeMs = 1_000;

/** Changed sessions that are remembered; with more of them, every session is looked up again. */
const maxChanged = 10_000;

export class CheckedSessions {
  readonly #bus: Bus | undefined;
  readonly #maxStaleMs: number;
  /** Sessions that were changed since they were looked up. */
  readonly #changed = new Set<string>();
  /** Answers of the store from before this time are not used. */
  #since = Number.NEGATIVE_INFINITY;

  /** `maxStaleMs`: how long a session is served while the store cannot be asked. */
  constructor(bus: Bus | undefined, maxStaleMs = 0) {
    this.#bus = bus;
    this.#maxStaleMs = maxStaleMs;
    bus?.onGap(() => this.#forgetAll());
  }

  /** False: the store has to be asked. */
  isCurrent(session: CheckedSession, nowMs: number): boolean {
    this.takeChange(session);
    if (session.checkedAtMs <= this.#since) return false;
    // With a bus, another process waits for this one before it reports that a session has ended, unless it has taken this one for one
    // that has ended itself. Then the bus is not fresh, and the store is asked each time.
    return nowMs - (this.#bus?.freshAtMs ?? session.checkedAtMs) < maxCheckAgeMs;
  }

  /** Whether a session was changed since the last call. If so, every request asks the store until it has answered one. */
  takeChange(session: CheckedSession): boolean {
    const isChanged = this.#changed.size > 0 && this.#changed.delete(session.key);
    if (isChanged) session.checkedAtMs = Number.NEGATIVE_INFINITY;
    return isChanged;
  }

  /** Whether a session is served although the store could not be asked: it was not ended a short while ago. */
  mayBeStale(session: CheckedSession, nowMs: number): boolean {
    // It was changed while the store was asked.
    if (this.#changed.has(session.key)) return false;
    if (session.checkedAtMs <= this.#since) return false;
    const knownAtMs = Math.max(session.checkedAtMs, this.#bus?.freshAtMs ?? Number.NEGATIVE_INFINITY);
    return nowMs - knownAtMs < this.#maxStaleMs;
  }

  /** A session was changed, so the next request asks the store. */
  changed(key: string): void {
    if (this.#changed.size >= maxChanged) this.#forgetAll();
    else this.#changed.add(key);
  }

  #forgetAll(): void {
    this.#changed.clear();
    this.#since = monotonicMs();
  }
}
