// What was detected about servers, so that the next connection need not detect it again.

/**
 * What a server was found to support; `sse` is the old transport of two endpoints. `other-path`: no server at the root
 * of the origin, but one at its usual path.
 */
export type ServerEra = 'stateless' | 'handshake' | 'sse' | 'other-path';

/** Remembers eras by address, for as long as the process runs. */
export class EraCache {
  readonly #eras = new Map<string, ServerEra>();
  readonly #maxEntries: number;

  /** `maxEntries` stops addresses made up in a loop from filling the memory. */
  constructor(maxEntries = 1_000) {
    this.#maxEntries = maxEntries;
  }

  /** Undefined for an address that is not known. */
  get(address: string): ServerEra | undefined {
    return this.#eras.get(address);
  }

  /** Stores what was found at an address; beyond `maxEntries` the oldest is removed. */
  remember(address: string, era: ServerEra): void {
    this.#eras.delete(address);
    this.#eras.set(address, era);
    if (this.#eras.size > this.#maxEntries) this.#eras.delete(this.#eras.keys().next().value as string);
  }

  /** Removes an address, so that the next connection detects it again. */
  forget(address: string): void {
    this.#eras.delete(address);
  }
}

/** The one used where none is given. */
export const sharedEraCache = new EraCache();
