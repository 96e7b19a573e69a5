// The chain: every line carries its number, and the first of every group of lines the hash of the group before, so that
// a line that is changed, added, moved or taken out breaks the chain at that place. A group is the lines that were spelled
// before its hash was taken: the next line that has a `prev` begins another. What lines say is not known here.

import { createHash, hash } from 'node:crypto';
import { type Batch, bytesOf } from './batch.ts';
import type { AuditHead } from './contract.ts';

/** What the first group of all has instead of a predecessor. */
export const origin: AuditHead = { seq: 0, hash: '' };

/** The hash of a group, lines with the breaks between them and none behind; that of a single line is its own. */
export const hashGroup = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex');

/** The hash of bytes that never became a line. */
export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const numbered = bytesOf('{"seq":');
const lineEnd = bytesOf('}\n');

/** Adds lines to a chain. */
export class Chain {
  readonly #batch: Batch;
  #seq: number;
  #head: AuditHead;
  /** Where the group at hand begins, and how many lines it has. */
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

  /** Lines of the group at hand. */
  get lines(): number {
    return this.#lines;
  }

  get bytes(): number {
    return this.#batch.end - this.#begin;
  }

  /** Begins the next line; the fields of a JSON object follow, each with its comma before it. */
  begin(): void {
    const batch = this.#batch;
    if (this.#lines++ === 0) this.#begin = batch.end;
    batch.bytes(numbered);
    batch.digits(++this.#seq);
  }

  end(): void {
    const batch = this.#batch;
    if (this.#lines === 1) batch.ascii(`,"prev":"${this.#head.hash}"`);
    batch.bytes(lineEnd);
    batch.endLine();
  }

  /** Ends a group: what comes from here on follows it. */
  close(): void {
    if (this.#lines === 0) return;
    const bytes = this.#batch.from(this.#begin);
    this.#head = { seq: this.#seq, hash: hashGroup(bytes.subarray(0, -1)) };
    this.#lines = 0;
  }
}
