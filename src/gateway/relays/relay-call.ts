// One call of a client while an upstream works on it: who the caller is, and how input requests, progress and log messages
// of the upstream reach the client.

import {
  InputFailure,
  type InputRetry,
  type LogMessage,
  type Progress,
  type TaskHandle,
  type ToolCallOptions,
} from '../../client/index.ts';
import { withEitherSignal } from '../../common/abort-signals.ts';
import { Cancellation, type CancelSignal } from '../../common/cancellation.ts';
import { cleanText } from '../../common/hygiene.ts';
import { callOf } from '../../engine/calls/call-context.ts';
import type { Context, SessionClient } from '../../engine/context.ts';
import type { TaskTimes } from '../../engine/contract.ts';
import type { InputRequest } from '../../engine/input-requests/input-request.ts';
import { principalKey } from '../../engine/ports.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Capabilities, JsonObject, LogLevel, Meta } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamConnection } from '../upstreams/connection.ts';
import type { Asks, UpstreamCall, UpstreamSession } from '../upstreams/contract.ts';
import { requestCapabilities } from '../upstreams/declared-capabilities.ts';
import { askedSession } from './asked-session.ts';
import { withoutTasks } from './extensions.ts';
import type { CallRun, HeldCall } from './held-call.ts';
import type { HeldCalls } from './held-calls.ts';
import { asksOf, canAsk, canBeAsked, describeInputRequest, withServerName } from './input-request.ts';
import { forwardedHeaders, forwardedMeta } from './meta.ts';
import { charsOf, NotificationLimit } from './notification-limit.ts';
import { askInTask, isHandedOver, recordTask } from './task-recovery.ts';

/** Where a call goes. */
export interface RelayCallTarget {
  readonly upstream: { readonly config: UpstreamConfig };
  readonly held: HeldCalls;
  /** Input requests start with the name of the server, so that no server can pose as another. */
  readonly namesServer: boolean;
  /** The client is connected to this server only, and knows its extensions. */
  readonly passesExtensions: boolean;
}

const none: readonly InputRequest[] = [];
/** Input requests that a result names; stops an upstream that repeats them from making it longer and longer. */
const maxUnavailable = 10;
const repeatable: RelayOptions = { isRepeatable: true };

/** How a request is sent. */
export interface RelayOptions {
  /** Running it twice does no harm, so it is sent again if the upstream ends meanwhile. */
  readonly isRepeatable: boolean;
  /** Whether the upstream may run it as a task. */
  readonly task?: ToolCallOptions['task'];
}

/**
 * A call. It is also the options of its request to the upstream, which identify it: the client of the upstream shows them
 * with each message that belongs to the call. What few requests need is computed when it is read.
 */
export class RelayCall implements UpstreamCall, ToolCallOptions {
  readonly #config: UpstreamConfig;
  readonly #held: HeldCalls;
  readonly #namesServer: boolean;
  readonly passesExtensions: boolean;
  /** The run of the handler that began it. */
  readonly ctx: Context;
  /** The request of the client that waits now; another one after a retry, maybe in another process. */
  #run: CallRun;
  /** All that wait, in order. */
  #runs: Set<CallRun> | undefined;
  /** Set while the call continues without a run of the handler, until the client retries. */
  hold: HeldCall | undefined;
  /** Whether an input request of the upstream can end the run that waits for it. */
  readonly mayBeHeld: boolean;
  /** Created where the end of a run must not cancel the call. */
  readonly #cancellation: Cancellation | undefined;
  /** What the client could not be asked for. */
  unavailable: readonly InputRequest[] = none;
  /** The run that waits for the upstream ends with input requests. */
  onHeld: ((held: HeldCall) => void) | undefined;
  /** The text of the last result. */
  resultText: string | undefined;
  resultLength = 0;
  /** The connection that its request was sent over. */
  connection: UpstreamConnection | undefined;
  slot = 0;
  order = 0;
  sentAtMs = 0;
  hasAsked = false;
  #isTask = false;
  #taskId: string | undefined;
  /** Resolves when the call is a task of the gateway, if it can be one. */
  #detached: Promise<void> | undefined;
  #limit: NotificationLimit | undefined;
  /** Log messages that were not passed on. */
  #leftOut = 0;
  #asks: Asks | undefined;
  #asked = 0;
  /** Aborted when the upstream has ended it: input requests that it did not wait for are cancelled. */
  #ended: AbortController | undefined;
  /** Keys of input requests that wait for their response. */
  #open: Set<string> | undefined;

  // The options of its request.
  readonly inputRequired = 'throw';
  /** Sent again only after the tools of the next session were compared with those that were accepted. */
  readonly sessionLost = 'throw';
  readonly signal: CancelSignal;
  readonly idempotent: boolean;
  readonly task: ToolCallOptions['task'];
  readonly inputRetry: InputRetry | undefined;

  constructor(
    ctx: Context,
    { upstream, held, namesServer, passesExtensions }: RelayCallTarget,
    { isRepeatable, task }: RelayOptions = repeatable,
    inputRetry?: InputRetry,
  ) {
    this.ctx = ctx;
    this.#run = ctx;
    this.#config = upstream.config;
    this.#held = held;
    this.#namesServer = namesServer;
    this.passesExtensions = passesExtensions;
    this.idempotent = isRepeatable;
    this.task = task;
    this.inputRetry = inputRetry;
    this.mayBeHeld = ctx.inputEndsRun && canBeAsked(this.asks);
    if (this.mayBeHeld || ctx.mayDetach) {
      // The signal of a run is aborted when the run ends with input requests, or continues in another process, but the upstream
      // continues.
      this.#cancellation = new Cancellation();
      this.signal = this.#cancellation;
      this.#follow(ctx, callOf(ctx).cancellation);
    } else this.signal = callOf(ctx).cancellation;
  }

  get capabilities(): Capabilities {
    const capabilities = requestCapabilities(this.asks, this.#config.asks);
    const { extensions } = this.passesExtensions ? this.ctx.clientCapabilities : {};
    return isObject(extensions) ? { ...capabilities, extensions: withoutTasks(extensions) } : capabilities;
  }

  get logLevel(): LogLevel | 'none' {
    return this.ctx.logLevel ?? 'none';
  }

  get meta(): Meta | undefined {
    return forwardedMeta(this.ctx, this.#config.identify);
  }

  /** What the client requested for its task, before which the task of the upstream must not end. */
  get taskTtlMs(): number | undefined {
    const { task } = callOf(this.ctx).params;
    const ttl = isObject(task) ? task['ttl'] : undefined;
    return typeof ttl === 'number' ? ttl : undefined;
  }

  get headers(): Readonly<Record<string, string>> | undefined {
    return forwardedHeaders(this.ctx, this.#config.forwardHeaders);
  }

  /** Progress extends the time limit of the request, so that the upstream is asked for it whether or not the caller asks. */
  onProgress({ progress, total, message }: Progress): void {
    if (this.#admits(message)) void this.#run.progress(progress, total, message);
  }

  onResponse({ length }: string, result?: string): void {
    this.resultLength = length;
    // The response that creates a task does not contain its result.
    if (!this.#isTask) this.resultText = result;
  }

  /** The upstream works on the call as a task. */
  onTask(task: TaskHandle): void {
    const { id } = task;
    this.#isTask = true;
    this.resultText = undefined;
    if (id === undefined) return;
    this.followTask(id);
    if (!this.ctx.mayDetach) return;
    task.onChange((changed) => this.showStatus(changed));
    // The client gets a task too. The process that runs it later finds the upstream's task in the recorded step.
    this.#detached = recordTask(this.ctx, id)
      .then(() => callOf(this.ctx).task?.detach(timesOf(task)))
      .then(() => this.showStatus(task))
      .catch(() => {
        // The call has ended meanwhile, so there is nothing to detach.
      });
  }

  /** The upstream works on it as a task, so it has begun to run. */
  get isTask(): boolean {
    return this.#isTask;
  }

  /** The client's task has the status message of the upstream's. */
  showStatus({ info }: TaskHandle): void {
    const message = info?.statusMessage;
    if (message !== undefined) callOf(this.ctx).task?.setMessage?.(cleanText(message));
  }

  /** Messages that name this task of the upstream belong to the call. */
  followTask(id: string): void {
    this.#taskId = id;
    this.connection?.beginTask(id, this);
  }

  /** The end of a run cancels the call, unless the run ended because the client is asked for input. */
  attach(run: CallRun): void {
    this.#follow(run, run.signal);
  }

  #follow(run: CallRun, signal: CancelSignal): void {
    this.#run = run;
    const runs = (this.#runs ??= new Set());
    runs.add(run);
    signal.addEventListener('abort', () => {
      runs.delete(run);
      // The client may have sent its retry twice.
      for (const left of runs) this.#run = left;
      if (runs.size > 0 || this.hold?.isWaiting === true || isHandedOver(signal.reason)) return;
      this.cancel(signal.reason);
    });
  }

  cancel(reason: unknown): void {
    this.#cancellation?.abort(reason);
  }

  get caller(): unknown {
    const { session, principal, peer } = this.ctx;
    if (session !== undefined) return session;
    return principal === undefined ? peer : principalKey(principal);
  }

  get isAnonymous(): boolean {
    return this.ctx.session === undefined && this.ctx.principal === undefined;
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

  /** The upstream does not work on it any more. */
  end(connection: UpstreamConnection): void {
    if (this.#taskId !== undefined) connection.endTask(this.#taskId);
    this.#taskId = undefined;
    connection.end(this);
    this.#ended?.abort();
    this.#ended = undefined;
    if (this.#leftOut > 0) this.#reportLeftOut();
  }

  log({ level, data, logger }: LogMessage): void {
    if (this.#admits(data)) this.#run.log(level, data, logger);
    else this.#leftOut++;
  }

  notify(method: string, params: JsonObject): void {
    if (this.#admits(params)) this.ctx.notify(method, params);
  }

  #admits(data: unknown): boolean {
    this.#limit ??= new NotificationLimit();
    return this.#limit.admit(charsOf(data));
  }

  #reportLeftOut(): void {
    const text = `${this.#leftOut} log messages of the server ${this.#config.slug} were left out: there were too many`;
    this.#leftOut = 0;
    this.#run.log('warning', text);
  }

  elicitationCompleted(id: string): void {
    this.ctx.elicitationCompleted(id);
  }

  get sessionClient(): SessionClient | undefined {
    return this.ctx.sessionClient;
  }

  asSession(client: SessionClient): UpstreamSession {
    return askedSession(client, this.#namesServer ? this.#config.slug : undefined, this.passesExtensions);
  }

  notAsked(request: InputRequest): void {
    if (this.unavailable.length < maxUnavailable) this.unavailable = [...this.unavailable, request];
  }

  #newHold(request: InputRequest): HeldCall {
    try {
      return this.#held.add(this);
    } catch (error) {
      this.notAsked(request);
      throw error;
    }
  }

  async ask(request: InputRequest, signal: AbortSignal): Promise<unknown> {
    if (!canAsk(this.asks, request)) {
      this.notAsked(request);
      throw new InputFailure('unavailable', `The client cannot be asked for ${describeInputRequest(request)}`);
    }
    this.hasAsked = true;
    await this.#detached;
    const named = this.#namesServer ? withServerName(request, this.#config.slug) : request;
    if (this.ctx.inputEndsRun) {
      const isFirst = this.hold === undefined;
      this.hold ??= this.#newHold(request);
      const response = this.hold.ask(named, signal);
      if (isFirst) this.onHeld?.(this.hold);
      return response;
    }
    try {
      if (this.ctx.task !== undefined) return await askInTask(this.ctx, named, (this.#open ??= new Set()), signal);
      const key = `input-${++this.#asked}`;
      const ended = (this.#ended ??= new AbortController());
      return await withEitherSignal(signal, ended.signal, (either) =>
        this.ctx.requestInput(key, named, { signal: either }),
      );
    } catch (error) {
      throw new InputFailure('failed', error instanceof Error ? error.message : String(error), error);
    }
  }
}

/** What the upstream says about the time of a task; the client's task has the same. */
function timesOf({ info }: TaskHandle): TaskTimes {
  const ttlMs = info?.ttlMs ?? undefined;
  const pollMs = info?.pollIntervalMs;
  // Values of another server: neither is stored if it would make a client poll without pause.
  return { ttlMs, pollMs: pollMs !== undefined && pollMs >= 1 ? pollMs : undefined };
}
