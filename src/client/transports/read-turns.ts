// Node.js reads up to 2 MB of a socket in one turn of the event loop: thousands of short messages, or most of a long one. Other
// connections, of which one is accepted per turn, would wait for as many turns as there are of them.

import { inNextTurn } from '../../common/slices.ts';

/** As much as Node.js reads of a pipe. */
const turnBytes = 64 * 1024;
/** A chunk costs as much as so many bytes, however short it is: a server may send each byte as a chunk of its own. */
const chunkBytes = 256;

/** How much of one stream was read since the last pause. */
export class ReadTurns {
  #left = turnBytes;

  /** Call it for each chunk. Resolves when the next one may be read; undefined: now. */
  after(length: number): Promise<void> | undefined {
    this.#left -= length + chunkBytes;
    if (this.#left > 0) return undefined;
    this.#left = turnBytes;
    return new Promise(inNextTurn);
  }
}
