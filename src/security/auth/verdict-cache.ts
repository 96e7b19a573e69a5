// Remembers for a short time what was found about a token, under its hash: clients send the same one with every request.
// Bounded, so that made-up tokens do not fill memory.

import { hash } from 'node:crypto';
import type { Denied, Principal } from './contract.ts';

interface Known {
  readonly verdict: Principal | Denied;
  readonly untilMs: number;
}

const maxTokens = 10_000;

export class VerdictCache {
  readonly #keepMs: number;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Promise<Principal | Denied>>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** What is known of a token, or what `find` finds out; however many ask for one at a time, it is found out once. */
  get(token: string, find: () => Promise<Principal | Denied>): Principal | Denied | Promise<Principal | Denied> {
    if (this.#keepMs <= 0) return find();
    const key = hash('sha256', token, 'base64url');
    const known = this.#known.get(key);
    if (known !== undefined && known.untilMs > Date.now()) return known.verdict;
    let asked = this.#asking.get(key);
    if (asked === undefined) {
      asked = find()
        .then((verdict) => this.#keep(key, verdict))
        .finally(() => this.#asking.delete(key));
      this.#asking.set(key, asked);
    }
    return asked;
  }

  #keep(key: string, verdict: Principal | Denied): Principal | Denied {
    const expiresAtMs = 'status' in verdict ? undefined : verdict.expiresAtMs;
    const untilMs = Math.min(Date.now() + this.#keepMs, expiresAtMs ?? Number.POSITIVE_INFINITY);
    this.#known.delete(key);
    if (this.#known.size >= maxTokens) {
      // The oldest goes; a map keeps the order in which things came.
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    this.#known.set(key, { verdict, untilMs });
    return verdict;
  }
}
