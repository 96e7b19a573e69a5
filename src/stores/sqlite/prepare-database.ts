// What happens to the database of a data folder before it is used: private files, settings, checks, migrations.

import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import type { SqliteConnection } from './driver.ts';
import { isBusy, StoreError } from './errors.ts';
import { check, checkRows, isShort, markAsUsed } from './integrity.ts';
import { migrate } from './migrations.ts';

/** Larger files are not examined page by page at the start; the daily copy does it (about 8 ms per MiB). */
const maxCheckedBytes = 16 * 1024 * 1024;
const setUp = `pragma synchronous = normal; pragma fullfsync = 1; pragma checkpoint_fullfsync = 1;
  pragma foreign_keys = on; pragma trusted_schema = off; pragma journal_size_limit = 16777216;`;

/** Notes are private: no other user of the machine may read folder or file. If they exist, their permissions stay unchanged. */
export function createPrivately(folder: string, file: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Never open an existing database beside SQLite: closing it would drop the locks this process holds on it.
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // Another process was faster.
  }
}

/** Checks the database and brings it up to date. */
export async function prepare(db: SqliteConnection, file: string, busyTimeoutMs: number): Promise<void> {
  await retryWhileBusy(() => {
    const mode = db.prepare('pragma journal_mode = wal').get()?.['journal_mode'];
    if (mode !== 'wal')
      throw new StoreError(
        'denied',
        `${file} is on a file system without shared memory; choose another folder with --data`,
      );
  }, busyTimeoutMs);
  db.exec(setUp);
  const short = await retryWhileBusy(() => isShort(db, file), busyTimeoutMs);
  const checked = short || statSync(file).size <= maxCheckedBytes;
  // Before a migration, which would give damaged rows a checksum of their own.
  if (checked) await retryWhileBusy(() => check(db, file), busyTimeoutMs);
  await retryWhileBusy(() => migrate(db, file), busyTimeoutMs);
  if (checked) await checkRows(db, file, 'shared rows');
  markAsUsed(file);
}

/** Tries again while another process holds the lock, without keeping this one from its other work. */
export async function retryWhileBusy<T>(work: () => T, busyTimeoutMs: number): Promise<T> {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 10));
  }
}
