// Caches the result for a token for a short time, under its hash: clients send the same token with every request.
// Bounded, so that made-up tokens do not fill memory, nor evict those that were accepted.

import { hash } from 'node:crypto';
import { Moment } from '../../common/clock.ts';
import type { Denied, Principal } from './contract.ts';

interface Known {
  readonly result: Principal | Denied;
  readonly stored: Moment;
  readonly expiresAtMs: number;
  readonly bytes: number;
}

/** `wasAccepted`: whether the token was accepted before; its result is not valid any more. */
type Find = (wasAccepted: boolean) => Promise<Principal | Denied>;

const maxTokens = 10_000;
/** Memory for the claims of accepted tokens; stops an issuer, or users who choose claims, from filling it with long ones. */
const maxBytes = 64 * 1024 * 1024;
/** A result that takes more is not cached, so that it does not evict those of all others. */
const maxBytesPerToken = 1024 * 1024;

export class TokenCache {
  readonly #keepMs: number;
  readonly #accepted = new Map<string, Known>();
  readonly #denied = new Map<string, Known>();
  readonly #pending = new Map<string, Promise<Principal | Denied>>();
  #bytes = 0;

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** The cached result for a token, or the result of `find`; concurrent requests for one token call `find` once. */
  get(token: string, find: Find): Principal | Denied | Promise<Principal | Denied> {
    if (this.#keepMs <= 0) return find(false);
    const key = hash('sha256', token, 'base64url');
    const accepted = this.#accepted.get(key);
    const known = accepted ?? this.#denied.get(key);
    if (known !== undefined && known.stored.ageMs < this.#keepMs && known.expiresAtMs > Date.now()) return known.result;
    let asked = this.#pending.get(key);
    if (asked === undefined) {
      asked = find(accepted !== undefined)
        .then((result) => this.#keep(key, result))
        .finally(() => this.#pending.delete(key));
      this.#pending.set(key, asked);
    }
    return asked;
  }

  #keep(key: string, result: Principal | Denied): Principal | Denied {
    this.#forget(key);
    const isDenied = 'status' in result;
    const bytes = isDenied ? 0 : estimateBytes(result.claims);
    if (bytes > maxBytesPerToken) return result;
    const results = isDenied ? this.#denied : this.#accepted;
    // The oldest are evicted first; a map keeps the order of insertion.
    for (const oldest of results.keys()) {
      if (results.size < maxTokens && this.#bytes + bytes <= maxBytes) break;
      this.#forget(oldest);
    }
    this.#bytes += bytes;
    const expiresAtMs = (isDenied ? undefined : result.expiresAtMs) ?? Number.POSITIVE_INFINITY;
    results.set(key, { result, stored: new Moment(), expiresAtMs, bytes });
    return result;
  }

  #forget(key: string): void {
    this.#bytes -= this.#accepted.get(key)?.bytes ?? 0;
    this.#accepted.delete(key);
    this.#denied.delete(key);
  }
}

/** An object or its entry, besides its texts. */
const bytesPerValue = 64;

/** About how much memory claims take; counts no further than a result that is not cached. */
function estimateBytes(claims: unknown): number {
  let bytes = 0;
  const open = [claims];
  for (let value = open.pop(); value !== undefined && bytes <= maxBytesPerToken; value = open.pop()) {
    bytes += bytesPerValue;
    if (typeof value === 'string') bytes += value.length;
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        bytes += name.length;
        open.push(item);
      }
    }
  }
  return bytes;
}
