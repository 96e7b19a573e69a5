// One call of a client while an upstream works on it: who the caller is, and how input requests, progress and log messages
// of the upstream reach the client.

import { InputFailure, type LogMessage, type TaskHandle, type ToolCallOptions } from '../../client/index.ts';
import type { Context } from '../../engine/context.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { principalKey } from '../../engine/ports.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamConnection } from '../upstreams/connection.ts';
import type { Asks, UpstreamCall } from '../upstreams/contract.ts';
import { requestCapabilities } from '../upstreams/declared-capabilities.ts';
import type { HeldCall, HeldCalls } from './held-calls.ts';
import { asksOf, canAsk, describeInputRequest, withServerName } from './input-request.ts';
import { forwardedHeaders, forwardedMeta } from './meta.ts';

/** Where a call goes. */
export interface CallTarget {
  readonly upstream: { readonly config: UpstreamConfig };
  readonly held: HeldCalls;
  /** What users are asked starts with the name of the server, so that no server can pose as another. */
  readonly namesServer: boolean;
}

export class RelayCall implements UpstreamCall {
  readonly #config: UpstreamConfig;
  readonly #held: HeldCalls;
  readonly #namesServer: boolean;
  /** The run of the handler that waits now; another one after a retry. */
  ctx: Context;
  /** Set once the call goes on without a run of the handler: until the client repeats it. */
  hold: HeldCall | undefined;
  readonly #controller: AbortController | undefined;
  /** What the client could not be asked for. */
  readonly unavailable: InputRequest[] = [];
  /** The run that waits for the upstream ends with input requests. */
  onHeld: ((held: HeldCall) => void) | undefined;
  /** The text of the last result. */
  resultText: string | undefined;
  /** The connection that its request was sent over. */
  connection: UpstreamConnection | undefined;
  #task: string | undefined;
  /** Resolves when the call is a task of the gateway, if it can be one. */
  #detached: Promise<void> | undefined;
  #asks: Asks | undefined;
  #asked = 0;

  constructor(ctx: Context, { upstream, held, namesServer }: CallTarget) {
    this.ctx = ctx;
    this.#config = upstream.config;
    this.#held = held;
    this.#namesServer = namesServer;
    if (!this.mayBeHeld) return;
    // The signal of a run is aborted when the run ends with input requests, but the upstream goes on.
    this.#controller = new AbortController();
    this.attach(ctx);
  }

  /** The end of a run cancels the call, unless the run ended because the client is asked for input. */
  attach(ctx: Context): void {
    this.ctx = ctx;
    ctx.signal.addEventListener('abort', () => {
      if (this.ctx === ctx && this.hold?.isWaiting !== true) this.cancel(ctx.signal.reason);
    });
  }

  cancel(reason: unknown): void {
    this.#controller?.abort(reason);
  }

  /** Whether a question of the upstream can end the run that waits for it. */
  get mayBeHeld(): boolean {
    return this.ctx.inputEndsRun && Object.values(this.asks).includes(true);
  }

  get caller(): unknown {
    const { session, principal, peer } = this.ctx;
    if (session !== undefined) return session;
    return principal === undefined ? peer : principalKey(principal);
  }

  get principalKey(): string {
    return principalKey(this.ctx.principal);
  }

  get sessionKey(): string {
    return this.ctx.session?.key ?? this.principalKey;
  }

  get asks(): Asks {
    return (this.#asks ??= asksOf(this.ctx));
  }

  /** The options of a request to the upstream on behalf of this call. They identify it. */
  options({ isRepeatable, task }: Pick<ToolCallOptions, 'task'> & { readonly isRepeatable: boolean }): ToolCallOptions {
    const { ctx } = this;
    const progressToken = ctx.meta['progressToken'];
    const isAsking = typeof progressToken === 'string' || typeof progressToken === 'number';
    return {
      signal: this.#controller?.signal ?? ctx.signal,
      inputRequired: 'throw',
      capabilities: requestCapabilities(this.asks, this.#config.asks),
      logLevel: ctx.logLevel ?? 'none',
      meta: forwardedMeta(ctx, this.#config.identify),
      headers: forwardedHeaders(ctx, this.#config.forwardHeaders),
      onResponse: (text, result) => this.#keepText(text, result),
      onTask: this.#becameTask,
      idempotent: isRepeatable,
      task,
      ...(isAsking || ctx.task !== undefined
        ? { onProgress: ({ progress, total, message }) => void this.ctx.progress(progress, total, message) }
        : {}),
    };
  }

  #keepText = (_text: string, result?: string): void => {
    this.resultText = result;
  };

  /** The upstream works on the call as a task: its result is not in the response. */
  #becameTask = ({ id }: TaskHandle): void => {
    this.#keepText = () => {};
    this.resultText = undefined;
    if (id === undefined) return;
    this.#task = id;
    this.connection?.beginTask(id, this);
    // The client gets a task, too, if it supports tasks.
    this.#detached = this.ctx.detach().catch(() => {
      // The call has ended meanwhile, so that there is nothing to detach.
    });
  };

  endTask(): void {
    if (this.#task !== undefined) this.connection?.endTask(this.#task);
    this.#task = undefined;
  }

  log({ level, data, logger }: LogMessage): void {
    this.ctx.log(level, data, logger);
  }

  async ask(request: InputRequest, signal: AbortSignal): Promise<unknown> {
    if (!canAsk(this.asks, request)) {
      this.unavailable.push(request);
      throw new InputFailure('unavailable', `The client cannot be asked for ${describeInputRequest(request)}`);
    }
    await this.#detached;
    const named = this.#namesServer ? withServerName(request, this.#config.slug) : request;
    if (this.ctx.inputEndsRun) {
      const isFirst = this.hold === undefined;
      this.hold ??= this.#held.add(this);
      const response = this.hold.ask(named, signal);
      if (isFirst) this.onHeld?.(this.hold);
      return response;
    }
    try {
      return await this.ctx.requestInput(`input-${++this.#asked}`, named);
    } catch (error) {
      throw new InputFailure('failed', error instanceof Error ? error.message : String(error), error);
    }
  }
}
