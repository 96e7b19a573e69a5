// The last good copy: once a day the database is checked in full, and only if every page is intact is the copy beside
// it replaced by a new one. A damaged database never replaces it, and nothing here ever deletes either.

import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Database } from './database.ts';
import { connectSqlite } from './driver.ts';
import { toStoreError } from './errors.ts';
import { check, checkRows } from './integrity.ts';

export interface CopyOptions {
  /** A younger copy is kept. Default one day. */
  readonly everyMs?: number;
  /** Larger databases need a backup of the operator's own, since copying blocks everything else. Default 64 MiB. */
  readonly maxBytes?: number;
}

const dayMs = 24 * 3_600_000;

/** Updates the copy if it is old or missing. Returns whether it did; fails with a `StoreError` when the database is damaged. */
export async function refreshBackup({ file, copy }: Database, options: CopyOptions = {}): Promise<boolean> {
  const age = Date.now() - (statSync(copy, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (age < (options.everyMs ?? dayMs) || statSync(file).size > (options.maxBytes ?? 64 * 1024 * 1024)) return false;
  const fresh = `${copy}.${process.pid}.new`;
  // A separate connection sees what is on the disk, not what this process remembers of it.
  const db = await connectSqlite(file);
  try {
    check(db, file);
    await checkRows(db, file, 'all');
    rmSync(fresh, { force: true });
    db.prepare('vacuum into ?').run(fresh);
    chmodSync(fresh, 0o600);
    syncFile(fresh);
    renameSync(fresh, copy);
  } catch (error) {
    throw toStoreError(error, file, copy);
  } finally {
    db.close();
    rmSync(fresh, { force: true });
  }
  return true;
}

/** SQLite leaves a vacuumed copy to the operating system; a copy that replaces another must be on disk first. */
function syncFile(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
