// One logical call: from the caller's promise through retries and input requests to its end. Knows what to send and
// how to decode the result; connection.ts sends it, call-runner.ts decides what follows a failure.

import { isObject } from '../../protocol/json-rpc.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import type { JsonObject, LogLevel } from '../../protocol/model.ts';
import type { ClientCodec, DecodedResult, RequestMeta } from '../../protocol/revisions/client-revisions.ts';
import type { HeaderParam } from '../../protocol/revisions/index.ts';
import { ClientError, clientErrors } from '../errors.ts';
import { assertTimeLimits, type CallOptions, type InputRetry, type Progress } from '../options.ts';
import type { RequestTrace, TracedEnd } from '../telemetry.ts';

/** Decides what becomes of a call that did not simply end. */
export interface CallOwner {
  inputRequired(call: OutgoingCall, reading: Extract<DecodedResult, { kind: 'input-required' }>): void;
  failed(call: OutgoingCall, error: ClientError): void;
}

/** What a call uses of the connection that carries it. */
export interface CallConnection {
  /** Undefined until a revision is negotiated. */
  readonly codec: ClientCodec | undefined;
  /** Stops waiting for the response to the call's request and tells the server. */
  cancel(call: OutgoingCall, reason: string): void;
  /** Removes the call's time limit. */
  exempt(call: OutgoingCall): void;
  /** Reports progress to the call although its request is answered; the returned function ends that. */
  keepProgress(call: OutgoingCall): () => void;
}

/** What a call addresses, for revisions that repeat it in headers, and for telemetry. */
export interface CallTarget {
  readonly name: string;
  readonly headerParams?: readonly HeaderParam[];
  readonly args?: JsonObject;
}

const once = { once: true } as const;

/** A call in progress. Plain fields: one of these is created for every request. */
export class OutgoingCall {
  readonly method: string;
  fields: string;
  readonly options: CallOptions;
  addressed: CallTarget | undefined;
  /** May be sent again when it is not known whether it arrived. */
  idempotent = false;
  /** The response is a stream that stays open: there is no time limit once it has begun. */
  longLived = false;
  /** Params of this retry only: the responses to input requests of the result before. */
  retryFields = '';
  /** The request carries `task`, on revisions where the client requests tasks. */
  requestsTask = false;
  /** The request does not declare that the response may be a task, on revisions where the server decides. */
  withoutTasks = false;
  /** Takes over when the server creates a task; its value is the value of the call. Undefined: a task is not valid. */
  onTask: ((call: OutgoingCall, created: JsonObject) => unknown) | undefined;
  /** Long-lived: the server has acknowledged what it will send. */
  onAcknowledged: ((params: JsonObject) => void) | undefined;

  /** Id of the request in flight; 0 between two of them. */
  id = 0;
  timeoutMs = 0;
  maxTimeoutMs = 0;
  deadline = 0;
  hardDeadline = 0;
  /** What is left of `maxTimeoutMs` when the request is sent again. */
  leftMs: number | undefined;
  lastProgress: number | undefined;
  /** The token under which progress of the last request is reported; 0 without one. */
  progressToken = 0;
  attempts = 0;
  rounds = 0;
  /** How often a new session was opened for it. */
  reinitializations = 0;
  /** The connection over which it was last sent. */
  connection: CallConnection | undefined;
  /** Fixes a mismatch between headers and body that the server reported; tried once. */
  onHeaderMismatch: ((call: OutgoingCall) => Promise<void>) | undefined;
  /** The request in flight under observation. */
  trace: RequestTrace | undefined;
  ended = false;

  readonly #decode: (result: JsonObject) => unknown;
  #owner: CallOwner | undefined;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #onAbort: (() => void) | undefined;

  constructor(
    method: MethodRow | { readonly name: string },
    fields: string,
    decode: (result: JsonObject) => unknown,
    // Of its own: it distinguishes calls.
    options: CallOptions = {},
  ) {
    this.method = method.name;
    this.fields = fields;
    this.options = options;
    if (options.inputRetry !== undefined) this.retryFields = encodeRetry(options.inputRetry);
    this.#decode = decode;
  }

  /** The params of the next request, as members of a JSON object. */
  get allFields(): string {
    const { fields, retryFields } = this;
    return fields === '' || retryFields === '' ? fields + retryFields : `${fields},${retryFields}`;
  }

  /** The promise of the result. `onAbort` runs at once when the caller cancels. */
  begin<T>(owner: CallOwner | undefined, onAbort: (call: OutgoingCall) => void): Promise<T> {
    this.#owner = owner;
    const { signal } = this.options;
    return new Promise<T>((resolve, reject) => {
      this.#resolve = resolve as (value: unknown) => void;
      this.#reject = reject;
      try {
        assertTimeLimits(this.options);
      } catch (error) {
        return this.reject(error);
      }
      if (signal === undefined) return;
      this.#onAbort = () => {
        if (this.ended) return;
        onAbort(this);
        this.reject(clientErrors.cancelled(this.method, signal.reason));
      };
      if (signal.aborted) this.#onAbort();
      else signal.addEventListener('abort', this.#onAbort, once);
    });
  }

  /** Asks for a task, on revisions where the client does. */
  requestTask(ttl?: number): void {
    this.requestsTask = true;
    this.fields += `,"task":${JSON.stringify(ttl === undefined ? {} : { ttl })}`;
  }

  /** Between two requests no time limit runs; the next one has the time that is left. */
  stopClock(): void {
    if (this.hardDeadline > 0) this.leftMs = Math.max(this.hardDeadline - performance.now(), 0);
  }

  /** The `_meta` of the request; undefined where there is none. `level`: that of the connection. */
  metaWith({ declaresPerRequest }: ClientCodec, level: LogLevel | undefined): RequestMeta | undefined {
    const { options, withoutTasks, trace } = this;
    const { onProgress, meta: given } = options;
    // What the caller set itself applies, a trace context too.
    const extra =
      trace?.replaces === true ? { ...given, ...trace.meta } : trace?.meta ? { ...trace.meta, ...given } : given;
    if (onProgress !== undefined) this.progressToken = this.id;
    const progressToken = onProgress === undefined ? undefined : this.id;
    const isPlain = onProgress === undefined && extra === undefined;
    if (!declaresPerRequest) return isPlain ? undefined : { progressToken, extra };
    const { capabilities, logLevel: wanted = level } = options;
    const logLevel = wanted === 'none' ? undefined : wanted;
    if (isPlain && logLevel === undefined && !withoutTasks && capabilities === undefined) return undefined;
    return { progressToken, logLevel, extra, withoutTasks, capabilities };
  }

  /** Decodes and checks the final result and returns it to the caller. */
  succeed(result: JsonObject): void {
    if (this.ended) return;
    if (this.trace !== undefined) this.#endTrace({ result });
    if (this.requestsTask && isObject(result['task'])) return this.createdTask(result);
    try {
      this.#end(this.#decode(result));
    } catch (error) {
      this.reject(error);
    }
  }

  /** The server created a task instead of returning a result. */
  createdTask(result: JsonObject): void {
    if (this.ended) return;
    if (this.trace !== undefined) this.#endTrace({ result });
    const { onTask } = this;
    if (onTask === undefined)
      this.fail(clientErrors.invalidResult(this.method, 'it is a task, which was not requested'));
    else this.#end(onTask(this, result));
  }

  /** Decodes the final result of a task. */
  decode(result: JsonObject): unknown {
    return this.#decode(result);
  }

  requireInput(reading: Extract<DecodedResult, { kind: 'input-required' }>): void {
    if (this.trace !== undefined) this.#endTrace({ result: { resultType: 'input_required' } });
    this.#owner?.inputRequired(this, reading);
  }

  /** The request in flight failed; the owner decides whether the call has failed, too. */
  fail(error: ClientError): void {
    if (this.ended) return;
    if (this.trace !== undefined) this.#endTrace(failure(error));
    if (this.#owner === undefined) this.reject(error);
    else this.#owner.failed(this, error);
  }

  #end(value: unknown): void {
    this.ended = true;
    this.#unlisten();
    this.#resolve(value);
  }

  /** Ends it for good. */
  reject(error: unknown): void {
    if (this.ended) return;
    if (this.trace !== undefined) this.#endTrace(failure(error));
    this.ended = true;
    this.#unlisten();
    this.#reject(error);
  }

  #unlisten(): void {
    if (this.#onAbort !== undefined) this.options.signal?.removeEventListener('abort', this.#onAbort);
  }

  #endTrace(how: TracedEnd): void {
    this.trace?.end(how);
    this.trace = undefined;
  }

  report(progress: Progress): void {
    try {
      this.options.onProgress?.(progress);
    } catch (error) {
      this.#listenerFailed('onProgress', error);
    }
  }

  /** Shows the caller a response as it arrived. */
  showResponse(text: string, result: string | undefined): void {
    try {
      this.options.onResponse?.(text, result);
    } catch (error) {
      this.#listenerFailed('onResponse', error);
    }
  }

  /** What a listener of the caller throws ends its call, not the connection. */
  #listenerFailed(name: string, error: unknown): void {
    this.reject(error instanceof Error ? error : new ClientError('cancelled', `${name} failed`, { cause: error }));
  }
}

/** The params of a retry, as JSON without braces. */
function encodeRetry({ responses, state }: InputRetry): string {
  const fields = [`"inputResponses":${JSON.stringify(responses)}`];
  // Exactly what the server sent; nothing if it sent none.
  if (state !== undefined) fields.push(`"requestState":${JSON.stringify(state)}`);
  return fields.join(',');
}

function failure(error: unknown): TracedEnd {
  const { message, code, serverError } = error as ClientError;
  return { error: { message, code: serverError?.code ?? code ?? 'error' } };
}
