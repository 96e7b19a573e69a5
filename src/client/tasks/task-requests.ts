// The requests about tasks, for both dialects: encoded, sent, decoded, and repeated while the network fails.

import type { CancelSignal } from '../../common/cancellation.ts';
import { pause } from '../../common/wait.ts';
import { type MethodRow, methods } from '../../protocol/methods.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { ClientCodec, TaskDialect } from '../../protocol/revisions/client-revisions.ts';
import {
  type DecodedTask,
  decodeCreatedTask,
  decodeTask,
  decodeTaskPage,
  offersTasks,
} from '../../protocol/revisions/client-tasks.ts';
import type { TaskState } from '../../protocol/task.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { pauseMs, transience } from '../calls/retry.ts';
import { ClientError, type ClientErrorCode, clientErrors } from '../errors.ts';
import type { FeatureContext } from '../features/feature-context.ts';
import type { Page } from '../features/lists.ts';
import type { CallOptions } from '../options.ts';

/** Pauses while the server cannot be reached. */
const whileUnreachable = { maxAttempts: Number.POSITIVE_INFINITY, baseDelayMs: 500, maxDelayMs: 30_000 };
/** Failures of the connection besides those that `transience` knows: the task is not affected by them. */
const passingCodes: readonly ClientErrorCode[] = ['connect-timeout', 'timeout', 'session-lost'];
const unlimited = { timeoutMs: Number.POSITIVE_INFINITY, maxTimeoutMs: Number.POSITIVE_INFINITY };

/** The task methods of one server. */
export class TaskRequests {
  readonly #context: FeatureContext;

  constructor(context: FeatureContext) {
    this.#context = context;
  }

  /** The codec of the current connection: after a reconnect it may be another one. */
  get codec(): ClientCodec & { readonly tasks: TaskDialect } {
    const { codec } = this.#context.latest;
    if (codec?.tasks === undefined) throw clientErrors.notInRevision(methods.getTask.name, codec?.date ?? '');
    return codec as ClientCodec & { readonly tasks: TaskDialect };
  }

  /** Throws unless the server declares tasks, or this method of them. */
  require(what?: 'list' | 'cancel'): void {
    const { tasks, date } = this.codec;
    if (what === 'list' && tasks === 'server-directed') throw clientErrors.notInRevision(methods.listTasks.name, date);
    if (offersTasks(this.#context.latest.facts?.capabilities ?? {}, tasks, what)) return;
    throw clientErrors.notOffered(what === undefined ? 'tasks' : `tasks/${what}`);
  }

  created(result: JsonObject): TaskState {
    return valid(methods.callTool, decodeCreatedTask(result, this.codec.tasks));
  }

  /** The params of a notification; undefined if they are not valid. */
  notified(params: JsonObject): DecodedTask | undefined {
    const { codec } = this.#context.latest;
    const task = codec?.tasks === undefined ? undefined : decodeTask(params, codec.tasks);
    return typeof task === 'string' ? undefined : task;
  }

  async get(id: string, signal?: CancelSignal): Promise<DecodedTask> {
    const task = await this.#send(
      methods.getTask,
      id,
      (result) => valid(methods.getTask, decodeTask(result, this.codec.tasks)),
      {
        signal,
      },
    );
    if (task.state.taskId !== id) throw clientErrors.invalidResult(methods.getTask.name, 'it is about another task');
    return task;
  }

  async update(id: string, inputResponses: JsonObject, signal: AbortSignal): Promise<void> {
    const fields = `,"inputResponses":${JSON.stringify(inputResponses)}`;
    await this.#send(methods.updateTask, id, () => undefined, { signal }, fields);
  }

  /** `requested`: the state that the server returns; `server-directed`: undefined, for it only acknowledges. */
  async cancel(id: string): Promise<DecodedTask | undefined> {
    const { tasks } = this.codec;
    return this.#send(methods.cancelTask, id, (result) =>
      tasks === 'requested' ? valid(methods.cancelTask, decodeTask(result, tasks)) : undefined,
    );
  }

  /** Blocks until the task has ended. `patient`: without a time limit. */
  result(id: string, signal: AbortSignal, patient: boolean): Promise<JsonObject> {
    return this.#send(methods.taskResult, id, (result) => result, { signal, ...(patient ? unlimited : {}) });
  }

  async page(cursor: string | undefined, options: CallOptions): Promise<Page<TaskState>> {
    const fields = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)}`;
    const decode = (result: JsonObject): unknown => valid(methods.listTasks, decodeTaskPage(result, this.codec.tasks));
    const call = new OutgoingCall(methods.listTasks, fields, decode, options);
    call.idempotent = true;
    return this.#context.caller.start<Page<TaskState>>(call);
  }

  /** Repeats a request while only the network fails, until a time on the clock of `performance.now`. */
  async persist<T>(work: () => Promise<T>, until: () => number, signal: AbortSignal): Promise<T> {
    for (let attempt = 2; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted || !this.#mayPass(error) || performance.now() >= until()) throw error;
        await pause(pauseMs(attempt, whileUnreachable, error), signal);
      }
    }
  }

  #mayPass(error: unknown): boolean {
    const { caller } = this.#context;
    if (!(error instanceof ClientError) || caller.closed) return false;
    if (asksForPatience(error)) return true;
    const isPassing = transience(error) !== undefined || passingCodes.includes(error.code);
    return isPassing && (caller.reopens || caller.connection?.over === undefined);
  }

  async #send<T>(
    row: MethodRow,
    id: string,
    decode: (result: JsonObject) => T,
    options: CallOptions = {},
    fields = '',
  ): Promise<T> {
    const call = new OutgoingCall(row, `"taskId":${JSON.stringify(id)}${fields}`, decode, options);
    call.addressed = { name: id };
    // Repeating any of them does no harm: responses to answered input requests are ignored.
    call.idempotent = true;
    try {
      return await this.#context.caller.start<T>(call);
    } catch (error) {
      throw row !== methods.cancelTask && isUnknownTask(error) ? clientErrors.taskGone(id, error.serverError) : error;
    }
  }
}

/** A decoded value; throws what is wrong with it. */
function valid<T>({ name }: MethodRow, decoded: T | string): T {
  if (typeof decoded === 'string') throw clientErrors.invalidResult(name, decoded);
  return decoded;
}

function isUnknownTask(error: unknown): error is ClientError {
  return error instanceof ClientError && error.code === 'server-error' && error.serverError?.code === -32602;
}

/** Whether a server is temporarily unable to answer, and says when to ask again. */
function asksForPatience({ code, serverError }: ClientError): boolean {
  return (code === 'server-error' || code === 'http-error') && (serverError?.retryAfterMs ?? 0) > 0;
}
