// Checks a log: numbers without gaps, and each group of lines with the hash of the group before it. Reports the first
// line that breaks the chain, or the lines of which one was changed.

import { createHash, type Hash } from 'node:crypto';
import { hashBytes, origin } from './chain.ts';
import type { AuditHead } from './contract.ts';
import { type AuditEntry, beginsGroup, parseEntry } from './entry.ts';
import { logNames } from './files.ts';
import { type LocatedLine, readLines } from './read.ts';

/** Where a chain is broken. */
export interface ChainBreak {
  /** The name of the file. */
  readonly file: string;
  /** The line in the file, counted from 1. */
  readonly line: number;
  /** If one of several lines was changed: the last of them. */
  readonly to?: number;
  /** What is wrong with it. */
  readonly why: string;
}

/** Lines that are missing, and the line that explains it. */
export interface MissingLines {
  /** The numbers of the first and the last of them. */
  readonly from: number;
  /** The number of the last of them. */
  readonly to: number;
  /** What was done to their file. */
  readonly why: string;
  /** When it was noticed. */
  readonly time: string;
}

/** What was found in one log. */
export interface Verification {
  /** The name of the log: what its files begin with. */
  readonly name: string;
  /** Whether no line was changed, added or removed. */
  readonly ok: boolean;
  /** The number of lines; if the chain is broken, the number of lines before the break that are known to be unchanged. */
  readonly lines: number;
  /** The number of the first line; above 1 when older files have been deleted. */
  readonly from: number;
  /** The last valid line. Compare it with a stored one to detect whether lines were cut off. */
  readonly head: AuditHead;
  /** Incomplete lines of killed processes, each explained by the line after it. */
  readonly sealed: number;
  /** The last line has no line break: it is being written, or its writer was killed and the log was not opened since. */
  readonly unfinished: boolean;
  /** Lines in files that were moved, removed or truncated while the log was being written. The log itself says so. */
  readonly missing: readonly MissingLines[];
  /** The first place where the chain is broken; absent if it is not. */
  readonly broken?: ChainBreak;
}

/** Checks every log of that name in a folder; empty if there is none. */
export async function verifyAudit(directory: string, name = 'audit'): Promise<Verification[]> {
  const verifications: Verification[] = [];
  for (const each of logNames(directory, name)) verifications.push(await verifyLog(directory, each));
  return verifications;
}

async function verifyLog(directory: string, name: string): Promise<Verification> {
  const links = new Links();
  let sealed = 0;
  let unfinished = false;
  /** An invalid line, until the next one explains it. */
  let torn: LocatedLine | undefined;
  let broken: ChainBreak | undefined;

  for await (const placed of readLines(directory, name)) {
    if (placed.open) {
      unfinished = true;
      continue;
    }
    if (unfinished) broken = breakAt(placed, 'it follows a line that has no end');
    const entry = parseEntry(placed.bytes.toString('utf8'));
    if (torn !== undefined) {
      if (entry !== undefined && seals(entry, torn)) sealed++;
      else broken = breakAt(torn, 'it is not a line of this log');
    }
    torn = entry === undefined ? placed : undefined;
    if (broken === undefined && entry !== undefined) broken = links.add(entry, placed);
    if (broken !== undefined) break;
  }
  if (broken === undefined && torn !== undefined) broken = breakAt(torn, 'it is not a line of this log');
  // Report the first error.
  broken = links.unexplained ?? broken;
  const { from, missing } = links;
  if (broken !== undefined) return { name, ok: false, ...links.held, from, sealed, unfinished, missing, broken };
  return { name, ok: true, ...links.end(), from, sealed, unfinished, missing };
}

/** The lines of one group. */
interface LineGroup {
  readonly first: LocatedLine;
  last: LocatedLine;
  readonly prev: string;
  readonly hash: Hash;
}

/** The end of a chain. */
type ChainExtent = Pick<Verification, 'lines' | 'head'>;

/** Missing numbers between two lines, until a line explains them. */
interface Gap {
  readonly from: number;
  /** The number of the line after it. */
  readonly next: number;
  readonly broken: ChainBreak;
}

/** Follows a chain, group by group. A group is known to be unchanged once the next one has its hash. */
class Links {
  /** The number of the first line. */
  from = 0;
  readonly missing: MissingLines[] = [];
  #held: ChainExtent = { lines: 0, head: origin };
  #lines = 0;
  #seq = 0;
  #group: LineGroup | undefined;
  #gap: Gap | undefined;
  /** The lines known to be unchanged before the gap. */
  #heldBeforeGap: ChainExtent | undefined;

  /** The lines known to be unchanged. */
  get held(): ChainExtent {
    return this.#heldBeforeGap ?? this.#held;
  }

  /** A gap that no line has explained yet. */
  get unexplained(): ChainBreak | undefined {
    return this.#gap?.broken;
  }

  /** Checks the next line; returns the break if there is one. */
  add(entry: AuditEntry, placed: LocatedLine): ChainBreak | undefined {
    const { seq, prev, event } = entry;
    const group = this.#group;
    if (group === undefined) {
      this.from = seq;
      if (seq === 1 && prev !== origin.hash) return breakAt(placed, 'the first line has a predecessor');
    } else if (seq !== this.#seq + 1) {
      const broken = breakAt(placed, `it has number ${seq} where ${this.#seq + 1} was due`);
      // A whole file may be missing, but not some lines of it: the next line must begin a group and a file.
      const mayBeMissing = seq > this.#seq && prev !== undefined && placed.number === 1 && this.#gap === undefined;
      if (!mayBeMissing) return broken;
      this.#beginAgain({ from: this.#seq + 1, next: seq, broken });
    }
    const broken = this.#link(prev, event, placed);
    if (broken !== undefined) return broken;
    if (event === 'reopened') this.#explain(entry);
    this.#lines++;
    this.#seq = seq;
    return undefined;
  }

  #link(prev: string | undefined, event: string, placed: LocatedLine): ChainBreak | undefined {
    const group = this.#group;
    if (prev === undefined || prev === group?.prev) {
      if (group === undefined) return breakAt(placed, 'the lines before it, which it belongs to, were taken out');
      if (beginsGroup(event)) return breakAt(placed, 'its link to the lines before it was changed');
      group.hash.update('\n').update(placed.bytes);
      group.last = placed;
      return undefined;
    }
    const reach = this.end();
    if (group !== undefined && prev !== reach.head.hash) return changed(group, placed);
    this.#held = reach;
    this.#group = { first: placed, last: placed, prev, hash: createHash('sha256').update(placed.bytes) };
    return undefined;
  }

  #beginAgain(gap: Gap): void {
    this.#held = this.end();
    this.#heldBeforeGap = this.#held;
    this.#gap = gap;
    this.#group = undefined;
  }

  /** A line explains that the file was displaced before line `firstSeq` was written. */
  #explain({ time, details }: AuditEntry): void {
    const first = details?.['firstSeq'];
    const why = String(details?.['why']);
    if (this.#gap !== undefined && first === this.#gap.next) {
      this.missing.push({ from: this.#gap.from, to: this.#gap.next - 1, why, time });
      this.#gap = undefined;
      this.#heldBeforeGap = undefined;
    } else if (first === this.from && first > 1) {
      this.missing.push({ from: 1, to: first - 1, why, time });
    }
  }

  /** The end of the chain, including the last group. */
  end(): ChainExtent {
    if (this.#group === undefined) return this.#held;
    return { lines: this.#lines, head: { seq: this.#seq, hash: this.#group.hash.copy().digest('hex') } };
  }
}

function changed({ first, last }: LineGroup, next: LocatedLine): ChainBreak {
  if (first.number === last.number)
    return breakAt(next, 'the line before it, or its own link to that line, was changed');
  const why = `one of the lines ${first.number} to ${last.number}, or the link of the next line to them, was changed`;
  return { ...breakAt(first, why), ...(first.file === last.file ? { to: last.number } : {}) };
}

/** Whether a line explains the incomplete line before it. */
function seals({ event, details }: AuditEntry, { bytes }: LocatedLine): boolean {
  return event === 'recovered' && details?.['torn'] === bytes.length && details['sha256'] === hashBytes(bytes);
}

const breakAt = ({ file, number }: LocatedLine, why: string): ChainBreak => ({ file, line: number, why });
