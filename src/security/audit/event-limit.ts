// Limits events of a kind per second and counts the suppressed ones, for events that any client can cause.

/** Events of one kind per second. Stops callers from filling the disk with events that cost them nothing. */
const perSecond = 100;

export class EventLimit {
  readonly #counts = new Map<string, number>();
  readonly #suppressed: (event: string, count: number) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(suppressed: (event: string, count: number) => void) {
    this.#suppressed = suppressed;
  }

  admits(event: string): boolean {
    this.#timer ??= setTimeout(() => this.#report(), 1_000).unref();
    const count = (this.#counts.get(event) ?? 0) + 1;
    this.#counts.set(event, count);
    return count <= perSecond;
  }

  /** Reports how many events were suppressed since the last report. */
  close(): void {
    clearTimeout(this.#timer);
    this.#report();
  }

  #report(): void {
    this.#timer = undefined;
    for (const [event, count] of this.#counts) if (count > perSecond) this.#suppressed(event, count - perSecond);
    this.#counts.clear();
  }
}
