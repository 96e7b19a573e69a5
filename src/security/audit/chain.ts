// The hash chain: every line has a number, and the first line of every group has the hash of the group before it, so that
// a line that is changed, added, moved or removed breaks the chain there. A group is the lines that were added
// before its hash was taken; the next line with a `prev` begins another. This file does not know the content of lines.

import { createHash, hash } from 'node:crypto';
import type { Batch } from './batch.ts';
import type { AuditHead } from './contract.ts';

/** Takes the place of the previous group's hash in the very first group. */
export const origin: AuditHead = { seq: 0, hash: '' };

/** The hash of a group: its lines with the line breaks between them, without the last one. */
export const hashGroup = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

/** The hash of bytes that never became a line. */
export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Maximum lines and approximate maximum bytes of a group: continuing a log means reading its last group again. */
const maxGroupLines = 256;
const maxGroupBytes = 256 * 1024;

/** Adds lines to a chain. */
export class Chain {
  readonly #batch: Batch;
  #seq: number;
  #head: AuditHead;
  /** Where the open group begins in the batch, and how many lines it has. */
  #begin = 0;
  #lines = 0;

  constructor(head: AuditHead, batch: Batch) {
    this.#batch = batch;
    this.#seq = head.seq;
    this.#head = head;
  }

  /** The end of the last group that was closed. */
  get head(): AuditHead {
    return this.#head;
  }

  /** The number of the last line. */
  get seq(): number {
    return this.#seq;
  }

  /** Adds a line, given as the members of a JSON object and its closing brace. */
  add(members: string): void {
    const batch = this.#batch;
    if (this.#lines === 0) this.#begin = batch.bytes;
    const link = this.#lines === 0 ? `,"prev":"${this.#head.hash}"` : '';
    batch.addLine(`{"seq":${++this.#seq}${link},${members}`);
    this.#lines++;
    if (this.#lines >= maxGroupLines || batch.bytes - this.#begin >= maxGroupBytes) this.closeGroup();
  }

  /** Ends the open group. Call it before the batch is taken: the group is hashed inside the batch. */
  closeGroup(): void {
    if (this.#lines === 0) return;
    const bytes = this.#batch.from(this.#begin);
    this.#head = { seq: this.#seq, hash: hashGroup(bytes.subarray(0, -1)) };
    this.#lines = 0;
  }
}
