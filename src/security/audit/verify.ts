// Checks a log: numbers without gaps, and each group of lines with the hash of the group before it. Names the first line
// at which that is not so, or the lines of which one was changed.

import { createHash, type Hash } from 'node:crypto';
import { hashBytes, origin } from './chain.ts';
import type { AuditHead } from './contract.ts';
import { type AuditEntry, beginsGroup, parseEntry } from './entry.ts';
import { logNames } from './files.ts';
import { type PlacedLine, readLines } from './read.ts';

/** Where a chain is broken. */
export interface Break {
  readonly file: string;
  readonly line: number;
  /** Where all that is known is that one of several lines was changed: the last of them. */
  readonly to?: number;
  readonly why: string;
}

/** What was found in one log. */
export interface Verdict {
  readonly name: string;
  readonly ok: boolean;
  /** How many there are; where the chain is broken, how many before it are known to be as they were. */
  readonly lines: number;
  /** The number of the first line; above 1 when older files have been deleted. */
  readonly from: number;
  /** The last line that holds; compare it with one kept elsewhere to know that nothing was cut off. */
  readonly head: AuditHead;
  /** Pieces that killed writers left, each sealed off by the line after it. */
  readonly sealed: number;
  /** The last line has no end yet: somebody writes, or was killed and nobody has opened the log since. */
  readonly unfinished: boolean;
  readonly broken?: Break;
}

/** Checks every log of that name in a directory; empty when there is none. */
export async function verifyAudit(directory: string, name = 'audit'): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const each of logNames(directory, name)) verdicts.push(await verifyLog(directory, each));
  return verdicts;
}

async function verifyLog(directory: string, name: string): Promise<Verdict> {
  const links = new Links();
  let sealed = 0;
  let unfinished = false;
  /** A line that is none, until the next one says why. */
  let torn: PlacedLine | undefined;
  let broken: Break | undefined;

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
  const { from } = links;
  if (broken !== undefined) return { name, ok: false, ...links.held, from, sealed, unfinished, broken };
  return { name, ok: true, ...links.end(), from, sealed, unfinished };
}

/** Lines that follow the same group. */
interface Group {
  readonly first: PlacedLine;
  last: PlacedLine;
  readonly prev: string;
  readonly hash: Hash;
}

/** How far a chain goes. */
type Reach = Pick<Verdict, 'lines' | 'head'>;

/** Follows a chain, group by group. A group is known to be whole once the next one says what it was. */
class Links {
  /** The number of the first line. */
  from = 0;
  /** What is known to be as it was written. */
  held: Reach = { lines: 0, head: origin };
  #lines = 0;
  #seq = 0;
  #group: Group | undefined;

  /** Takes the next line; answers where the chain is broken, if it is. */
  add({ seq, prev, event }: AuditEntry, placed: PlacedLine): Break | undefined {
    const group = this.#group;
    if (group === undefined) {
      this.from = seq;
      if (seq === 1 && prev !== origin.hash) return breakAt(placed, 'the first line has a predecessor');
    } else if (seq !== this.#seq + 1) {
      return breakAt(placed, `it has number ${seq} where ${this.#seq + 1} was due`);
    }
    if (prev === undefined || prev === group?.prev) {
      if (group === undefined) return breakAt(placed, 'the lines before it, which it belongs to, were taken out');
      if (beginsGroup(event)) return breakAt(placed, 'its link to the lines before it was changed');
      group.hash.update('\n').update(placed.bytes);
      group.last = placed;
    } else {
      const reach = this.end();
      if (group !== undefined && prev !== reach.head.hash) return changed(group, placed);
      this.held = reach;
      this.#group = { first: placed, last: placed, prev, hash: createHash('sha256').update(placed.bytes) };
    }
    this.#lines++;
    this.#seq = seq;
    return undefined;
  }

  /** How far the chain goes, the last group included. */
  end(): Reach {
    if (this.#group === undefined) return { lines: 0, head: origin };
    return { lines: this.#lines, head: { seq: this.#seq, hash: this.#group.hash.copy().digest('hex') } };
  }
}

function changed({ first, last }: Group, next: PlacedLine): Break {
  if (first.number === last.number)
    return breakAt(next, 'the line before it, or its own link to that line, was changed');
  const why = `one of the lines ${first.number} to ${last.number}, or the link of the next line to them, was changed`;
  return { ...breakAt(first, why), ...(first.file === last.file ? { to: last.number } : {}) };
}

/** Whether a line says of the piece before it that this was found and left there. */
function seals({ event, details }: AuditEntry, { bytes }: PlacedLine): boolean {
  return event === 'recovered' && details?.['torn'] === bytes.length && details['sha256'] === hashBytes(bytes);
}

const breakAt = ({ file, number }: PlacedLine, why: string): Break => ({ file, line: number, why });
