// Whether other processes have received everything that this one has published. Questions to one process are combined: all that are
// asked while it has not responded to the first are one.

/** Asks a process, which responds when it has received everything that was published before. Must not reject. */
export type AskProcess = (process: string) => Promise<unknown>;

interface Confirmation {
  readonly response: Promise<unknown>;
  /** The one that is asked for after it. */
  next: Promise<unknown> | undefined;
}

export class Confirmations {
  readonly #ask: AskProcess;
  /** Under way, by process. */
  readonly #current = new Map<string, Confirmation>();

  constructor(ask: AskProcess) {
    this.#ask = ask;
  }

  /** Resolves when these processes have received everything that was published before this call, or do not respond. */
  from(processes: readonly string[]): Promise<unknown> {
    return Promise.all(processes.map((process) => this.#from(process)));
  }

  #from(process: string): Promise<unknown> {
    const current = this.#current.get(process);
    if (current === undefined) return this.#start(process);
    // The process may have responded already, before it received what was published since.
    current.next ??= current.response.then(() => this.#start(process));
    return current.next;
  }

  #start(process: string): Promise<unknown> {
    const response = this.#ask(process);
    const current: Confirmation = { response, next: undefined };
    this.#current.set(process, current);
    void response.then(() => {
      if (this.#current.get(process) === current && current.next === undefined) this.#current.delete(process);
    });
    return response;
  }
}
