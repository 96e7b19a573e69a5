// Finds lines, shows the last ones, and follows a log while it is written.

import { statSync } from 'node:fs';
import { compileGlob } from '../../common/glob.ts';
import { cleanText } from '../../common/hygiene.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { pause } from '../../common/wait.ts';
import { type AuditEntry, parseEntry } from './entry.ts';
import { currentFile, logNames } from './files.ts';
import { type LocatedLine, readFileLines, readLines } from './read.ts';

/** Which lines to find. Texts are globs; all given fields must match. */
export interface AuditFilter {
  /** Lines from this time on. */
  readonly since?: Date;
  /** Lines up to this time. */
  readonly until?: Date;
  /** Such as `call` or `auth`. */
  readonly event?: string;
  /** The id of the caller. */
  readonly principal?: string;
  /** The key of the session. */
  readonly session?: string;
  /** The tool, prompt or resource. */
  readonly name?: string;
  /** Only the events `request` and `invalid-message` have one. */
  readonly method?: string;
  /** Such as `rejected`. */
  readonly outcome?: string;
}

const texts = ['event', 'principal', 'session', 'name', 'method', 'outcome'] as const;
const knownOfFilters: Record<keyof AuditFilter, true> = {
  ...{ since: true, until: true },
  ...{ event: true, principal: true, session: true, name: true, method: true, outcome: true },
};

/** Compiles a filter. */
export function compileFilter(filter: AuditFilter): (entry: AuditEntry) => boolean {
  assertKnownOptions('an audit filter', filter, knownOfFilters);
  const globs = texts.flatMap((key) => (filter[key] === undefined ? [] : [[key, compileGlob(filter[key])] as const]));
  const since = filter.since?.toISOString() ?? '';
  const until = filter.until?.toISOString() ?? '\uffff';
  return (entry) => entry.time >= since && entry.time <= until && globs.every(([key, fits]) => fits(entry[key] ?? ''));
}

/** The matching lines, log by log, oldest first. Lines that cannot be parsed are skipped; `verifyAudit` reports them. */
export async function* queryAudit(
  directory: string,
  filter: AuditFilter = {},
  name = 'audit',
): AsyncGenerator<AuditEntry> {
  const fits = compileFilter(filter);
  for (const each of logNames(directory, name)) {
    for await (const { bytes, open } of readLines(directory, each)) {
      const entry = open ? undefined : parseEntry(bytes.toString('utf8'));
      if (entry !== undefined && fits(entry)) yield entry;
    }
  }
}

/** Which lines to return. */
export interface TailOptions {
  /** How many of the last lines to return first. Default 20. */
  readonly lines?: number;
  /** Only lines that match. Default: all. */
  readonly filter?: AuditFilter;
  /** Then return new lines as they are written, until aborted. */
  readonly follow?: AbortSignal;
}

const known: Record<keyof TailOptions, true> = { lines: true, filter: true, follow: true };

const pollMs = 300;

/** The last lines of a log, then, with `follow`, every new one. */
export async function* tailAudit(
  directory: string,
  options: TailOptions = {},
  name = 'audit',
): AsyncGenerator<AuditEntry> {
  assertKnownOptions('tailAudit', options, known);
  const { lines = 20, filter = {}, follow } = options;
  const fits = compileFilter(filter);
  const last: AuditEntry[] = [];
  let seen = 0;
  for await (const { bytes, open } of readLines(directory, name)) {
    const entry = open ? undefined : parseEntry(bytes.toString('utf8'));
    if (entry === undefined) continue;
    seen = entry.seq;
    if (!fits(entry)) continue;
    last.push(entry);
    if (last.length > lines) last.shift();
  }
  yield* last;
  if (follow !== undefined) yield* followLog(directory, name, seen, fits, follow);
}

/** Finds new lines by number: a file that was finished meanwhile is read again from the start, never skipped. */
async function* followLog(
  directory: string,
  name: string,
  seen: number,
  fits: (entry: AuditEntry) => boolean,
  signal: AbortSignal,
): AsyncGenerator<AuditEntry> {
  const path = currentFile(directory, name);
  let known = { ino: 0, size: 0 };
  let last = seen;
  while (!signal.aborted) {
    const { ino = 0, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (ino !== known.ino || size > known.size) {
      const same = ino === known.ino;
      let position = same ? known.size : 0;
      for await (const { bytes, length, open } of same ? newLines(path, position) : readLines(directory, name)) {
        if (open) break;
        position += length + 1;
        const entry = parseEntry(bytes.toString('utf8'));
        if (entry === undefined || entry.seq <= last) continue;
        last = entry.seq;
        if (fits(entry)) yield entry;
      }
      // After reading all files, the position in the current file is not known; it is read once more.
      known = { ino, size: same ? position : 0 };
    }
    await pause(pollMs, signal).catch(() => undefined); // Aborted: the loop condition ends it.
  }
}

/** The lines of the current file from a byte on; none if it was just finished. */
async function* newLines(path: string, from: number): AsyncGenerator<LocatedLine> {
  try {
    yield* readFileLines(path, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** One line for a terminal, without control or invisible characters. */
export function formatEntry(entry: AuditEntry): string {
  const { time, event, principal, session, method, name, outcome, code, ms, details } = entry;
  const args = entry.arguments === undefined ? undefined : JSON.stringify(entry.arguments);
  const parts = [
    time,
    event,
    outcome === undefined ? undefined : code === undefined ? outcome : `${outcome}(${code})`,
    principal ?? '-',
    session === undefined ? undefined : session.slice(0, 8),
    event === 'request' || event === 'invalid-message' ? method : undefined,
    name,
    args,
    details === undefined ? undefined : JSON.stringify(details),
    ms === undefined ? undefined : `${ms} ms`,
  ];
  return cleanText(parts.filter((part) => part !== undefined).join('  '), 'line', 2_000);
}
