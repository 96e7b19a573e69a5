// Progress of calls whose tool may run as a task: as a notification while the client waits for the response, and as the
// status message of the task after that.

import { monotonicMs } from '../../../common/clock.ts';
import { progressTokenOf } from '../../../protocol/meta.ts';
import type { ProgressToken } from '../../../protocol/model.ts';
import type { Call } from '../../contract.ts';

/** A client whose time limit restarts with each notification keeps waiting for a call whose handler reports no progress. */
const keepAliveMs = 10_000;

/** The notifications of one call, with values that always increase. */
export class CallProgress {
  readonly #call: Call;
  readonly token: ProgressToken | undefined;
  #last = Number.NEGATIVE_INFINITY;
  #lastAtMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(call: Call) {
    this.#call = call;
    this.token = progressTokenOf(call.meta);
  }

  /** Whether a value is larger than all before it; others are not sent. */
  advance(progress: number): boolean {
    if (!Number.isFinite(progress) || progress <= this.#last) return false;
    this.#last = progress;
    this.#lastAtMs = monotonicMs();
    return true;
  }

  send(progress: number, total: number | undefined, message: string | undefined): void {
    if (this.token === undefined || !this.advance(progress)) return;
    const end = Number.isFinite(total) ? total : undefined;
    this.#call.push(this.#call.codec.progress(this.token, progress, end, message));
  }

  /** Sends progress while the handler reports none, until `stop`. */
  keepAlive(): void {
    if (this.token === undefined) return;
    this.#lastAtMs = monotonicMs();
    this.#timer = setInterval(() => {
      if (this.#call.settled) return this.stop();
      if (monotonicMs() - this.#lastAtMs < keepAliveMs / 2) return;
      // The next larger value that a double can tell apart at this size: real progress will be larger.
      this.send(
        Number.isFinite(this.#last) ? this.#last + Math.max(Math.abs(this.#last), 1) * 1e-12 : 0,
        undefined,
        undefined,
      );
    }, keepAliveMs);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
