// Calls that an upstream works on while no request of the client waits for them. It happens where an upstream asks for input
// during a call, and the client gets input requests only as the result of its request: the call is held here, the client
// repeats the request with its responses, and that request takes over the call. The upstream is never called twice.

import { InputFailure } from '../../client/index.ts';
import type { Context } from '../../engine/context.ts';
import type { Bus } from '../../engine/ports.ts';
import { WireError } from '../../protocol/errors.ts';
import { resolveLimits } from '../../protocol/known-options.ts';
import { HeldCall, type HeldCallRef, type HoldableCall } from './held-call.ts';
import { type OutcomeCodec, SharedHeldCalls } from './shared-held-calls.ts';

export interface HeldCallLimits {
  /** Held calls of one principal, or 0 to hold none; stops one caller from using up the limit of all. */
  readonly maxPerPrincipal: number;
  /** Held calls of all callers, or 0; stops callers that never retry from filling the memory. */
  readonly max: number;
  /** How long a call is held until the client retries. */
  readonly expiresMs: number;
  /** How long the outcome is kept, for a client that repeats a request whose response was lost. */
  readonly keepMs: number;
}

const defaultHeldCallLimits: HeldCallLimits = {
  maxPerPrincipal: 64,
  max: 1_000,
  expiresMs: 600_000,
  keepMs: 60_000,
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

  constructor(limits: Partial<HeldCallLimits> = {}, sharing?: HeldCallSharing) {
    this.#limits = resolveLimits(defaultHeldCallLimits, limits, ['maxPerPrincipal', 'max', 'keepMs']);
    this.holder = sharing?.bus.process ?? crypto.randomUUID();
    this.#shared = sharing && new SharedHeldCalls({ ...sharing, find: (id) => this.#calls.get(id) });
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Holds a call from now on. Throws an `InputFailure` if there are too many. */
  add(call: HoldableCall): HeldCall {
    const { principalKey } = call;
    const count = this.#perPrincipal.get(principalKey) ?? 0;
    const { max, maxPerPrincipal, expiresMs, keepMs } = this.#limits;
    if (this.#calls.size >= max || count >= maxPerPrincipal) {
      throw new InputFailure('failed', 'Too many requests wait for input of their users; try again later');
    }
    const id = crypto.randomUUID();
    const held = new HeldCall(id, call, expiresMs, () => {
      if (!this.#calls.delete(id)) return;
      const left = (this.#perPrincipal.get(principalKey) ?? 1) - 1;
      if (left === 0) this.#perPrincipal.delete(principalKey);
      else this.#perPrincipal.set(principalKey, left);
    });
    held.keepMs = keepMs;
    this.#calls.set(id, held);
    this.#perPrincipal.set(principalKey, count + 1);
    return held;
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
