// Continues a log where its last writer stopped: finds the end of the chain and ends a line that a killed writer left
// incomplete. Nothing is removed: the incomplete line stays, and the next line describes it.

import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { hasModes } from '../../common/file-modes.ts';
import type { Logger } from '../../common/logger.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { hashBytes, hashGroup, origin } from './chain.ts';
import type { AuditHead } from './contract.ts';
import { type AuditEntry, parseEntry } from './entry.ts';
import { type AuditFileOptions, LogFile } from './file.ts';
import { currentFile, logFiles, readEnd } from './files.ts';
import type { LineEncoder } from './line-encoder.ts';
import { type Claim, claimLog } from './lock.ts';
import { AuditWriter, type WriterOptions } from './writer.ts';

/** An open log and its lock. */
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
    // Written together with the next lines: a process killed in between would leave a line that no other line explains.
    if (isOpen) writer.endTornLine();
    if (sealed !== undefined) writer.record({ event: 'recovered', details: sealed });
    writer.record({ event: 'open', details: { format: 3, pid: process.pid } });
    try {
      await writer.flush(true);
    } catch (error) {
      await writer.discard();
      throw error;
    }
    return { writer, claim };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** A new folder is private to its owner. An existing one stays as it is: other users may have a reason to read it. */
function prepareDirectory(directory: string, logger: Logger | undefined): void {
  const isOurs = mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined;
  if (isOurs || !hasModes) return;
  const { mode } = statSync(directory);
  // Users who can write to a folder can replace its files, and a log that can be replaced proves nothing.
  if ((mode & 0o002) !== 0) {
    throw new Error(`all users can write to ${directory}. Choose a private folder, or run: chmod o-w ${directory}`);
  }
  if ((mode & 0o020) !== 0) logger?.warn('the group of the folder can replace the audit log', { directory });
}

/** Where the chain ends. */
interface FoundHead {
  readonly head: AuditHead;
  /** The details of the line that describes it; undefined if all is well. */
  readonly sealed: JsonObject | undefined;
  /** The last line of the current file has no line break. */
  readonly isOpen: boolean;
}

function findHead(directory: string, name: string): FoundHead {
  let head = origin;
  let sealed: FoundHead['sealed'];
  let isOpen = false;
  // Newest first: the newest may be empty if its writer was killed right after creating it.
  for (const path of logFiles(directory, name).reverse()) {
    const { lines, torn } = readEnd(path, (found) => lastGroup(found).length < found.length);
    if (torn.length > 0 && path === currentFile(directory, name)) isOpen = true;
    else if (torn.length > 0) appendFileSync(path, '\n');
    // A line that only lacks its line break is complete.
    const whole = parseEntry(torn.toString('utf8')) !== undefined;
    if (torn.length > 0 && !whole) sealed = { torn: torn.length, sha256: hashBytes(torn) };
    const all = whole ? [...lines, torn] : lines;
    const last = all.at(-1);
    if (last === undefined) continue;
    const entry = parseEntry(last.toString('utf8'));
    if (entry !== undefined) head = { seq: entry.seq, hash: hashGroup(joinLines(lastGroup(all))) };
    // The last line is not one of ours: a new chain begins, and `verify` reports that line.
    else sealed = { ...sealed, unreadable: true };
    break;
  }
  return { head, sealed, isOpen };
}

/** The last group, as far as it was written: back to the line with the hash of the group before it. */
function lastGroup(lines: readonly Buffer[]): readonly Buffer[] {
  const entryAt = (index: number): AuditEntry | undefined => parseEntry(lines[index]?.toString('utf8') ?? '');
  let from = Math.max(0, lines.length - 1);
  while (from > 0 && entryAt(from)?.prev === undefined && entryAt(from - 1) !== undefined) from--;
  // Older formats have the hash in every line.
  const prev = entryAt(from)?.prev;
  while (from > 0 && prev !== undefined && entryAt(from - 1)?.prev === prev) from--;
  return lines.slice(from);
}

const joinLines = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [lineBreak, line])));

const lineBreak = Buffer.from('\n');
