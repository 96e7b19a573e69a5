// The chain: every line carries its number and the hash of the line before it, so that a line that is changed, added,
// moved or taken out breaks the chain at that place. Lines are text; what they say is not known here.

import { createHash, hash } from 'node:crypto';
import type { AuditHead } from './contract.ts';

/** What the first line of all has instead of a predecessor. */
export const origin: AuditHead = { seq: 0, hash: '' };

/** The hash of a line without its line break. */
export const hashLine = (line: string | Uint8Array): string => hash('sha256', line as string, 'hex');

/** The hash of bytes that never became a line. */
export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Adds lines to a chain. */
export class Chain {
  #seq: number;
  #hash: string;

  constructor(head: AuditHead) {
    this.#seq = head.seq;
    this.#hash = head.hash;
  }

  get head(): AuditHead {
    return { seq: this.#seq, hash: this.#hash };
  }

  /** The next line, without line break. `fields` is the inside of a JSON object. */
  link(fields: string): string {
    const line = `{"seq":${++this.#seq},${fields},"prev":"${this.#hash}"}`;
    this.#hash = hashLine(line);
    return line;
  }
}
