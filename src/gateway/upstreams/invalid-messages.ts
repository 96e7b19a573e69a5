// Counts invalid messages of an upstream: responses without a request, invalid results, malformed messages.
// Lines of other text on the standard output of a process are not counted: many servers print some.

/** Within a minute: more than a single bug or a lost response would explain. */
const maxPerMinute = 10;
const minuteMs = 60_000;

export class InvalidMessages {
  readonly #changed: () => void;
  readonly #now: () => number;
  /** When the most recent ones were received. */
  readonly #recent: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The total since the upstream was configured. */
  total = 0;

  /** `changed`: `areTooMany` may be different now. */
  constructor(changed: () => void, now: () => number = () => performance.now()) {
    this.#changed = changed;
    this.#now = now;
  }

  add(): void {
    this.total++;
    this.#recent.push(this.#now());
    if (this.#recent.length > maxPerMinute) this.#recent.shift();
    if (!this.areTooMany) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#changed, minuteMs);
    this.#timer.unref();
    this.#changed();
  }

  get areTooMany(): boolean {
    return this.#recent.length === maxPerMinute && this.#now() - (this.#recent[0] as number) < minuteMs;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
