// One call whose upstream waits for input: its open input requests, its outcome, and which requests of the client wait for it.

import { InputFailure } from '../../client/index.ts';
import { nextSlice } from '../../common/slices.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { messageOf } from '../upstreams/start-error.ts';
import type { EncodedInputResponse } from './held-call-messages.ts';

/** The part of a waiting client request that a held call uses. */
export type CallRun = Pick<Context, 'signal' | 'progress' | 'log'>;

/** The part of a relayed call that is needed to hold it. */
export interface HoldableCall {
  readonly principalKey: string;
  /** The length of the last response of the upstream, in characters. */
  readonly resultLength: number;
  /** Another request of the client takes over the call. */
  attach(run: CallRun): void;
  cancel(reason: unknown): void;
}

/** How a held call is named in the state that the client sends back. */
export interface HeldCallRef {
  /** The process that holds it. */
  readonly holder: string;
  readonly id: string;
}

/** The state of a held call: the upstream has ended it, or sent input requests. */
export type HeldCallState =
  | { readonly outcome: Promise<unknown> }
  | { readonly open: readonly (readonly [key: string, request: InputRequest])[] };

export interface HeldCallEvents {
  /** The outcome is kept from now on. */
  ended(): void;
  /** Nothing of it is kept any more. */
  forgotten(): void;
}

interface OpenHeldInput {
  readonly request: InputRequest;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A call whose upstream waits for input. */
export class HeldCall {
  readonly id: string;
  readonly call: HoldableCall;
  readonly #open = new Map<string, OpenHeldInput>();
  readonly #times: { readonly expiresMs: number; readonly keepMs: number };
  readonly #events: HeldCallEvents;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #inputs = 0;
  /** How many requests wait for a change. */
  #waiting = 0;
  #isForgotten = false;
  #changed: (() => void)[] = [];
  #outcome: { readonly value: Promise<unknown> } | undefined;
  /** The client got input requests and has not retried yet. */
  isWaiting = false;
  /** Requests of the client that wait in other processes. */
  readonly runs = new Map<string, AbortController>();

  /** `times`: how long it is held until the client retries, and how long its outcome is kept. */
  constructor(
    id: string,
    call: HoldableCall,
    times: { readonly expiresMs: number; readonly keepMs: number },
    events: HeldCallEvents,
  ) {
    this.id = id;
    this.call = call;
    this.#times = times;
    this.#events = events;
    this.#restartTimer();
  }

  /** Passes on an input request of the upstream. Resolves with the client's response. */
  ask(request: InputRequest, signal: AbortSignal): Promise<unknown> {
    if (this.#outcome !== undefined || signal.aborted) return Promise.reject(ended());
    const key = `input-${++this.#inputs}`;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#open.delete(key);
        signal.removeEventListener('abort', cancelled);
      };
      const cancelled = (): void => {
        settle();
        reject(new InputFailure('failed', 'The server does not need this input any more'));
        this.#notify();
      };
      signal.addEventListener('abort', cancelled, { once: true });
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
    // The upstream may send another one just before it sends the result, and no one would answer it.
    for (const { reject } of [...this.#open.values()]) reject(ended());
    if (!this.#isForgotten) {
      this.#setTimer(this.#times.keepMs, () => this.forget());
      this.#events.ended();
    }
    this.#notify();
  }

  /**
   * Waits for the outcome on behalf of a request of the client. If the upstream asks for input, the request ends with the
   * input requests, and this never resolves.
   */
  async wait<T>(ctx: Context): Promise<T> {
    for (;;) {
      const next = (await this.next()) as HeldCallState;
      if ('outcome' in next) return (await next.outcome) as T;
      await Promise.all(next.open.map(([key, request]) => this.#request(ctx, key, request)));
      this.isWaiting = false;
    }
  }

  /** Waits for the outcome or for input requests; undefined if there are none for `maxMs`. It does not expire meanwhile. */
  async next(maxMs?: number): Promise<HeldCallState | undefined> {
    this.#waiting++;
    this.#restartTimer();
    try {
      return await this.#next(maxMs === undefined ? undefined : performance.now() + maxMs);
    } finally {
      this.#waiting--;
      this.#restartTimer();
    }
  }

  async #next(until: number | undefined): Promise<HeldCallState | undefined> {
    for (;;) {
      if (this.#outcome !== undefined) {
        // Hundreds of requests may wait for the same long result: each is answered in a turn of the event loop of its own.
        await nextSlice();
        return { outcome: this.#outcome.value };
      }
      const open = [...this.#open].map(([key, { request }]) => [key, request] as const);
      if (open.length > 0) {
        this.isWaiting = true;
        return { open };
      }
      if (until !== undefined && performance.now() >= until) return undefined;
      await this.#change(until);
    }
  }

  async #change(until: number | undefined): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#changed.push(resolve);
      if (until !== undefined) timer = setTimeout(resolve, Math.max(0, until - performance.now()));
    });
    clearTimeout(timer);
  }

  /** Takes responses that the client sent to another process. The same response may arrive twice. */
  respond(responses: Readonly<Record<string, EncodedInputResponse>>): void {
    for (const [key, response] of Object.entries(responses)) {
      this.isWaiting = false;
      if ('value' in response) this.#open.get(key)?.resolve(response.value);
      else this.#open.get(key)?.reject(new InputFailure('unavailable', response.error));
    }
  }

  async #request(ctx: Context, key: string, request: InputRequest): Promise<void> {
    try {
      const value = await ctx.requestInput(key, request);
      // The same response may arrive twice, if the client repeats its request.
      this.#open.get(key)?.resolve(value);
    } catch (error) {
      this.#open.get(key)?.reject(new InputFailure('unavailable', messageOf(error), error));
    }
  }

  /** The client did not retry in time: the open input requests are declined, and the call is cancelled. */
  expire(): void {
    for (const { request, resolve, reject } of [...this.#open.values()]) {
      if (request.kind === 'elicit' || request.kind === 'elicitUrl') resolve({ action: 'cancel' });
      else reject(new InputFailure('declined', 'The client did not respond'));
    }
    this.call.cancel(new DOMException('the client did not send its retry', 'AbortError'));
    this.forget();
  }

  /** Requests that wait for the outcome still get it. */
  forget(): void {
    this.#isForgotten = true;
    clearTimeout(this.#timer);
    this.#events.forgotten();
  }

  #notify(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }

  #restartTimer(): void {
    if (this.#outcome !== undefined || this.#isForgotten) return;
    if (this.#waiting === 0) this.#setTimer(this.#times.expiresMs, () => this.expire());
    else clearTimeout(this.#timer);
  }

  #setTimer(ms: number, run: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(run, ms);
    (this.#timer as { unref?: () => void }).unref?.();
  }
}

function ended(): InputFailure {
  return new InputFailure('failed', 'The request that needed this input has ended');
}
