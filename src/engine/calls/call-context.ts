// The Context of a handler, backed by its Call. Once the call is settled, methods do nothing.

import type { Ability } from '../../protocol/abilities.ts';
import type { Peer, Principal } from '../../protocol/exchange.ts';
import { notificationText } from '../../protocol/json-rpc.ts';
import { progressTokenOf } from '../../protocol/meta.ts';
import {
  type Capabilities,
  type ElicitResult,
  type Implementation,
  type Json,
  type JsonObject,
  type LogLevel,
  logLevels,
  type Meta,
  type ResourceLink,
  type Root,
  type SamplingParams,
  type SamplingResult,
  type TraceContext,
} from '../../protocol/model.ts';
import { isTraceValue } from '../../protocol/trace-context.ts';
import type { InferOutput, SchemaInput } from '../../schema/index.ts';
import { supports } from '../channels/client-support.ts';
import type { AttachmentOptions, Context, InputRequestOptions, SessionClient, SessionView } from '../context.ts';
import type { Call, KeyedInputRequest } from '../contract.ts';
import {
  elicit,
  elicitUrl,
  type InputRequest,
  type InputRequests,
  type InputResponses,
  roots,
  sample,
  type TypedElicitResult,
} from '../input-requests/input-request.ts';
import { InputRequestError } from '../input-requests/input-request-error.ts';
import { inputRequesterOf } from '../input-requests/load.ts';
import { ExternalWork } from '../tasks/runs/external-work.ts';
import {
  requireAbility,
  requireInputOptions,
  requireLogLevel,
  requireProgress,
  requireStep,
} from './context-arguments.ts';

const done: Promise<void> = Promise.resolve();

/** The call behind the context of a handler; for tools of the engine itself. */
export function callOf(ctx: Context): Call {
  return CallContext.callOf(ctx as CallContext);
}

export class CallContext implements Context {
  static callOf(ctx: CallContext): Call {
    return ctx.#call;
  }

  readonly #call: Call;
  #lastProgress = Number.NEGATIVE_INFINITY;

  constructor(call: Call) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get principal(): Principal | undefined {
    return this.#call.peer.principal;
  }
  get clientInfo(): Implementation | undefined {
    return this.#call.clientInfo;
  }
  get clientCapabilities(): Capabilities {
    return this.#call.capabilities;
  }
  get revision(): string {
    return this.#call.codec.date;
  }
  get session(): SessionView | undefined {
    return this.#call.session;
  }
  get sessionClient(): SessionClient | undefined {
    return this.#call.peer.inputInCallsOnly === true ? undefined : this.#call.channel.sessionClient;
  }
  elicitationCompleted(id: string): boolean {
    const { codec, settled, channel } = this.#call;
    if (!codec.dialect.elicitationId) return false;
    const text = notificationText('notifications/elicitation/complete', { elicitationId: id });
    return (!settled && this.#call.push(text)) || channel.sessionClient?.elicitationCompleted(id) === true;
  }
  notify(method: string, params: JsonObject): boolean {
    const { settled, channel } = this.#call;
    if (!settled && this.#call.push(notificationText(method, params))) return true;
    return channel.sessionClient?.notify(method, params) === true;
  }
  get requestId(): string | number {
    return this.#call.id;
  }
  get meta(): Meta {
    return this.#call.meta;
  }
  get isRetry(): boolean {
    const { codec, params } = this.#call;
    if (codec.inputRequests !== 'retry') return false;
    return params['requestState'] !== undefined || params['inputResponses'] !== undefined;
  }
  get inputEndsRun(): boolean {
    return this.#call.codec.inputRequests === 'retry' && this.#call.task?.id === undefined;
  }
  header(name: string): string | undefined {
    return this.#call.header?.(name);
  }
  get peer(): Peer {
    return this.#call.peer;
  }
  get logLevel(): LogLevel | undefined {
    return this.#call.logLevel;
  }

  get trace(): TraceContext {
    const { traceparent, tracestate, baggage } = this.#call.meta;
    return {
      ...(isTraceValue(traceparent) ? { traceparent } : {}),
      ...(isTraceValue(tracestate) ? { tracestate } : {}),
      ...(isTraceValue(baggage) ? { baggage } : {}),
    };
  }

  progress(progress: number, total?: number, message?: string): Promise<void> {
    requireProgress(progress, total, message);
    const call = this.#call;
    if (call.task !== undefined) {
      call.task.progress(progress, total, message);
      return done;
    }
    const token = progressTokenOf(call.meta);
    if (token !== undefined && Number.isFinite(progress) && progress > this.#lastProgress) {
      this.#lastProgress = progress;
      const end = Number.isFinite(total) ? total : undefined;
      call.push(call.codec.progress(token, progress, end, message));
    }
    return done;
  }

  log(level: LogLevel, data: unknown, logger?: string): void {
    requireLogLevel(level);
    const call = this.#call;
    const threshold = call.logLevel;
    const wanted =
      threshold !== undefined &&
      call.server.offers('logging') &&
      logLevels.indexOf(level) >= logLevels.indexOf(threshold);
    // JSON leaves out members that are functions or symbols, and a log message needs data.
    const shown = typeof data === 'function' || typeof data === 'symbol' ? String(data) : (data ?? null);
    if (call.task?.id !== undefined) call.task.log(level, logger, shown);
    else if (wanted) call.push(call.codec.log(level, logger, shown));
  }

  get task(): Context['task'] {
    const { task } = this.#call;
    return task?.id === undefined ? undefined : { id: task.id, attempt: task.attempt };
  }

  get mayDetach(): boolean {
    const { task } = this.#call;
    return task !== undefined && task.isInline !== true;
  }

  detach(): Promise<void> {
    return this.#call.task?.detach() ?? done;
  }

  external(ticket: Json): ExternalWork {
    return new ExternalWork(ticket);
  }

  can(ability: Ability | 'ui'): boolean {
    requireAbility(ability);
    const call = this.#call;
    if (ability === 'elicitation.form' && call.task?.modelAnswers === true) return true;
    if (!supports(call, ability)) return false;
    return (
      ability === 'ui' || call.codec.inputRequests === 'retry' || call.outlet.duplex || call.task?.id !== undefined
    );
  }

  elicit<const S extends SchemaInput>(
    message: string,
    schema: S,
    options?: InputRequestOptions,
  ): Promise<TypedElicitResult<InferOutput<S>>> {
    return this.#send(options, elicit(message, schema)) as Promise<TypedElicitResult<InferOutput<S>>>;
  }

  elicitUrl(message: string, url: string, options?: InputRequestOptions): Promise<ElicitResult> {
    return this.#send(options, elicitUrl(message, url)) as Promise<ElicitResult>;
  }

  sample(params: SamplingParams, options?: InputRequestOptions): Promise<SamplingResult> {
    return this.#send(options, sample(params)) as Promise<SamplingResult>;
  }

  roots(options?: InputRequestOptions): Promise<readonly Root[]> {
    return this.#send(options, roots()) as Promise<readonly Root[]>;
  }

  requestInput<A extends InputRequest>(
    key: string,
    request: A,
    options?: Omit<InputRequestOptions, 'key'>,
  ): Promise<InputResponses<{ key: A }>['key']> {
    return this.#send({ ...options, key }, request) as Promise<InputResponses<{ key: A }>['key']>;
  }

  requestInputs<A extends InputRequests>(requests: A): Promise<InputResponses<A>> {
    const entries = Object.entries(requests);
    const toResponses = (responses: readonly unknown[]): InputResponses<A> =>
      Object.fromEntries(entries.map(([key], i) => [key, responses[i]])) as InputResponses<A>;
    return this.#awaited(this.#sendAll(entries).then(toResponses));
  }

  async inputResponses<A extends InputRequests>(requests: A): Promise<InputResponses<A> | undefined> {
    const entries = Object.entries(requests);
    const responses = await (await inputRequesterOf(this.#call)).inputResponses(entries);
    if (responses === undefined) return undefined;
    return Object.fromEntries(entries.map(([key], i) => [key, responses[i]])) as InputResponses<A>;
  }

  async step<T>(key: string, run: () => T | Promise<T>, options: { readonly once?: boolean } = {}): Promise<T> {
    requireStep(key, run, options);
    return (await (await inputRequesterOf(this.#call)).step(key, run, options.once ?? false)) as T;
  }

  stepResult(key: string): unknown {
    return this.#call.inputRequester?.recorded().steps.get(key);
  }

  async attach(content: string | Uint8Array, options: AttachmentOptions): Promise<ResourceLink> {
    const { attach } = await import('../attachments/attachments.ts');
    return attach(this.#call, content, options ?? {});
  }

  closeStream(retryMs = 1_000): boolean {
    const { settled, session, outlet } = this.#call;
    return !settled && session?.polling === true && (outlet.closeEarly?.(retryMs) ?? false);
  }

  #send(options: InputRequestOptions | undefined, request: InputRequest): Promise<unknown> {
    requireInputOptions(request.kind, options);
    return this.#awaited(
      this.#sendAll([[options?.key, request]], options?.signal).then((responses) => responses[0]),
      options?.signal,
    );
  }

  async #sendAll(requests: readonly KeyedInputRequest[], signal?: AbortSignal): Promise<unknown[]> {
    const call = this.#call;
    const requester = await inputRequesterOf(
      call,
      requests.map(([, request]) => request),
    );
    if (this.#hasReturned()) throw new InputRequestError('no-return-path', 'The handler has returned');
    return requester.send(requests, signal);
  }

  /**
   * Without `await`, a handler returns before its input request has a response. The request then rejects and nothing handles
   * that, which would end the process: a mistake in one tool must not do that, but its author must learn of it.
   */
  #awaited<T>(sent: Promise<T>, signal?: AbortSignal): Promise<T> {
    sent.catch(() => {
      if (!this.#hasReturned() || signal?.aborted === true) return;
      const { method, name, server } = this.#call;
      server.logger?.warn(
        `${method} ${name}: the handler returned before its input request had a response; ` +
          'write "await" before ctx.elicit, or whatever sent it',
      );
    });
    return sent;
  }

  /** Whether the call ended with what its handler returned. A task continues after its call. */
  #hasReturned(): boolean {
    const { settled, signal, task } = this.#call;
    return settled && task?.id === undefined && !signal.aborted;
  }
}
