// How much of one resource (calls, streams, bytes) all callers together may hold, and how much each of them. What is
// counted, and what happens beyond the limits, is up to the code that owns the resource.

import type { Peer } from '../exchange.ts';
import { principalKey } from './principal.ts';

/** Who shares one allowance: the principal, or the network of the address where there is none. */
export function callerKey({ principal, address }: Pick<Peer, 'principal' | 'address'>): string {
  return principal === undefined ? `address ${networkOf(address ?? '')}` : `principal ${principalKey(principal)}`;
}

/**
 * An IPv6 user has at least 2^64 addresses, so a /64 counts as one. An IPv4 address that a dual-stack socket reports as
 * `::ffff:192.0.2.1` is the same as `192.0.2.1`.
 */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1);
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  if (tail !== undefined) while (groups.length < 8 - tail.split(':').length) groups.push('0');
  return groups.slice(0, 4).join(':');
}

/**
 * Counts what each caller holds. Admission looks at what is held already, so a single large item still passes when its
 * caller holds nothing: check `isFull` first, then `charge` what it really takes, and `release` the same amount.
 */
export class CallerBudget {
  readonly #total: number;
  readonly #perCaller: number;
  readonly #held = new Map<string, number>();
  #sum = 0;

  constructor(total: number, perCaller: number) {
    this.#total = total;
    this.#perCaller = perCaller;
  }

  /** Held by all callers together. */
  get held(): number {
    return this.#sum;
  }

  heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0;
  }

  /** Whether this caller must not take more for now. `reserve` raises both limits for what must always get through. */
  isFull(caller: string, reserve = 0): boolean {
    if (this.#sum === 0) return false;
    return this.#sum >= this.#total + reserve || this.heldBy(caller) >= this.#perCaller + reserve;
  }

  charge(caller: string, amount = 1): void {
    this.#sum += amount;
    this.#held.set(caller, this.heldBy(caller) + amount);
  }

  release(caller: string, amount = 1): void {
    this.#sum -= amount;
    const left = this.heldBy(caller) - amount;
    if (left > 0) this.#held.set(caller, left);
    else this.#held.delete(caller);
  }
}
