// Held calls of several processes. A client's retry may reach a process other than the one that holds its call: its
// responses are passed on to the holder, and what the upstream asks for, reports and answers comes back.

import { monotonicMs } from '../../common/clock.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import type { Bus } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Json } from '../../protocol/model.ts';
import { messageOf } from '../upstreams/start-error.ts';
import type { CallRun, HeldCall, HeldCallRef } from './held-call.ts';
import {
  decodeRequest,
  type EncodedInputResponse,
  encodeRequest,
  type HeldCallMessage,
  type HeldCallNotice,
  type WaitMessage,
  type WaitResponse,
} from './held-call-messages.ts';

/** How often the holder reports that it still works on a call. */
const workingMs = 20_000;
/** A running holder responds well within this time. */
const timeoutMs = 60_000;
/** Messages can be lost while the holder runs; waiting again does no harm. */
const maxFailures = 3;
/** After this long without a connection to the other processes, the client is asked to try again. Redis restarts in less. */
const maxDisconnectedMs = 10_000;
/** How often that is checked. */
const checkMs = 500;

/** How outcomes are sent to other processes. */
export interface OutcomeCodec {
  /** Never rejects: a failure is an outcome. */
  encode(outcome: Promise<unknown>): Promise<Json>;
  /** Throws the failure, if it is one. */
  decode(outcome: Json): unknown;
}

export interface SharedHeldCallsOptions {
  readonly bus: Bus;
  /** The same in all processes that serve the same endpoint. */
  readonly name: string;
  readonly outcomes: OutcomeCodec;
  /** The calls of this process. */
  readonly find: (id: string) => HeldCall | undefined;
}

export class SharedHeldCalls {
  readonly #options: SharedHeldCallsOptions;
  readonly #topic: string;
  readonly #stop: () => void;
  /** Requests of clients that wait here for calls of other processes. */
  readonly #waiting = new Map<string, Context>();

  constructor(options: SharedHeldCallsOptions) {
    this.#options = options;
    this.#topic = `held-calls ${options.name}`;
    this.#stop = options.bus.listen(this.#topic, (data, from) =>
      this.#receive(data as unknown as HeldCallMessage, from),
    );
  }

  close(): void {
    this.#stop();
  }

  /**
   * Waits for the outcome of a call that another process holds, on behalf of a request of the client. Resolves to `lost` if
   * that process does not have it, or has ended. Throws if it cannot be reached: it still holds the call, and the client may
   * try again.
   */
  async wait({ holder, id }: HeldCallRef, principalKey: string, ctx: Context): Promise<{ outcome: unknown } | 'lost'> {
    const run = crypto.randomUUID();
    let isAsking = false;
    const cancelled = (): void => {
      if (!isAsking) this.#send(holder, { type: 'cancel', id, run });
    };
    ctx.signal.addEventListener('abort', cancelled, { once: true });
    try {
      let responses: Readonly<Record<string, EncodedInputResponse>> = {};
      for (;;) {
        this.#waiting.set(run, ctx);
        const response = await this.#request(holder, { type: 'wait', id, principalKey, run, responses });
        // If there are input requests, the client's request ends here, and nothing after this line runs.
        this.#waiting.delete(run);
        if (response.type === 'lost') return 'lost';
        if (response.type === 'done') return { outcome: this.#options.outcomes.decode(response.outcome) };
        responses = {};
        if (response.type === 'working') continue;
        isAsking = true;
        const asked = response.requests.map(async ([key, request]) => {
          return [key, await respond(ctx, key, decodeRequest(request))] as const;
        });
        responses = Object.fromEntries(await Promise.all(asked));
        isAsking = false;
      }
    } finally {
      this.#waiting.delete(run);
      ctx.signal.removeEventListener('abort', cancelled);
    }
  }

  async #request(holder: string, message: WaitMessage): Promise<WaitResponse> {
    const { bus } = this.#options;
    for (let failures = 0; failures < maxFailures && bus.processes.has(holder); failures++) {
      const requested = bus.request(holder, this.#topic, message as unknown as Json, timeoutMs);
      const response = await this.#whileConnected(
        // The holder has ended, which the next check detects, or a message was lost.
        requested.then(
          (value) => ({ value }),
          () => 'failed' as const,
        ),
      );
      if (response === 'disconnected') throw wireErrors.storeUnavailable();
      if (response !== 'failed') return (response.value ?? { type: 'lost' }) as unknown as WaitResponse;
    }
    return { type: 'lost' };
  }

  async #whileConnected<T>(response: Promise<T>): Promise<T | 'disconnected'> {
    const { bus } = this.#options;
    let timer: ReturnType<typeof setInterval> | undefined;
    const disconnected = new Promise<'disconnected'>((resolve) => {
      timer = setInterval(() => {
        if (monotonicMs() - bus.freshAtMs > maxDisconnectedMs) resolve('disconnected');
      }, checkMs);
    });
    try {
      return await Promise.race([response, disconnected]);
    } finally {
      clearInterval(timer);
    }
  }

  #send(process: string, notice: HeldCallNotice): void {
    this.#options.bus.send(process, this.#topic, notice as unknown as Json);
  }

  #receive(message: HeldCallMessage, from: string): Promise<Json> | undefined {
    switch (message.type) {
      case 'wait':
        return this.#serve(message, from) as Promise<unknown> as Promise<Json>;
      case 'cancel':
        this.#options.find(message.id)?.runs.get(message.run)?.abort();
        return undefined;
      case 'progress':
        void this.#waiting.get(message.run)?.progress(message.progress, message.total, message.message);
        return undefined;
      case 'log':
        this.#waiting.get(message.run)?.log(message.level, message.data, message.logger);
        return undefined;
    }
  }

  async #serve({ id, principalKey, run, responses }: WaitMessage, from: string): Promise<WaitResponse> {
    const held = this.#options.find(id);
    if (held === undefined || held.call.principalKey !== principalKey) return { type: 'lost' };
    if (!held.runs.has(run)) {
      const stop = new AbortController();
      held.runs.set(run, stop);
      held.call.attach(this.#remoteRun(from, run, stop.signal));
    }
    held.respond(responses);
    const next = await held.next(workingMs);
    if (next === undefined) return { type: 'working' };
    if ('outcome' in next) return { type: 'done', outcome: await this.#options.outcomes.encode(next.outcome) };
    // As in this process, the run ends with the input requests; it begins again if the client has sent the responses.
    held.runs.get(run)?.abort();
    held.runs.delete(run);
    return { type: 'input', requests: next.open.map(([key, request]) => [key, encodeRequest(request)]) };
  }

  /** A request of a client that waits in another process. */
  #remoteRun(process: string, run: string, signal: AbortSignal): CallRun {
    return {
      signal,
      progress: async (progress, total, message) =>
        this.#send(process, { type: 'progress', run, progress, total, message }),
      log: (level, data, logger) => this.#send(process, { type: 'log', run, level, data: data as Json, logger }),
    };
  }
}

async function respond(ctx: Context, key: string, request: InputRequest): Promise<EncodedInputResponse> {
  try {
    return { value: (await ctx.requestInput(key, request)) as unknown as Json };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
