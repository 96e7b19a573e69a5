// One connection to the database of a data folder: opened with checks, read synchronously, written in groups. Durable means
// durable: a write resolves after its transaction is on the disk, so neither kill -9 nor a power cut takes back what was
// acknowledged. SQLite commits to its write-ahead log, and log-sync.ts syncs the log. What the tables mean is described
// in notes.ts, records.ts, expiring.ts.

import { join } from 'node:path';
import { connectSqlite, type SqliteConnection, type Statement } from './driver.ts';
import {
  closedError,
  damagedError,
  damagedNoteError,
  isBusy,
  replacedError,
  StoreError,
  toStoreError,
} from './errors.ts';
import { copyOf, existingCopyOf, OpenFiles, rejectEmptied } from './integrity.ts';
import { LogSync, type Sync } from './log-sync.ts';
import { rollBack } from './migrations.ts';
import { createPrivately, prepare, retryWhileBusy } from './prepare-database.ts';

export interface DatabaseOptions {
  /** How long a write waits for another process that holds the lock. Default 5 s. */
  readonly busyTimeoutMs?: number;
  /** How often to check whether another process has written, while there is a listener. Default 250 ms; 0 = never. */
  readonly pollMs?: number;
}

/** Writes in one transaction: bounds how long one group keeps others out. */
const maxGroup = 1_000;

interface Write {
  readonly deadline: number;
  run(): void;
  settle(): void;
  fail(error: unknown): void;
}

export class Database {
  readonly file: string;
  /** Where the last good copy is kept. */
  readonly copy: string;
  readonly #db: SqliteConnection;
  readonly #busyTimeoutMs: number;
  readonly #files: OpenFiles;
  readonly #log: LogSync;
  /** Groups that are committed and not on the disk yet. */
  #syncing = 0;
  /** Whether the last sync succeeded. */
  #isSynced = true;
  /** Changes of other processes up to this data version are on the disk. */
  #syncedVersion: unknown;
  readonly #statements = new Map<string, Statement>();
  readonly #changed = new Set<() => void>();
  readonly #pollMs: number;
  #poll: NodeJS.Timeout | undefined;
  #queue: Write[] = [];
  #scheduled = false;
  #dataVersion: unknown;
  /** Set once the files have been replaced under us; nothing is read or written any more. */
  #replaced: StoreError | undefined;
  #closed: Promise<void> | undefined;
  #idle: (() => void) | undefined;

  private constructor(db: SqliteConnection, file: string, options: DatabaseOptions, sync?: Sync) {
    this.#db = db;
    this.file = file;
    this.copy = copyOf(file);
    this.#files = new OpenFiles(file);
    this.#log = new LogSync(`${file}-wal`, sync);
    this.#busyTimeoutMs = options.busyTimeoutMs ?? 5_000;
    this.#pollMs = options.pollMs ?? 250;
  }

  /** Opens the database of a folder, creating both if they do not exist. Fails with a `StoreError` that says what to do. */
  static async open(folder: string, options: DatabaseOptions = {}, sync?: Sync): Promise<Database> {
    const file = join(folder, 'mooring.db');
    let db: SqliteConnection | undefined;
    try {
      rejectEmptied(file);
      createPrivately(folder, file);
      db = await connectSqlite(file);
      await prepare(db, file, options.busyTimeoutMs ?? 5_000);
      return new Database(db, file, options, sync);
    } catch (error) {
      db?.close();
      throw toStoreError(error, file, existingCopyOf(file));
    }
  }

  /** The statement for a text, prepared once. */
  statement(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }

  /** Reads synchronously, unless another process is recovering the file. */
  read<T>(work: () => T): T | Promise<T> {
    const reason = this.#unusable();
    if (reason !== undefined) throw reason;
    try {
      return work();
    } catch (error) {
      if (isBusy(error)) return this.#readLater(work);
      throw this.#explain(error);
    }
  }

  /**
   * Resolves when everything that can be read now is on the disk; undefined if it is. What another connection committed
   * may not be synced yet, and a power cut would take it back.
   */
  synced(): Promise<void> | undefined {
    const version = this.#readDataVersion();
    if (this.#syncing === 0 && this.#isSynced && version === this.#syncedVersion) return undefined;
    return new Promise((resolve, reject) => {
      this.#syncing++;
      this.#log.request((error) => {
        this.#syncing--;
        this.#isSynced = error === undefined;
        if (error === undefined) {
          this.#syncedVersion = version;
          resolve();
        } else reject(this.#explain(error));
        if (!this.#isWriting) this.#idle?.();
      });
    });
  }

  /** Several reads of one moment, whatever other processes write meanwhile. Within `read`. */
  snapshot<T>(work: () => T): T {
    this.#db.exec('begin');
    try {
      return work();
    } finally {
      rollBack(this.#db);
    }
  }

  async #readLater<T>(work: () => T): Promise<T> {
    try {
      return await retryWhileBusy(work, this.#busyTimeoutMs);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /**
   * Runs `work` in a transaction, together with all other writes of the same turn, and resolves once
   * it is durable. If work throws a `StoreError` before it wrote anything, only that work fails; any other error fails, and
   * undoes, the whole group.
   */
  write<T>(work: () => T): Promise<T> {
    const reason = this.#unusable();
    if (reason !== undefined) return Promise.reject(reason);
    return new Promise<T>((resolve, reject) => {
      let result: T;
      this.#queue.push({
        deadline: performance.now() + this.#busyTimeoutMs,
        run: () => (result = work()),
        settle: () => resolve(result),
        fail: reject,
      });
      this.#schedule();
    });
  }

  /** The error for a record that does not match its checksum. */
  damagedRecord(what: string): StoreError {
    return damagedError(this.file, `${what} does not match its checksum`, existingCopyOf(this.file));
  }

  /** The same for a note, or for something about one. */
  damagedNote(what: string): StoreError {
    return damagedNoteError(this.file, what, existingCopyOf(this.file));
  }

  /** The size of the data without free pages. Only reads the header of the file. */
  usedBytes(): number {
    const number = (pragma: string): number => Number(this.statement(`pragma ${pragma}`).get()?.[pragma]);
    return (number('page_count') - number('freelist_count')) * number('page_size');
  }

  #unusable(): StoreError | undefined {
    return this.#closed === undefined ? this.#replaced : closedError(this.file);
  }

  /** Calls back after every change, of this process and of others. */
  onChange(listener: () => void): () => void {
    if (this.#changed.size === 0 && this.#pollMs > 0 && this.#closed === undefined) {
      this.#dataVersion = this.#readDataVersion();
      this.#poll = setInterval(() => this.#lookForChanges(), this.#pollMs).unref();
    }
    this.#changed.add(listener);
    return () => {
      this.#changed.delete(listener);
      if (this.#changed.size === 0) clearInterval(this.#poll);
    };
  }

  /** Finishes open transactions and closes the file. */
  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    clearInterval(this.#poll);
    if (this.#isWriting) await new Promise<void>((resolve) => (this.#idle = resolve));
    this.#log.close();
    // Closing would write what is in a log without a name into a file that others have changed since.
    if (this.#replaced !== undefined) return;
    try {
      // Leaves one complete file behind, as the last one to close does; a driver may be slow to close it.
      this.#db.exec('pragma wal_checkpoint(truncate)');
    } catch {
      // Another process is reading or writing: it, or the next one to open, will do it.
    }
    this.#statements.clear();
    this.#db.close();
  }

  #schedule(waitMs = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const start = (): void => {
      this.#scheduled = false;
      this.#commit();
      // Whatever is left, or came meanwhile, has scheduled itself again.
      if (!this.#isWriting) this.#idle?.();
    };
    if (waitMs === 0) setImmediate(start);
    else setTimeout(start, waitMs);
  }

  /** Runs all waiting writes in one transaction. Several transactions share one sync, which makes durable writes cheap. */
  #commit(): void {
    try {
      this.#db.exec('begin immediate');
    } catch (error) {
      if (isBusy(error)) return this.#waitForLock(error);
      return this.#failAll(this.#queue.splice(0), error);
    }
    const group = this.#queue.splice(0, maxGroup);
    const done: Write[] = [];
    try {
      for (const write of group) {
        try {
          write.run();
          done.push(write);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          write.fail(error);
        }
      }
      this.#db.exec('commit');
    } catch (error) {
      rollBack(this.#db);
      return this.#failAll(group, error);
    }
    this.#syncing++;
    this.#log.request((error) => this.#settle(done, error));
    if (this.#queue.length > 0) this.#schedule();
  }

  /** The sync after the commit of a group has ended. */
  #settle(group: readonly Write[], error: Error | undefined): void {
    this.#syncing--;
    this.#isSynced = error === undefined;
    if (error !== undefined) this.#failAll(group, error);
    else if (!this.#files.areInPlace()) {
      this.#replaced = replacedError(this.file);
      this.#failAll([...group, ...this.#queue.splice(0)], this.#replaced);
    } else {
      for (const write of group) write.settle();
      for (const listener of this.#changed) listener();
    }
    if (!this.#isWriting) this.#idle?.();
  }

  get #isWriting(): boolean {
    return this.#scheduled || this.#syncing > 0;
  }

  /** Another process writes: try again soon, after a random delay, so that two processes do not keep colliding. */
  #waitForLock(error: unknown): void {
    const now = performance.now();
    const late = this.#queue.filter((write) => write.deadline <= now);
    if (late.length > 0) this.#queue = this.#queue.filter((write) => write.deadline > now);
    this.#failAll(late, error);
    if (this.#queue.length > 0) this.#schedule(1 + Math.random() * 8);
  }

  #failAll(writes: readonly Write[], error: unknown): void {
    const explained = this.#explain(error);
    for (const write of writes) write.fail(explained);
    if (this.#queue.length > 0) this.#schedule();
  }

  #explain(error: unknown): StoreError {
    return toStoreError(error, this.file, existingCopyOf(this.file));
  }

  /** A value that changes when another connection has written to the file. Only reads its header. */
  get dataVersion(): unknown {
    return this.#readDataVersion();
  }

  #readDataVersion(): unknown {
    return this.statement('pragma data_version').get()?.['data_version'];
  }

  #lookForChanges(): void {
    try {
      const version = this.#readDataVersion();
      if (version === this.#dataVersion) return;
      this.#dataVersion = version;
      for (const listener of this.#changed) listener();
    } catch {
      // The next read or write will report what prevents the check.
    }
  }
}
