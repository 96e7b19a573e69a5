// How many notifications of one call are passed on. A client that gets more than it reads loses its stream, and with it the
// result of the call.

const windowMs = 1_000;
/** Stops a server that logs in a loop. */
export const maxPerSecond = 1_000;
/** Stops a server that logs whole files: half of what HTTP queues for a client that reads slowly. */
export const maxCharsPerSecond = 512 * 1024;

export class NotificationLimit {
  #startMs = Number.NEGATIVE_INFINITY;
  #count = 0;
  #chars = 0;

  /** Whether another one may be passed on. `chars`: about how long it is. */
  admit(chars: number, nowMs: number = performance.now()): boolean {
    if (nowMs - this.#startMs >= windowMs) {
      this.#startMs = nowMs;
      this.#count = 0;
      this.#chars = 0;
    }
    if (this.#count >= maxPerSecond || this.#chars + chars > maxCharsPerSecond) return false;
    this.#count++;
    this.#chars += chars;
    return true;
  }
}

/** The length of a value as JSON, roughly. */
export function charsOf(data: unknown): number {
  return typeof data === 'string' ? data.length : (JSON.stringify(data)?.length ?? 0);
}
