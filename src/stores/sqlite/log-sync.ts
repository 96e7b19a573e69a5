// Syncs the write-ahead log of a database to the disk without blocking the event loop, which SQLite would do itself. A
// transaction that was committed before a sync started is on the disk when it has ended.

import { closeSync, fdatasync, openSync } from 'node:fs';

type Done = (error: Error | undefined) => void;
export type Sync = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => void;

export class LogSync {
  readonly #file: string;
  readonly #sync: Sync;
  #descriptor: number | undefined;
  #running = false;
  #waiting: Done[] = [];

  constructor(file: string, sync: Sync = fdatasync) {
    this.#file = file;
    this.#sync = sync;
  }

  /** Calls back when everything that is in the log now is on the disk. Requests that come during a sync share the next one. */
  request(done: Done): void {
    this.#waiting.push(done);
    if (!this.#running) this.#start();
  }

  #start(): void {
    const served = this.#waiting;
    this.#waiting = [];
    this.#running = true;
    const end = (error: Error | null | undefined): void => {
      this.#running = false;
      for (const done of served) done(error ?? undefined);
      if (this.#waiting.length > 0 && !this.#running) this.#start();
    };
    try {
      // Not the database itself: closing that would drop the locks of this process. The log has none. For writing, since
      // Windows syncs no others.
      this.#descriptor ??= openSync(this.#file, 'r+');
      this.#sync(this.#descriptor, end);
    } catch (error) {
      end(error as Error);
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}
