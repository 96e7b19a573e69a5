// Input requests of a task: they are part of its record, and the handler waits until the record has the responses. Responses
// and steps stay in it, so that a handler that runs again finds them. How requests reach clients is in task-followers.ts.

import { wireErrors } from '../../../protocol/errors.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { Json } from '../../../protocol/model.ts';
import type { Call, InputRequester, KeyedInputRequest, RecordedInput } from '../../contract.ts';
import type { InputRequest } from '../../input-requests/input-request.ts';
import { cancelledInput, InputRequestError } from '../../input-requests/input-request-error.ts';
import {
  encodeInputRequest,
  inputRequestMethods,
  isSkipped,
  RunKeys,
  sameKey,
  supportedRequests,
} from '../../input-requests/input-requester.ts';
import { decodeResponse, kindOf } from '../../input-requests/responses.ts';
import { isOpen } from '../store/task-record.ts';
import type { TaskChange, TaskInput, TaskRecord } from '../store/task-store.ts';

/** How often an input request is repeated after an invalid response, on revisions without an error for that. */
const maxRepeats = 5;

/** The task whose input requests these are. */
export interface InputTask {
  readonly record: TaskRecord;
  readonly limits: {
    readonly maxOpenInputs: number;
    readonly maxInputs: number;
    readonly maxSteps: number;
    readonly maxRecordedLength: number;
  };
  /** Whether steps are stored: only a handler that may run again needs them. */
  readonly replays: boolean;
  /** The client cannot ask its user, and its model may answer forms instead. */
  readonly modelAnswers: boolean;
  /** Writes a change. Throws if this process no longer holds the task. */
  change(changes: readonly TaskChange[]): Promise<void>;
  /** Called when the handler starts or stops waiting for nothing but input requests. */
  idle(isIdle: boolean): void;
}

/** Waits for the response to one input request. */
interface WaitingHandler {
  readonly resolve: (input: TaskInput) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly unlisten: () => void;
}

const never = (): Promise<never> => new Promise(() => {});

export class TaskInputRequester implements InputRequester {
  readonly #call: Call;
  readonly #task: InputTask;
  readonly #steps = new Map<string, unknown>();
  readonly #waiting = new Map<string, WaitingHandler>();
  readonly #keys = new RunKeys();
  #unnamed: number;
  #runningSteps = 0;
  /** The handler was dropped: nothing settles any more. */
  #closed = false;

  constructor(call: Call, task: InputTask, recorded: RecordedInput | undefined) {
    this.#call = call;
    this.#task = task;
    this.#unnamed = recorded?.unnamed ?? 0;
    for (const [key, value] of recorded?.steps ?? []) this.#steps.set(key, value);
    for (const { key, state, value } of task.record.steps) if (state === 'done') this.#steps.set(key, value ?? null);
  }

  async send(requests: readonly KeyedInputRequest[], signal?: AbortSignal): Promise<unknown[]> {
    if (this.#closed) return never();
    const keyed = requests.map(([key, request]) => [key ?? `ask-${this.#unnamed++}`, request] as const);
    const unanswered = keyed.filter(([key]) => this.#find(key)?.response === undefined);
    const forUsers = unanswered.filter(([, request]) => !this.#isForModel(request));
    const supported = supportedRequests(this.#call, forUsers);
    const wanted = keyed.filter((each) => !forUsers.includes(each) || supported[forUsers.indexOf(each)] === true);
    const isOver = unanswered.every(([key]) => this.#find(key)?.cancelled === true);
    if (signal?.aborted === true && !isOver) throw cancelledInput();
    await this.#request(wanted);
    return Promise.all(
      keyed.map((each) => (wanted.includes(each) ? this.#response(...each, this.#keys, signal) : undefined)),
    );
  }

  #isForModel({ kind }: InputRequest): boolean {
    return kind === 'elicit' && this.#task.modelAnswers;
  }

  #find(key: string): TaskInput | undefined {
    return this.#task.record.inputs.find((input) => input.key === key);
  }

  /** Adds the input requests that are not in the record yet. */
  async #request(keyed: readonly (readonly [key: string, request: InputRequest])[]): Promise<void> {
    const inputs = keyed
      .filter(([key]) => this.#find(key) === undefined)
      .map(([key, request]) => this.#inputOf(key, request));
    if (inputs.length === 0) return;
    const { limits, record } = this.#task;
    const open = record.inputs.filter(isOpen).length + inputs.length;
    if (open > limits.maxOpenInputs || record.inputs.length + inputs.length > limits.maxInputs) {
      throw new InputRequestError('not-allowed-here', 'The task has too many input requests');
    }
    await this.#task.change([{ type: 'request-input', inputs }]);
  }

  #inputOf(key: string, request: InputRequest): TaskInput {
    const params = this.#paramsOf(request) as Json;
    const method = inputRequestMethods[request.kind];
    return { key, kind: kindOf(request), method, params, requestedAtMs: Date.now() };
  }

  #paramsOf(request: InputRequest): unknown {
    // The revision of the client may have no forms. A model reads any schema.
    if (request.kind === 'elicit' && this.#task.modelAnswers)
      return { message: request.message, requestedSchema: request.schema.json };
    return encodeInputRequest(this.#call, request, crypto.randomUUID());
  }

  /** `keys`: those that the handler has used in this run, if it waits for the response. */
  async #response(key: string, request: InputRequest, keys?: RunKeys, signal?: AbortSignal): Promise<unknown> {
    const repeats = this.#call.codec.dialect.tasks === 'server-directed';
    let reason = '';
    for (let attempt = 1; attempt <= maxRepeats; attempt++) {
      // A key is never used for a second request.
      const attemptKey = attempt === 1 ? key : `${key}#${attempt}`;
      await this.#request([[attemptKey, request]]);
      const input = await this.#answered(attemptKey, signal);
      if (input.kind !== kindOf(request)) throw otherKind(key);
      if (attempt === 1) keys?.use(key, request);
      if (input.decoded === true) return input.response;
      const declined = declinedBy(input.response);
      if (declined !== undefined) throw declined;
      const decoded = await decodeResponse(request, input.response);
      if (decoded.state === 'ok') return decoded.value;
      reason = decoded.reason;
      if (!repeats) break;
    }
    throw new InputRequestError('invalid-response', `The client sent an invalid response: ${reason}`);
  }

  #answered(key: string, signal: AbortSignal | undefined): Promise<TaskInput> {
    const input = this.#find(key) as TaskInput;
    if (input.answeredAtMs !== undefined) return Promise.resolve(input);
    if (input.cancelled === true) return Promise.reject(cancelledError(input));
    if (this.#waiting.has(key)) {
      return Promise.reject(sameKey(key));
    }
    const remainingMs = input.requestedAtMs + this.#call.server.limits.inputTimeoutMs - Date.now();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#cancel({ keys: [key] }), Math.max(0, remainingMs));
      (timer as { unref?: () => void }).unref?.();
      const cancel = (): void => this.#cancel({ keys: [key], byHandler: true });
      signal?.addEventListener('abort', cancel, { once: true });
      const unlisten = (): void => signal?.removeEventListener('abort', cancel);
      this.#waiting.set(key, { resolve, reject, timer, unlisten });
      if (signal?.aborted === true) cancel();
      this.#checkIdle();
    });
  }

  /** The deadline of an input request has passed, or its response is not needed any more. */
  #cancel(which: { readonly keys: readonly string[]; readonly byHandler?: true }): void {
    this.#task.change([{ type: 'cancel-inputs', ...which }]).catch(() => {
      // This process no longer holds the task, so its handler's signal is aborted.
    });
  }

  /** The record has changed. */
  update(record: TaskRecord): void {
    for (const [key, waiting] of this.#waiting) {
      const input = record.inputs.find((each) => each.key === key);
      if (input === undefined || isOpen(input)) continue;
      this.#take(key);
      if (input.cancelled === true) waiting.reject(cancelledError(input));
      else waiting.resolve(input);
    }
  }

  #take(key: string): void {
    const waiting = this.#waiting.get(key);
    clearTimeout(waiting?.timer);
    waiting?.unlisten();
    this.#waiting.delete(key);
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (!this.#closed) this.#task.idle(this.#waiting.size > 0 && this.#runningSteps === 0);
  }

  async inputResponses(
    requests: readonly (readonly [key: string, request: InputRequest])[],
  ): Promise<unknown[] | undefined> {
    const isAnswered = ([key, request]: readonly [string, InputRequest]): boolean =>
      this.#find(key)?.answeredAtMs !== undefined || isSkipped(this.#call, request);
    if (!requests.every(isAnswered)) return undefined;
    return Promise.all(
      requests.map(([key, request]) => (this.#find(key) === undefined ? undefined : this.#response(key, request))),
    );
  }

  async step(key: string, run: () => unknown, once: boolean): Promise<unknown> {
    if (this.#closed) return never();
    if (this.#steps.has(key)) return this.#steps.get(key);
    const { record, limits, replays } = this.#task;
    if (record.steps.some((step) => step.key === key && step.state === 'started')) {
      throw wireErrors.failed(`The outcome of step ${JSON.stringify(key)} is unknown: the process ended within it`);
    }
    if (this.#steps.size >= limits.maxSteps) throw wireErrors.failed('The task has too many steps');
    if (once && replays) await this.#task.change([{ type: 'start-step', key }]);
    this.#runningSteps++;
    this.#checkIdle();
    try {
      const value = await run();
      await this.#record(key, value);
      return value;
    } finally {
      this.#runningSteps--;
      this.#checkIdle();
    }
  }

  async #record(key: string, value: unknown): Promise<void> {
    this.#steps.set(key, value);
    const { record, limits, replays } = this.#task;
    if (!replays) return;
    const json = (value ?? null) as Json;
    const length = JSON.stringify([record.inputs, record.steps, json]).length;
    if (length > limits.maxRecordedLength) throw wireErrors.failed('The steps of the task are too large');
    await this.#task.change([{ type: 'finish-step', key, value: json }]);
  }

  restart(): void {
    this.#keys.clear();
    this.#unnamed = 0;
  }

  /** When the first open input request expires. */
  get deadlineMs(): number {
    const open = this.#task.record.inputs.filter(isOpen);
    return Math.min(...open.map(({ requestedAtMs }) => requestedAtMs)) + this.#call.server.limits.inputTimeoutMs;
  }

  get isInStep(): boolean {
    return this.#runningSteps > 0;
  }

  get isIdle(): boolean {
    return this.#waiting.size > 0 && this.#runningSteps === 0;
  }

  cancelAll(reason: Error): void {
    if (this.#closed) return;
    for (const [key, { reject }] of [...this.#waiting]) {
      this.#take(key);
      reject(reason);
    }
  }

  /** Drops the handler: what it waits for never settles, so neither `catch` nor `finally` runs. */
  close(): void {
    this.#closed = true;
    for (const { timer, unlisten } of this.#waiting.values()) {
      clearTimeout(timer);
      unlisten();
    }
    this.#waiting.clear();
  }

  recorded(): RecordedInput {
    return { responses: new Map(), steps: this.#steps, unnamed: this.#unnamed };
  }
}

/** By the record, so that every run of the handler sees the same. */
function cancelledError({ byHandler }: TaskInput): InputRequestError {
  if (byHandler === true) return cancelledInput();
  return new InputRequestError('timeout', 'The client did not respond in time');
}

function otherKind(key: string): InputRequestError {
  return new InputRequestError('not-allowed-here', `The key ${JSON.stringify(key)} was used for another input request`);
}

/** A client that was sent a request may respond with an error; see `errorResponse`. */
function declinedBy(response: unknown): InputRequestError | undefined {
  const error = isObject(response) ? response['error'] : undefined;
  if (!isObject(error) || typeof error['message'] !== 'string') return undefined;
  return new InputRequestError('declined', `The client responded with an error: ${error['message']}`, [], error);
}

/** How the record of a task stores that the client responded with an error. No input response has this member. */
export function errorResponse(error: unknown): Json {
  const message = isObject(error) && typeof error['message'] === 'string' ? error['message'] : 'no reason given';
  return { error: { message } };
}
