// The last characters a worker printed, under numbers that never repeat: whoever reads says from where, and learns how
// much he missed.

/** A part of the output. */
export interface OutputPart {
  readonly text: string;
  /** Where the next part begins. */
  readonly next: number;
  /** Characters that were printed after `from` and are gone. */
  readonly dropped: number;
}

export class OutputRing {
  readonly #maxChars: number;
  #text = '';
  /** The number of the first character kept. */
  #start = 0;
  #waiting: (() => void)[] = [];

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** The number of the character that comes next. */
  get end(): number {
    return this.#start + this.#text.length;
  }

  push(text: string): void {
    if (text === '') return;
    this.#text += text;
    // Cut at twice the size: a copy per character printed would be quadratic.
    if (this.#text.length > this.#maxChars * 2) this.#cut();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #cut(): void {
    const surplus = this.#text.length - this.#maxChars;
    this.#text = this.#text.slice(surplus);
    this.#start += surplus;
  }

  /** What was printed from there on; the end of it when no place is given. */
  read(from: number | undefined, maxChars: number): OutputPart {
    if (this.#text.length > this.#maxChars) this.#cut();
    const wanted = from ?? Math.max(this.#start, this.end - maxChars);
    const begin = Math.min(Math.max(wanted, this.#start), this.end);
    const text = this.#text.slice(begin - this.#start, begin - this.#start + maxChars);
    return { text, next: begin + text.length, dropped: Math.max(0, begin - Math.min(wanted, begin)) };
  }

  /** Resolves when something is printed beyond that place, the time is over, or the signal says so. */
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

  /** Lets everyone who waits go: nothing more will come, or it is not known when. */
  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
