// Requests the server sends us, on revisions where it may: answered by the handlers, cancelled on the server's request.

import type { Logger } from '../common/logger.ts';
import { isObject, isRequestId, type JsonRpcRequest, resultText } from '../protocol/json-rpc.ts';
import { metaKeys, relatedTaskOf } from '../protocol/meta.ts';
import { methods } from '../protocol/methods.ts';
import type { JsonObject, RequestId } from '../protocol/model.ts';
import { defaultParamLimits } from '../protocol/param-limits.ts';
import type { ClientCodec } from '../protocol/revisions/client-revisions.ts';
import type { PendingCalls } from './calls/pending.ts';
import { InputFailure, type InputResponder } from './input-requests.ts';
import type { CallOptions } from './options.ts';
import { clean } from './untrusted-text.ts';

/**
 * Open requests that belong to one call, or to none; stops a server from sending input requests faster than a user could answer
 * them. The calls are those of several users, behind a gateway: one of them must not use up the limit of all.
 */
const maxOpen = 64;

/** How many times as long as a message may be the open requests of all calls may be; those of one call, as long as one message. */
const maxOpenMessages = 4;

const { maxIdLength } = defaultParamLimits;

interface Open {
  readonly count: number;
  readonly length: number;
}

const noneOpen: Open = { count: 0, length: 0 };

interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

/** Serves a request of the server under observation. */
type ObserveServing = <T>(request: ServerRequest, serve: () => Promise<T>) => Promise<T>;

/** `droppable`: the server may have caused any number of them. */
type SendResponse = (text: string, droppable: boolean) => void;

/** The server's requests on one connection that have no response yet. */
export class ServerRequests {
  readonly #inputs: InputResponder;
  readonly #pending: PendingCalls;
  readonly #logger: Logger;
  readonly #send: SendResponse;
  /** The length of a message; stops a server from filling the memory with long requests that wait for a user. */
  readonly #maxLength: number;
  readonly #observe: ObserveServing;
  readonly #open = new Map<RequestId, AbortController>();
  /** By the options of their call. */
  readonly #perCall = new Map<CallOptions | undefined, Open>();
  #length = 0;

  constructor(
    inputs: InputResponder,
    pending: PendingCalls,
    logger: Logger,
    send: SendResponse,
    observe: ObserveServing,
    maxLength: number,
  ) {
    this.#inputs = inputs;
    this.#pending = pending;
    this.#logger = logger;
    this.#send = send;
    this.#observe = observe;
    this.#maxLength = maxLength;
  }

  /**
   * Serves a request, or returns what is unexpected about it. `call`: the options of the call whose response stream brought it.
   * `length`: of its text.
   */
  serve(
    { id, method, params = {} }: JsonRpcRequest,
    codec: ClientCodec | undefined,
    call: CallOptions | undefined,
    length: number,
  ): string | undefined {
    if (codec?.inputRequests === 'retry') return `${describe(method)}, which this revision does not have`;
    if (typeof id === 'string' && id.length > maxIdLength) {
      return `${describe(method)} whose id has more than ${maxIdLength} characters`;
    }
    if (method === methods.ping.name) this.#send(resultText(id, '{}'), true);
    else if (codec === undefined) this.#sendError(id, -32600, 'This client has not been initialized yet');
    // A resumed stream may repeat a request; one response is enough.
    else if (!this.#open.has(id)) {
      const problem = this.#tooMany(call);
      if (problem !== undefined) this.#sendError(id, -32603, problem);
      else void this.#answer({ id, method, params }, codec, call, length);
    }
    return undefined;
  }

  #tooMany(call: CallOptions | undefined): string | undefined {
    const { count, length } = this.#openOf(call);
    if (count >= maxOpen) return `At most ${maxOpen} requests at a time`;
    if (length < this.#maxLength && this.#length < this.#maxLength * maxOpenMessages) return undefined;
    return 'The requests that wait for a response are too long; wait for the responses first';
  }

  /** The server cancelled a request. False when the id is not of an open request. */
  cancel(id: unknown): boolean {
    const controller = isRequestId(id) ? this.#open.get(id) : undefined;
    controller?.abort(new Error('the server cancelled its request'));
    return controller !== undefined;
  }

  close(): void {
    for (const controller of this.#open.values()) controller.abort(new Error('the connection was closed'));
    this.#open.clear();
  }

  #openOf(call: CallOptions | undefined): Open {
    return this.#perCall.get(call) ?? noneOpen;
  }

  #count(call: CallOptions | undefined, count: 1 | -1, length: number): void {
    const open = this.#openOf(call);
    this.#length += length;
    if (open.count + count === 0) this.#perCall.delete(call);
    else this.#perCall.set(call, { count: open.count + count, length: open.length + length });
  }

  async #answer(
    { id, method, params }: ServerRequest,
    codec: ClientCodec,
    call: CallOptions | undefined,
    length: number,
  ): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    this.#count(call, 1, length);
    const context = { signal: controller.signal, call, task: relatedTaskOf(params) };
    let release: (() => void) | undefined;
    try {
      release = this.#pending.hold(this.#inputs.callsOf(context));
      const respond = () => this.#inputs.answer(method, params, codec, context);
      const result = await this.#observe({ id, method, params }, respond);
      if (!controller.signal.aborted)
        this.#send(resultText(id, JSON.stringify(withRelatedTask(result, params))), false);
    } catch (error) {
      if (!controller.signal.aborted) this.#report(id, error);
    } finally {
      this.#open.delete(id);
      this.#count(call, -1, -length);
      release?.();
    }
  }

  #report(id: RequestId, error: unknown): void {
    const { kind, code, message, cause } =
      error instanceof InputFailure ? error : new InputFailure('failed', 'Internal error', error);
    if (kind === 'failed') this.#logger.error(message, { error: cause });
    this.#sendError(id, code, message);
  }

  #sendError(id: RequestId, code: number, message: string): void {
    this.#send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }), true);
  }
}

const describe = (method: string): string => `a request (${clean(method, 60)})`;

/** The response to a request of a task names the task too (2025-11-25, Tasks, "Associating Task-Related Messages"). */
function withRelatedTask(result: JsonObject, { _meta: meta }: JsonObject): JsonObject {
  const task = isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  if (task === undefined) return result;
  const own = result['_meta'];
  return { ...result, _meta: { ...(isObject(own) ? own : {}), [metaKeys.relatedTask]: task } };
}
