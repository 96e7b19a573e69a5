// Checks a log line by line: numbers without gaps, and each line with the hash of the one before it. Names the first line
// at which that is not so.

import { hashBytes, hashLine, origin } from './chain.ts';
import type { AuditHead } from './contract.ts';
import { type AuditEntry, parseEntry } from './entry.ts';
import { logNames } from './files.ts';
import { type PlacedLine, readLines } from './read.ts';

/** Where a chain is broken. */
export interface Break {
  readonly file: string;
  readonly line: number;
  readonly why: string;
}

/** What was found in one log. */
export interface Verdict {
  readonly name: string;
  readonly ok: boolean;
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
  let head = origin;
  let from = 0;
  let lines = 0;
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
    const text = placed.bytes.toString('utf8');
    const entry = parseEntry(text);
    if (torn !== undefined) {
      if (entry !== undefined && seals(entry, torn)) sealed++;
      else broken = breakAt(torn, 'it is not a line of this log');
    }
    torn = entry === undefined ? placed : undefined;
    if (broken !== undefined) break;
    if (entry === undefined) continue;
    const flaw = lines === 0 ? undefined : flawOf(entry, head);
    if (flaw !== undefined) {
      broken = breakAt(placed, flaw);
      break;
    }
    if (lines++ === 0) from = entry.seq;
    if (lines === 1 && entry.seq === 1 && entry.prev !== origin.hash)
      broken = breakAt(placed, 'the first line has a predecessor');
    head = { seq: entry.seq, hash: hashLine(text) };
  }
  if (broken === undefined && torn !== undefined) broken = breakAt(torn, 'it is not a line of this log');
  const found = { name, lines, from, head, sealed, unfinished };
  return broken === undefined ? { ...found, ok: true } : { ...found, ok: false, broken };
}

/** Whether a line says of the piece before it that this was found and left there. */
function seals({ event, details }: AuditEntry, { bytes }: PlacedLine): boolean {
  return event === 'recovered' && details?.['torn'] === bytes.length && details['sha256'] === hashBytes(bytes);
}

function flawOf({ seq, prev }: AuditEntry, head: AuditHead): string | undefined {
  if (seq !== head.seq + 1) return `it has number ${seq} where ${head.seq + 1} was due`;
  return prev === head.hash ? undefined : 'the line before it, or its own link to that line, was changed';
}

const breakAt = ({ file, number }: PlacedLine, why: string): Break => ({ file, line: number, why });
