// Lets so many events of a kind through in a second and counts the rest, for events that strangers can cause at will.

const perSecond = 100;

export class Valve {
  readonly #passed = new Map<string, number>();
  readonly #tell: (event: string, suppressed: number) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (event: string, suppressed: number) => void) {
    this.#tell = tell;
  }

  admits(event: string): boolean {
    this.#timer ??= setTimeout(() => this.#turn(), 1_000).unref();
    const count = (this.#passed.get(event) ?? 0) + 1;
    this.#passed.set(event, count);
    return count <= perSecond;
  }

  /** Tells what was kept back at last. */
  close(): void {
    clearTimeout(this.#timer);
    this.#turn();
  }

  #turn(): void {
    this.#timer = undefined;
    for (const [event, count] of this.#passed) if (count > perSecond) this.#tell(event, count - perSecond);
    this.#passed.clear();
  }
}
