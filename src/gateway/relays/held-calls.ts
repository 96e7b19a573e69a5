// Calls that an upstream works on while no request of the client waits for them. It happens where an upstream asks for input
// during a call, and the client gets input requests only as the result of its request: the call is held here, the client
// repeats the request with its responses, and that request takes over the call. The upstream is never called twice.

import { InputFailure } from '../../client/index.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { WireError } from '../../protocol/errors.ts';
import { messageOf } from '../upstreams/start-error.ts';

/** The call that is held, as far as holding it needs to know it. */
export interface HoldableCall {
  readonly principalKey: string;
  /** Another request of the client takes over the call. */
  attach(ctx: Context): void;
  cancel(reason: unknown): void;
}

export interface HeldCallLimits {
  /** Held calls of one principal; stops one caller from using up the limit of all. */
  readonly maxPerPrincipal: number;
  /** Held calls of all; stops callers that never come back from filling the memory. */
  readonly max: number;
  /** How long a call is held without the client coming back. */
  readonly expiresMs: number;
  /** How long the outcome is kept, for a client that repeats a request whose response was lost. */
  readonly keepMs: number;
}

export const defaultHeldCallLimits: HeldCallLimits = {
  maxPerPrincipal: 64,
  max: 1_000,
  expiresMs: 600_000,
  keepMs: 60_000,
};

/** How a held call is named in the state that the client sends back. */
export interface HeldCallRef {
  /** The process that holds it. */
  readonly holder: string;
  readonly id: string;
}

export class HeldCalls {
  readonly holder = crypto.randomUUID();
  readonly #limits: HeldCallLimits;
  readonly #calls = new Map<string, HeldCall>();
  readonly #perPrincipal = new Map<string, number>();

  constructor(limits: Partial<HeldCallLimits> = {}) {
    this.#limits = { ...defaultHeldCallLimits, ...limits };
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
      this.#calls.delete(id);
      const left = (this.#perPrincipal.get(principalKey) ?? 1) - 1;
      if (left === 0) this.#perPrincipal.delete(principalKey);
      else this.#perPrincipal.set(principalKey, left);
    });
    held.keepMs = keepMs;
    this.#calls.set(id, held);
    this.#perPrincipal.set(principalKey, count + 1);
    return held;
  }

  /** The held call of a state. Throws if it is gone: it may have run, so that it must not be called again. */
  find({ holder, id }: HeldCallRef, principalKey: string): HeldCall {
    const held = holder === this.holder ? this.#calls.get(id) : undefined;
    if (held === undefined || held.call.principalKey !== principalKey) {
      throw new WireError('internal', 'The request that waited for this input is gone; it may have run', {
        data: { reason: 'held-call-lost', mayHaveRun: true },
      });
    }
    return held;
  }

  /** Ends all of them. */
  close(): void {
    for (const held of [...this.#calls.values()]) held.expire();
  }
}

interface OpenInput {
  readonly request: InputRequest;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A call whose upstream waits for input. */
export class HeldCall {
  readonly id: string;
  readonly call: HoldableCall;
  keepMs = 0;
  readonly #open = new Map<string, OpenInput>();
  readonly #expiresMs: number;
  readonly #forget: () => void;
  #timer: ReturnType<typeof setTimeout>;
  #inputs = 0;
  #changed: (() => void)[] = [];
  #outcome: { readonly value: Promise<unknown> } | undefined;
  /** The client was given input requests and has not come back yet. */
  isWaiting = false;

  constructor(id: string, call: HoldableCall, expiresMs: number, forget: () => void) {
    this.id = id;
    this.call = call;
    this.#expiresMs = expiresMs;
    this.#forget = forget;
    this.#timer = this.#startTimer(expiresMs, () => this.expire());
  }

  /** The upstream asks; resolves with the response of the client. */
  ask(request: InputRequest, signal: AbortSignal): Promise<unknown> {
    const key = `input-${++this.#inputs}`;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#open.delete(key);
        signal.removeEventListener('abort', withdrawn);
      };
      const withdrawn = (): void => {
        settle();
        reject(new InputFailure('failed', 'The server does not need this input any more'));
        this.#notify();
      };
      signal.addEventListener('abort', withdrawn, { once: true });
      this.#open.set(key, {
        request,
        resolve: (value) => {
          settle();
          resolve(value);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      this.#notify();
    });
  }

  /** The upstream has ended the call. */
  settle(outcome: Promise<unknown>): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = { value: outcome };
    clearTimeout(this.#timer);
    this.#timer = this.#startTimer(this.keepMs, this.#forget);
    this.#notify();
  }

  /**
   * Waits for the outcome on behalf of a request of the client. If the upstream asks for input, the request ends with the
   * input requests, and this never resolves.
   */
  async wait<T>(ctx: Context): Promise<T> {
    this.#restartTimer();
    for (;;) {
      if (this.#outcome !== undefined) return (await this.#outcome.value) as T;
      const open = [...this.#open].map(([key, { request }]) => [key, request] as const);
      if (open.length === 0) await new Promise<void>((resolve) => this.#changed.push(resolve));
      else {
        this.isWaiting = true;
        await Promise.all(open.map(([key, request]) => this.#request(ctx, key, request)));
        this.isWaiting = false;
      }
    }
  }

  async #request(ctx: Context, key: string, request: InputRequest): Promise<void> {
    try {
      const value = await ctx.requestInput(key, request);
      // The same response may come twice, if the client repeats its request.
      this.#open.get(key)?.resolve(value);
    } catch (error) {
      this.#open.get(key)?.reject(new InputFailure('unavailable', messageOf(error), error));
    }
  }

  /** The client has not come back: the upstream is told that there is no answer. */
  expire(): void {
    clearTimeout(this.#timer);
    for (const { request, resolve, reject } of [...this.#open.values()]) {
      if (request.kind === 'elicit' || request.kind === 'elicitUrl') resolve({ action: 'cancel' });
      else reject(new InputFailure('declined', 'The client did not respond'));
    }
    this.call.cancel(new DOMException('the client did not come back', 'AbortError'));
    this.#forget();
  }

  #notify(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }

  #restartTimer(): void {
    if (this.#outcome !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = this.#startTimer(this.#expiresMs, () => this.expire());
  }

  #startTimer(ms: number, run: () => void): ReturnType<typeof setTimeout> {
    const timer = setTimeout(run, ms);
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }
}
