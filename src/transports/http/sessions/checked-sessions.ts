// Which sessions are known to be as they were when the store was last asked, so that a request need not ask it again.

import { monotonicMs } from '../../../protocol/clock.ts';
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
  /** Sessions that were changed since they were looked up. */
  readonly #changed = new Set<string>();
  /** Answers of the store from before this time are not used. */
  #since = Number.NEGATIVE_INFINITY;

  constructor(bus: Bus | undefined) {
    this.#bus = bus;
    bus?.onGap(() => this.#forgetAll());
  }

  /** False: the store has to be asked. */
  isCurrent(session: CheckedSession, nowMs: number): boolean {
    // Requests that arrive before the store has answered must ask it too.
    if (this.#changed.size > 0 && this.#changed.delete(session.key)) session.checkedAtMs = Number.NEGATIVE_INFINITY;
    if (session.checkedAtMs <= this.#since) return false;
    if (nowMs - session.checkedAtMs < maxCheckAgeMs) return true;
    const bus = this.#bus;
    return bus !== undefined && nowMs - bus.freshAtMs < maxCheckAgeMs;
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
