// Times on the clock of `performance.now()` as dates. Writing a date takes longer than everything else about most entries,
// so that of a second is written once.

export class TimeTexts {
  /** The difference between the two clocks. */
  #offsetMs = 0;
  #second = Number.NaN;
  /** Of the current second, up to its milliseconds. */
  #start = '';

  constructor() {
    this.adjust();
  }

  /** Follows changes of the system's clock. */
  adjust(): void {
    this.#offsetMs = Date.now() - performance.now();
  }

  /** Milliseconds since 1970. */
  msOf(time: number): number {
    return Math.round(this.#offsetMs + time);
  }

  /** `2026-11-17T08:30:00.123Z` */
  textOf(time: number): string {
    const ms = this.msOf(time);
    const second = Math.floor(ms / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#start = new Date(second * 1_000).toISOString().slice(0, -'000Z'.length);
    }
    return `${this.#start}${String(ms - second * 1_000).padStart(3, '0')}Z`;
  }
}
