// The latest characters a worker printed, under positions that never repeat: readers pass a position and see how much
// they missed.

/** A part of the output. */
export interface OutputPart {
  readonly text: string;
  /** The position where the next part starts. */
  readonly next: number;
  /** Characters printed after `from` that were dropped. */
  readonly dropped: number;
}

export class OutputRing {
  readonly #maxChars: number;
  #text = '';
  /** The position of the first stored character. */
  #start = 0;
  #waiting: (() => void)[] = [];

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** The position of the next character. */
  get end(): number {
    return this.#start + this.#text.length;
  }

  push(text: string): void {
    if (text === '') return;
    this.#text += text;
    // Cut at twice the size: a copy for every push would be quadratic.
    if (this.#text.length > this.#maxChars * 2) this.#cut();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #cut(): void {
    const surplus = this.#text.length - this.#maxChars;
    this.#text = this.#text.slice(surplus);
    this.#start += surplus;
  }

  /** The output from a position on; the end of it if there is no position. */
  read(from: number | undefined, maxChars: number): OutputPart {
    if (this.#text.length > this.#maxChars) this.#cut();
    const wanted = from ?? Math.max(this.#start, this.end - maxChars);
    const begin = Math.min(Math.max(wanted, this.#start), this.end);
    const text = this.#text.slice(begin - this.#start, begin - this.#start + maxChars);
    return { text, next: begin + text.length, dropped: Math.max(0, begin - Math.min(wanted, begin)) };
  }

  /** Resolves when there is output beyond that position, the time is over, or the signal aborts. */
  async waitBeyond(place: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.end > place || ms <= 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#waiting = this.#waiting.filter((each) => each !== done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.push(done);
    });
  }

  /** Resolves all waits: no more output will come, or not soon. */
  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
