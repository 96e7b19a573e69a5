// The data folder: one SQLite file that several processes may share. Everything durable of the ready-made servers is
// in it. The packs that use it name the small interfaces they need; the classes here fit them.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Logger } from '../../common/logger.ts';
import { type CopyOptions, refreshBackup } from './backup.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { SqliteExpiringStore } from './expiring.ts';
import { SqliteNotes, type SqliteNotesOptions } from './notes.ts';
import { SqliteRecords } from './records.ts';
import { SqliteTasks, type SqliteTasksOptions } from './tasks.ts';

export { StoreError, type StoreErrorCode } from './errors.ts';
export type { NewNote, NoteList, NoteQuery, NotesChange, StoredNote } from './note-contract.ts';
export type { SqliteExpiringStore, SqliteNotes, SqliteNotesOptions, SqliteRecords, SqliteTasks, SqliteTasksOptions };

export interface DataFolderOptions extends DatabaseOptions, SqliteNotesOptions, SqliteTasksOptions {
  readonly backups?: CopyOptions;
  /** When the age of the last good copy is checked. Default 30 s after opening; 0 = never. */
  readonly backupAfterMs?: number;
  readonly logger?: Logger;
}

/** The stores of an open data folder. */
export interface DataFolder {
  /** The database file, for messages. */
  readonly file: string;
  readonly notes: SqliteNotes;
  readonly expiring: SqliteExpiringStore;
  /** Pass it to `createServer({ tasks: { store } })`. */
  readonly tasks: SqliteTasks;
  /** Small JSON values of one kind, for packs that must remember something. */
  records(kind: string): SqliteRecords;
  /** Updates the last good copy if it is old; returns whether it did. */
  refreshBackup(): Promise<boolean>;
  close(): Promise<void>;
}

const known: Record<keyof DataFolderOptions, true> = {
  busyTimeoutMs: true,
  pollMs: true,
  maxNotes: true,
  maxBytesPerCaller: true,
  maxBytesTotal: true,
  maxTasks: true,
  backups: true,
  backupAfterMs: true,
  logger: true,
};

/** Opens the data folder, creating it if it does not exist; fails with a `StoreError` that says what to do. */
export async function openDataFolder(folder: string, options: DataFolderOptions = {}): Promise<DataFolder> {
  assertKnownOptions('openDataFolder', options, known);
  const { logger, backupAfterMs = 30_000 } = options;
  const database = await Database.open(folder, options);
  const renew = (): Promise<boolean> => refreshBackup(database, options.backups);
  const timer = backupAfterMs > 0 ? setTimeout(() => void tryToRenew(renew, logger), backupAfterMs).unref() : undefined;
  return {
    file: database.file,
    notes: new SqliteNotes(database, options),
    expiring: new SqliteExpiringStore(database),
    tasks: new SqliteTasks(database, options),
    records: (kind) => new SqliteRecords(database, kind),
    refreshBackup: renew,
    close() {
      clearTimeout(timer);
      return database.close();
    },
  };
}

async function tryToRenew(renew: () => Promise<boolean>, logger: Logger | undefined): Promise<void> {
  try {
    if (await renew()) logger?.debug('the last good copy of the data was updated');
  } catch (error) {
    logger?.error('the last good copy of the data could not be updated', { error });
  }
}
