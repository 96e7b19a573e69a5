// Changes a client waits for, as an asynchronous iterator: what happened meanwhile is reported once per list or resource.

/** One change the server announced. */
export interface Change {
  /** A list, or with `uri` a single resource. */
  readonly kind: 'tools' | 'prompts' | 'resources' | 'resource';
  /** The resource that changed. */
  readonly uri?: string;
  /** The connection was lost meanwhile: this may have changed, or not. */
  readonly missed?: true;
}

/** Stops a server that keeps announcing URIs while the application does not read. */
const maxWaiting = 10_000;

type ChangeReader = {
  readonly resolve: (next: IteratorResult<Change>) => void;
  readonly reject: (error: unknown) => void;
};

/** Queues changes until the next one is requested. */
export class ChangeQueue {
  readonly #waiting = new Map<string, Change>();
  readonly #readers: ChangeReader[] = [];
  #over = false;
  #error: unknown;

  push(change: Change): void {
    if (this.#over) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: change });
      return;
    }
    const key = `${change.kind} ${change.uri ?? ''}`;
    // What certainly changed is not forgotten for what only may have.
    if (change.missed === true && this.#waiting.has(key)) return;
    if (this.#waiting.size < maxWaiting || this.#waiting.has(key)) this.#waiting.set(key, change);
  }

  next(): Promise<IteratorResult<Change>> {
    const first = this.#waiting.entries().next();
    if (first.done !== true) {
      const [key, value] = first.value;
      this.#waiting.delete(key);
      return Promise.resolve({ done: false, value });
    }
    if (!this.#over) return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  /** No more changes will come; waiting reads end, with the error if there is one. */
  end(error?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    const readers = this.#readers.splice(0);
    if (error !== undefined && readers.length === 0) this.#error = error;
    for (const { resolve, reject } of readers) {
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    }
  }
}
