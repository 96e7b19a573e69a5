// Calls that an upstream works on while no request of the client waits for them. It happens where an upstream asks for input
// during a call, and the client gets input requests only as the result of its request: the call is held here, the client
// repeats the request with its responses, and that request takes over the call. The upstream is never called twice.

import { InputFailure } from '../../client/index.ts';
import { resolveLimits } from '../../common/known-options.ts';
import type { Context } from '../../engine/context.ts';
import type { Bus } from '../../engine/ports.ts';
import { CallerBudget } from '../../protocol/callers/caller-budget.ts';
import { WireError } from '../../protocol/errors.ts';
import { HeldCall, type HeldCallRef, type HoldableCall } from './held-call.ts';
import { type OutcomeCodec, SharedHeldCalls } from './shared-held-calls.ts';

/** Limits of calls that a gateway holds while their clients get input. */
export interface HeldCallLimits {
  /** Held calls of one principal, or 0 to hold none; stops one caller from using up the limit of all. */
  readonly maxPerPrincipal: number;
  /** Held calls of all callers, or 0; stops callers that never retry from filling the memory. */
  readonly max: number;
  /** How long a call is held until the client retries. */
  readonly expiresMs: number;
  /** How long the outcome is kept, for a client that repeats a request whose response was lost. */
  readonly keepMs: number;
  /** The outcomes of one principal that are kept, in characters; beyond that, its oldest ones are forgotten. */
  readonly maxKeptCharsPerPrincipal: number;
  /** Those of all callers; stops callers with long results from filling the memory. */
  readonly maxKeptChars: number;
}

const defaultHeldCallLimits: HeldCallLimits = {
  maxPerPrincipal: 64,
  max: 1_000,
  expiresMs: 600_000,
  keepMs: 60_000,
  maxKeptCharsPerPrincipal: 16 * 1024 * 1024,
  maxKeptChars: 64 * 1024 * 1024,
};

/** The other processes that serve the same endpoint. */
export interface HeldCallSharing {
  readonly bus: Bus;
  /** The same in all of them. */
  readonly name: string;
  readonly outcomes: OutcomeCodec;
}

export class HeldCalls {
  /** This process, in the states that clients send back. */
  readonly holder: string;
  readonly #shared: SharedHeldCalls | undefined;
  readonly #limits: HeldCallLimits;
  readonly #calls = new Map<string, HeldCall>();
  readonly #perPrincipal = new Map<string, number>();
  /** Calls whose outcome is kept, oldest first, and how long the outcomes are. */
  readonly #ended = new Set<HeldCall>();
  readonly #kept: CallerBudget;

  constructor(limits: Partial<HeldCallLimits> = {}, sharing?: HeldCallSharing) {
    this.#limits = resolveLimits(defaultHeldCallLimits, limits, ['maxPerPrincipal', 'max', 'keepMs']);
    this.#kept = new CallerBudget(this.#limits.maxKeptChars, this.#limits.maxKeptCharsPerPrincipal);
    this.holder = sharing?.bus.process ?? crypto.randomUUID();
    this.#shared = sharing && new SharedHeldCalls({ ...sharing, find: (id) => this.#calls.get(id) });
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Holds a call from now on. Throws an `InputFailure` if there are too many. */
  add(call: HoldableCall): HeldCall {
    const { principalKey } = call;
    if (!this.#makeRoom(principalKey)) {
      throw new InputFailure('failed', 'Too many requests wait for input of their users; try again later');
    }
    const held = new HeldCall(crypto.randomUUID(), call, this.#limits, {
      ended: () => this.#keep(held),
      forgotten: () => this.#remove(held),
    });
    this.#calls.set(held.id, held);
    this.#perPrincipal.set(principalKey, this.#count(principalKey) + 1);
    return held;
  }

  #count(principalKey: string): number {
    return this.#perPrincipal.get(principalKey) ?? 0;
  }

  /** A call that has ended does not prevent another one from being held. */
  #makeRoom(principalKey: string): boolean {
    const { max, maxPerPrincipal } = this.#limits;
    const isFull = (): boolean => this.#count(principalKey) >= maxPerPrincipal;
    while (isFull() || this.#calls.size >= max) {
      if (!this.#forgetOldest(principalKey) && (isFull() || !this.#forgetOldest())) return false;
    }
    return true;
  }

  /** Other outcomes are forgotten if this one would be too much, those of the same principal first. */
  #keep(held: HeldCall): void {
    const { principalKey, resultLength } = held.call;
    while (this.#kept.isFull(principalKey)) if (!this.#forgetOldest(principalKey)) this.#forgetOldest();
    this.#ended.add(held);
    this.#kept.charge(principalKey, resultLength);
  }

  #forgetOldest(principalKey?: string): boolean {
    for (const held of this.#ended) {
      if (principalKey !== undefined && held.call.principalKey !== principalKey) continue;
      held.forget();
      return true;
    }
    return false;
  }

  #remove(held: HeldCall): void {
    const { principalKey, resultLength } = held.call;
    if (this.#ended.delete(held)) this.#kept.release(principalKey, resultLength);
    if (!this.#calls.delete(held.id)) return;
    const left = this.#count(principalKey) - 1;
    if (left === 0) this.#perPrincipal.delete(principalKey);
    else this.#perPrincipal.set(principalKey, left);
  }

  /**
   * Waits for the outcome of a held call, on behalf of a retry of the client. Throws if the call is
   * no longer held: it may have run, so it must not be sent again.
   */
  async resume<T>(ref: HeldCallRef, principalKey: string, ctx: Context): Promise<T> {
    if (ref.holder !== this.holder) {
      const waited = (await this.#shared?.wait(ref, principalKey, ctx)) ?? 'lost';
      if (waited === 'lost') throw lost();
      return waited.outcome as T;
    }
    const held = this.#calls.get(ref.id);
    if (held === undefined || held.call.principalKey !== principalKey) throw lost();
    held.call.attach(ctx);
    return held.wait<T>(ctx);
  }

  /** Ends all of them. */
  close(): void {
    for (const held of [...this.#calls.values()]) held.expire();
    this.#shared?.close();
  }
}

function lost(): WireError {
  return new WireError('internal', 'The request that waited for this input is gone; it may have run', {
    data: { reason: 'held-call-lost', mayHaveRun: true },
  });
}
