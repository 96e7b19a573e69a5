// Takes up a log where its last writer left it: finds the end of the chain and seals off what a killed writer left of
// its last line. Nothing is ever cut away: the torn piece stays, and the next line says what it is.

import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import type { Logger } from '../../protocol/logger.ts';
import { hashBytes, hashGroup, origin } from './chain.ts';
import type { AuditHead } from './contract.ts';
import { type AuditEntry, parseEntry } from './entry.ts';
import { type AuditFileOptions, LogFile } from './file.ts';
import { currentFile, logFiles, readEnd } from './files.ts';
import type { LineEncoder } from './line-encoder.ts';
import { type Claim, claimLog } from './lock.ts';
import { AuditWriter, type WriterOptions } from './writer.ts';

/** A log that is open, and what was found at its end. */
export interface OpenedLog {
  readonly writer: AuditWriter;
  readonly claim: Claim;
}

export interface OpenOptions extends AuditFileOptions, Omit<WriterOptions, 'confirmClaim'> {}

export async function openLog(options: OpenOptions, lines: LineEncoder): Promise<OpenedLog> {
  prepareDirectory(options.directory, options.logger);
  const claim = claimLog(options.directory, options.name);
  try {
    const own = { ...options, name: claim.name, confirmClaim: claim.confirm };
    const { head, sealed, isOpen } = findHead(own.directory, own.name);
    const writer = new AuditWriter(own, lines, head, await LogFile.open(own));
    // Written together with what follows: a process killed in between would leave a line that nothing explains.
    if (isOpen) writer.endTornLine();
    if (sealed !== undefined) writer.record({ event: 'recovered', details: sealed });
    writer.record({ event: 'open', details: { format: 3, pid: process.pid } });
    try {
      await writer.flush(true);
    } catch (error) {
      await writer.abandon();
      throw error;
    }
    return { writer, claim };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** A folder we make is for its owner alone. One that was there is left as it is: others may have a reason to read it. */
function prepareDirectory(directory: string, logger: Logger | undefined): void {
  const isOurs = mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined;
  if (isOurs || process.platform === 'win32') return;
  const { mode } = statSync(directory);
  // Whoever may write to a folder may replace what is in it, and a log that can be replaced proves nothing.
  if ((mode & 0o002) !== 0) {
    throw new Error(`everybody may write to ${directory}; choose a folder of its own, or run: chmod o-w ${directory}`);
  }
  if ((mode & 0o020) !== 0) logger?.warn('the group of its folder can replace the audit log', { directory });
}

/** Where the chain ends. */
interface FoundHead {
  readonly head: AuditHead;
  /** What must be said about it. */
  readonly sealed: Readonly<Record<string, unknown>> | undefined;
  /** The last line of the current file has no end. */
  readonly isOpen: boolean;
}

function findHead(directory: string, name: string): FoundHead {
  let head = origin;
  let sealed: FoundHead['sealed'];
  let isOpen = false;
  // Newest first: the newest may be empty, if its writer was killed right after it began.
  for (const path of logFiles(directory, name).reverse()) {
    const { lines, torn } = readEnd(path, (found) => lastGroup(found).length < found.length);
    if (torn.length > 0 && path === currentFile(directory, name)) isOpen = true;
    else if (torn.length > 0) appendFileSync(path, '\n');
    // A line that lacks nothing but its end is a line.
    const whole = parseEntry(torn.toString('utf8')) !== undefined;
    if (torn.length > 0 && !whole) sealed = { torn: torn.length, sha256: hashBytes(torn) };
    const all = whole ? [...lines, torn] : lines;
    const last = all.at(-1);
    if (last === undefined) continue;
    const entry = parseEntry(last.toString('utf8'));
    if (entry !== undefined) head = { seq: entry.seq, hash: hashGroup(joinLines(lastGroup(all))) };
    // Somebody else wrote the last line: the chain begins anew, and `verify` will name that line.
    else sealed = { ...sealed, unreadable: true };
    break;
  }
  return { head, sealed, isOpen };
}

/** The last group, as far as it arrived: back to the line that says what it follows. */
function lastGroup(lines: readonly Buffer[]): readonly Buffer[] {
  const entryAt = (index: number): AuditEntry | undefined => parseEntry(lines[index]?.toString('utf8') ?? '');
  let from = Math.max(0, lines.length - 1);
  while (from > 0 && entryAt(from)?.prev === undefined && entryAt(from - 1) !== undefined) from--;
  // Older formats said it in every line.
  const prev = entryAt(from)?.prev;
  while (from > 0 && prev !== undefined && entryAt(from - 1)?.prev === prev) from--;
  return lines.slice(from);
}

const joinLines = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [lineBreak, line])));

const lineBreak = Buffer.from('\n');
