// Where credentials are stored between requests and runs: the interface, and the store in memory. The
// store on disk is file-store.ts; what is put in, and under which key, is credentials.ts.

import { KeyedMutex } from '../../keyed-mutex.ts';

/** A small store of JSON values with exclusive sections. Implementations may be shared by several processes. */
export interface CredentialStore {
  /** The value, or undefined. */
  get(key: string): Promise<unknown>;
  /** Replaces the value; undefined removes it. When this resolves, the value survives a crash. */
  set(key: string, value: unknown): Promise<void>;
  /** Runs a task while no other user of the store runs one under the same key. */
  lock<T>(key: string, task: () => Promise<T>, options?: LockOptions): Promise<T>;
}

/** Limits of waiting for a lock. */
export interface LockOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  /** Default 10 minutes: the other side may be waiting for a user. */
  readonly timeoutMs?: number;
}

/** A store that lives as long as the process. */
export function createMemoryStore(): CredentialStore {
  const values = new Map<string, string>();
  const locks = new KeyedMutex();
  return {
    async get(key) {
      const text = values.get(key);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async set(key, value) {
      // Stored as text so that no object is shared with the store.
      if (value === undefined) values.delete(key);
      else values.set(key, JSON.stringify(value));
    },
    lock: (key, task, options) => locks.run(key, task, options?.signal),
  };
}
