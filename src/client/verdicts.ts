// How servers turned out to be addressed, so that the next connection need not find out again.

/**
 * What a server was found to speak; `sse` is the old transport of two endpoints. `elsewhere`: nobody answers at the root
 * of the origin, but somebody does at its usual path.
 */
export type Verdict = 'stateless' | 'handshake' | 'sse' | 'elsewhere';

/** Remembers verdicts by address, for as long as the process lives. */
export class VerdictCache {
  readonly #verdicts = new Map<string, Verdict>();
  readonly #maxEntries: number;

  /** `maxEntries` stops addresses made up in a loop from filling the memory. */
  constructor(maxEntries = 1_000) {
    this.#maxEntries = maxEntries;
  }

  get(address: string): Verdict | undefined {
    return this.#verdicts.get(address);
  }

  remember(address: string, verdict: Verdict): void {
    this.#verdicts.delete(address);
    this.#verdicts.set(address, verdict);
    if (this.#verdicts.size > this.#maxEntries) this.#verdicts.delete(this.#verdicts.keys().next().value as string);
  }

  forget(address: string): void {
    this.#verdicts.delete(address);
  }
}

/** The one used where none is given. */
export const sharedVerdicts = new VerdictCache();
