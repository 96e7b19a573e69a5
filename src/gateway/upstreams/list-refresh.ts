// When the lists of an upstream are read again.

/** Lists are read after this long without another change, so that several changes cause one read. */
const quietMs = 100;
/** The longest time that lists stay out of date while changes keep coming. */
const maxLateMs = 2_000;

export class ListRefresh {
  readonly #read: () => Promise<void>;
  readonly #refreshMs: number;
  #reading: Promise<void> | undefined;
  /** A change was announced while lists were being read. */
  #again = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firstChangeMs: number | undefined;
  #interval: ReturnType<typeof setInterval> | undefined;
  #closed = false;

  /** `refreshMs`: how often to read the lists of a server that does not announce changes. */
  constructor(read: () => Promise<void>, refreshMs: number) {
    this.#read = read;
    this.#refreshMs = refreshMs;
  }

  /** Reads now, or joins a read in progress. */
  now(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.soon();
    });
    return this.#reading;
  }

  /** Something has changed. */
  soon(): void {
    if (this.#closed) return;
    if (this.#reading !== undefined) {
      this.#again = true;
      return;
    }
    const now = performance.now();
    this.#firstChangeMs ??= now;
    const waitMs = Math.max(0, Math.min(quietMs, this.#firstChangeMs + maxLateMs - now));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#firstChangeMs = undefined;
      this.now().catch(() => {});
    }, waitMs);
    this.#timer.unref();
  }

  /** A connection is open. Lists that are being read are read over it. */
  opened(announcesChanges: boolean): void {
    if (this.#reading === undefined && !this.#closed) this.now().catch(() => {});
    this.follow(announcesChanges);
  }

  /** Reads from time to time from now on, if the server does not announce changes. */
  follow(announcesChanges: boolean): void {
    clearInterval(this.#interval);
    this.#interval = undefined;
    if (this.#closed || announcesChanges || this.#refreshMs === 0) return;
    this.#interval = setInterval(() => this.soon(), this.#refreshMs);
    this.#interval.unref();
  }

  /** No connection is open: nothing is started only to read lists again. */
  idle(): void {
    clearInterval(this.#interval);
    clearTimeout(this.#timer);
    this.#firstChangeMs = undefined;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#interval);
  }
}
