// Checks that the files of a database are complete, and still the ones that were opened. Their rows are checked by checksum.ts.

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { findDamagedRow } from './checksum.ts';
import type { SqliteConnection, Statement } from './driver.ts';
import { damagedError, type StoreError } from './errors.ts';

type Preparing = { prepare(sql: string): Statement };

/** Where the last good copy of a database is kept. */
export function copyOf(file: string): string {
  return file.replace(/\.db$/, '.copy.db');
}

export function existingCopyOf(file: string): string | undefined {
  const copy = copyOf(file);
  return existsSync(copy) ? copy : undefined;
}

/** A file beside the database that records that there was data, which an emptied database cannot show. */
const markerOf = (file: string): string => `${file}-marker`;

/**
 * Rejects a database that has lost everything, before SQLite sees it: SQLite takes an empty file for a new database, and
 * deletes a write-ahead log that it finds beside it.
 */
export function rejectEmptied(file: string): void {
  // In this order, since another process may be making the database just now: the file has a header before its log has
  // a page, and the marker comes last.
  const hadData = existsSync(markerOf(file)) || existingCopyOf(file) !== undefined;
  const log = sizeOf(`${file}-wal`) ?? 0;
  const size = sizeOf(file);
  if (size === 0 && (hadData || log > 0)) throw damaged(file, 'it is empty, although data was kept in it');
  if (size === undefined && log > 0)
    throw damaged(file, `it is missing, while its write-ahead log ${file}-wal is there`);
}

/** Creates the marker, unless it exists. */
export function markAsUsed(file: string): void {
  try {
    const text = `mooring.db beside this file has held data since ${new Date().toISOString()}.\n`;
    writeFileSync(markerOf(file), text, { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, or the disk is full now: the next start tries again.
  }
}

/**
 * Rejects a file that is shorter than its header and its log say. True if the log may contain the missing part, as after
 * a crash in the middle of a checkpoint: then only a check of every page shows it.
 */
export function isShort(db: Preparing, file: string): boolean {
  const number = (pragma: string): number => Number(db.prepare(`pragma ${pragma}`).get()?.[pragma]);
  const promised = number('page_count') * number('page_size');
  // The log before the file: what leaves the log meanwhile is in the file by then.
  const log = sizeOf(`${file}-wal`) ?? 0;
  const missing = promised - (sizeOf(file) ?? 0);
  if (missing > log) {
    throw damaged(file, `it has ${promised - missing} bytes where its header says ${promised}; the rest is cut off`);
  }
  return missing > 0;
}

/** Checks every page and every index; a damaged file is rejected before anything is built on it. */
export function check(db: Preparing, file: string): void {
  // Unlike quick_check this notices an index that no longer leads to a row: its owner would find an empty store.
  const finding = db.prepare('pragma integrity_check(1)').get()?.['integrity_check'];
  if (finding !== 'ok') throw damaged(file, String(finding));
}

/** Compares rows with their checksums; see `findDamagedRow`. */
export async function checkRows(db: SqliteConnection, file: string, which: 'all' | 'shared rows'): Promise<void> {
  const row = await findDamagedRow(db, which);
  if (row !== undefined) throw damaged(file, `${row} does not match its checksum`);
}

const damaged = (file: string, why: string): StoreError => damagedError(file, why, existingCopyOf(file));

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/**
 * Checks whether the paths of a database still lead to the files that are open. They do not if they were deleted
 * or replaced, or if another process has removed the log because it did not see our locks. Whatever is written
 * then goes to files without a name, and is lost when this process ends.
 */
export class OpenFiles {
  readonly #paths: readonly string[];
  readonly #known = new Map<string, string>();

  constructor(file: string) {
    this.#paths = [file, `${file}-wal`];
    this.areInPlace();
  }

  /** Two calls of `stat`: a hundredth of what a durable write costs. */
  areInPlace(): boolean {
    return this.#paths.every((path) => {
      const stats = statSync(path, { throwIfNoEntry: false });
      const known = this.#known.get(path);
      if (stats === undefined) return known === undefined;
      const identity = `${stats.dev}:${stats.ino}`;
      // The log is made with the first page that is written.
      if (known === undefined) this.#known.set(path, identity);
      return known === undefined || known === identity;
    });
  }
}
