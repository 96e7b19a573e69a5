// Caches the result for a token for a short time, under its hash: clients send the same token with every request.
// Bounded, so that made-up tokens do not fill memory, nor evict those that were accepted.

import { hash } from 'node:crypto';
import type { Denied, Principal } from './contract.ts';

interface Known {
  readonly result: Principal | Denied;
  readonly untilMs: number;
}

/** `wasAccepted`: whether the token was accepted before; its result is not valid any more. */
type Find = (wasAccepted: boolean) => Promise<Principal | Denied>;

const maxTokens = 10_000;

export class TokenCache {
  readonly #keepMs: number;
  readonly #accepted = new Map<string, Known>();
  readonly #denied = new Map<string, Known>();
  readonly #pending = new Map<string, Promise<Principal | Denied>>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** The cached result for a token, or the result of `find`; concurrent requests for one token call `find` once. */
  get(token: string, find: Find): Principal | Denied | Promise<Principal | Denied> {
    if (this.#keepMs <= 0) return find(false);
    const key = hash('sha256', token, 'base64url');
    const accepted = this.#accepted.get(key);
    const known = accepted ?? this.#denied.get(key);
    if (known !== undefined && known.untilMs > Date.now()) return known.result;
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
    const expiresAtMs = 'status' in result ? undefined : result.expiresAtMs;
    const untilMs = Math.min(Date.now() + this.#keepMs, expiresAtMs ?? Number.POSITIVE_INFINITY);
    this.#accepted.delete(key);
    this.#denied.delete(key);
    const results = 'status' in result ? this.#denied : this.#accepted;
    if (results.size >= maxTokens) {
      // Evicts the oldest entry; a map keeps the order of insertion.
      for (const oldest of results.keys()) {
        results.delete(oldest);
        break;
      }
    }
    results.set(key, { result, untilMs });
    return result;
  }
}
