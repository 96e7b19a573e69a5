// Caches the result for a token for a short time, under its hash: clients send the same token with every request.
// Bounded, so that made-up tokens do not fill memory.

import { hash } from 'node:crypto';
import type { Denied, Principal } from './contract.ts';

interface Known {
  readonly result: Principal | Denied;
  readonly untilMs: number;
}

const maxTokens = 10_000;

export class TokenCache {
  readonly #keepMs: number;
  readonly #known = new Map<string, Known>();
  readonly #pending = new Map<string, Promise<Principal | Denied>>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** The cached result for a token, or the result of `find`; concurrent requests for one token call `find` once. */
  get(token: string, find: () => Promise<Principal | Denied>): Principal | Denied | Promise<Principal | Denied> {
    if (this.#keepMs <= 0) return find();
    const key = hash('sha256', token, 'base64url');
    const known = this.#known.get(key);
    if (known !== undefined && known.untilMs > Date.now()) return known.result;
    let asked = this.#pending.get(key);
    if (asked === undefined) {
      asked = find()
        .then((result) => this.#keep(key, result))
        .finally(() => this.#pending.delete(key));
      this.#pending.set(key, asked);
    }
    return asked;
  }

  #keep(key: string, result: Principal | Denied): Principal | Denied {
    const expiresAtMs = 'status' in result ? undefined : result.expiresAtMs;
    const untilMs = Math.min(Date.now() + this.#keepMs, expiresAtMs ?? Number.POSITIVE_INFINITY);
    this.#known.delete(key);
    if (this.#known.size >= maxTokens) {
      // Evicts the oldest entry; a map keeps the order of insertion.
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(key, { result, untilMs });
    return result;
  }
}
