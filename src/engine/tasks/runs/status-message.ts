// The status message of a task that runs: written at most once a second.

import { monotonicMs } from '../../../common/clock.ts';
import { clipMessage } from '../store/outcome-summary.ts';

/** One write a second is enough for people, and little for a store. */
const intervalMs = 1_000;

export class StatusMessage {
  readonly #write: (message: string) => void;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(write: (message: string) => void) {
    this.#write = write;
  }

  /** Writes the message now, or the last one of this second when it is over. */
  set(text: string): void {
    const message = clipMessage(text);
    clearTimeout(this.#timer);
    const waitMs = this.#writtenAtMs + intervalMs - monotonicMs();
    const write = (): void => {
      this.#writtenAtMs = monotonicMs();
      this.#write(message);
    };
    if (waitMs <= 0) return write();
    this.#timer = setTimeout(write, waitMs);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
