// Counts what an upstream sends and what is not valid: responses to no request, results that are none, broken messages.
// Lines of other text on the standard output of a process are not counted: many servers print some.

/** Within a minute: more than a single bug or a lost response would explain. */
const maxPerMinute = 10;
const minuteMs = 60_000;

export class InvalidMessages {
  readonly #changed: () => void;
  readonly #now: () => number;
  /** When the last ones were received. */
  readonly #recent: number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Since the upstream is configured. */
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
