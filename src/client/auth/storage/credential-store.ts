// Where credentials rest between requests and runs: the contract, and the store that forgets with the process. The
// store on disk is file-store.ts; what is put in, and under which key, is credentials.ts.

/** A small store of JSON values with exclusive sections. Implementations may be shared by several processes. */
export interface CredentialStore {
  /** The value, or undefined. */
  get(key: string): Promise<unknown>;
  /** Replaces the value; undefined removes it. When this resolves, the value survives a crash. */
  set(key: string, value: unknown): Promise<void>;
  /** Runs a task while nobody else who shares the store runs one under the same key. */
  lock<T>(key: string, task: () => Promise<T>, options?: LockOptions): Promise<T>;
}

/** Limits of waiting for a lock. */
export interface LockOptions {
  readonly signal?: AbortSignal;
  /** Default 10 minutes: the other side may be waiting for a person. */
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
      // Kept as text so that nobody shares an object with the store.
      if (value === undefined) values.delete(key);
      else values.set(key, JSON.stringify(value));
    },
    lock: (key, task, options) => locks.run(key, task, options?.signal),
  };
}

/** Serializes tasks per key within this process, in order of arrival. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    let release = () => {};
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tail = before.then(() => mine);
    this.#tails.set(key, tail);
    try {
      await unlessAborted(before, signal);
      return await task();
    } finally {
      release();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}

/** Waits for a promise, or throws the signal's reason as soon as that fires. */
export async function unlessAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return promise;
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
