// Long bodies of responses. Only a few are read at a time, and each is decoded in a turn of the event loop of its own:
// hundreds that arrive together would otherwise be in memory together, and end together.

import { nextSlice } from '../../common/slices.ts';

/** Bodies up to this length are not counted: decoding one takes less than a millisecond. */
const shortBody = 128 * 1024;
/** The same while long bodies wait: hundreds may wait, and each keeps what was read of it. */
const shortBodyInQueue = 16 * 1024;

const maxReading = 4;

/** A body that is read, or waits for it. */
export interface LongBody {
  /** Resolves when the rest of it may be read; undefined: now. */
  readonly turn: Promise<void> | undefined;
  /** Call it once, when the body is read, or will not be. */
  end(): void;
}

export class LongBodies {
  #reading = 0;
  readonly #waiting = new Set<() => void>();

  /** Whether a body of which so much was read counts as long. */
  isLong(length: number): boolean {
    return length > (this.#waiting.size === 0 ? shortBody : shortBodyInQueue);
  }

  begin(): LongBody {
    if (this.#reading < maxReading) {
      this.#reading++;
      return { turn: undefined, end: () => this.#end() };
    }
    let start = (): void => {};
    const turn = new Promise<void>((resolve) => {
      start = resolve;
    });
    this.#waiting.add(start);
    const end = (): void => {
      if (!this.#waiting.delete(start)) this.#end();
    };
    return { turn, end };
  }

  #end(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#reading--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}

export async function decodeLongBody(bytes: Buffer): Promise<string> {
  await nextSlice();
  return bytes.toString('utf8');
}
