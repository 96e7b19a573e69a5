// The chain: every line carries its number and the hash of the group of lines before its own, so that a line that is
// changed, added, moved or taken out breaks the chain at that place. A group is the lines that were spelled in one go:
// they have the same `prev`, which the next group can not have. Lines are text; what they say is not known here.

import { createHash, hash } from 'node:crypto';
import type { AuditHead } from './contract.ts';
import { Counter } from './digits.ts';

/** What the first group of all has instead of a predecessor. */
export const origin: AuditHead = { seq: 0, hash: '' };

/** The hash of a group, lines with the breaks between them and none behind; that of a single line is its own. */
export const hashGroup = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

/** The hash of bytes that never became a line. */
export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Adds lines to a chain. */
export class Chain {
  readonly #counter = new Counter();
  #seq: number;
  #hash: string;
  /** What every line of the group at hand ends with. */
  #end: string;

  constructor(head: AuditHead) {
    this.#seq = head.seq;
    this.#hash = head.hash;
    this.#end = endOf(head.hash);
  }

  /** The end of the last group that was closed. */
  get head(): AuditHead {
    return { seq: this.#seq, hash: this.#hash };
  }

  /** The next line of this group, with its line break. `fields` is the inside of a JSON object. */
  link(fields: string): string {
    return `{"seq":${this.#counter.spell(++this.#seq)},${fields}${this.#end}`;
  }

  /** Ends a group: what is linked from here on follows it. `bytes` is all of it, the last line break included. */
  close(bytes: Uint8Array): void {
    this.#hash = hashGroup(bytes.subarray(0, -1));
    this.#end = endOf(this.#hash);
  }
}

const endOf = (hash: string): string => `,"prev":"${hash}"}\n`;
