// Requests the server sends us, on revisions where it may: answered by the handlers, cancelled on the server's request.

import { isObject, isRequestId, resultText } from '../protocol/json-rpc.ts';
import type { Logger } from '../protocol/logger.ts';
import { metaKeys, relatedTaskOf } from '../protocol/meta.ts';
import { methods } from '../protocol/methods.ts';
import type { RequestId } from '../protocol/model.ts';
import type { ClientCodec } from '../protocol/revisions/client-revisions.ts';
import { InputFailure, type InputResponder } from './input-requests.ts';
import type { CallOptions } from './options.ts';
import type { JsonObject } from './outgoing-call.ts';
import type { PendingCalls } from './pending.ts';

/**
 * Open requests that belong to one call, or to none; stops a server from sending input requests faster than a user could answer
 * them. The calls are those of several users, behind a gateway: one of them must not use up the limit of all.
 */
const maxOpen = 64;

/** Serves a request of the server under observation. */
type ObserveServing = <T>(
  request: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
  serve: () => Promise<T>,
) => Promise<T>;

/** The server's requests on one connection that have no response yet. */
export class ServerRequests {
  readonly #inputs: InputResponder;
  readonly #pending: PendingCalls;
  readonly #logger: Logger;
  readonly #send: (text: string) => void;
  readonly #observe: ObserveServing;
  readonly #open = new Map<RequestId, AbortController>();
  /** How many are open, by the options of their call. */
  readonly #perCall = new Map<CallOptions | undefined, number>();

  constructor(
    inputs: InputResponder,
    pending: PendingCalls,
    logger: Logger,
    send: (text: string) => void,
    observe: ObserveServing,
  ) {
    this.#inputs = inputs;
    this.#pending = pending;
    this.#logger = logger;
    this.#send = send;
    this.#observe = observe;
  }

  /** `call`: the options of the call whose response stream brought the request. */
  serve(
    id: RequestId,
    method: string,
    params: JsonObject,
    codec: ClientCodec | undefined,
    call: CallOptions | undefined,
  ): void {
    if (method === methods.ping.name) this.#send(resultText(id, '{}'));
    else if (codec === undefined) this.#sendError(id, -32600, 'This client has not been initialized yet');
    // A resumed stream may repeat a request; one response is enough.
    else if (this.#open.has(id)) return;
    else if (this.#openOf(call) >= maxOpen) this.#sendError(id, -32603, `At most ${maxOpen} requests at a time`);
    else void this.#answer(id, method, params, codec, call);
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

  #openOf(call: CallOptions | undefined): number {
    return this.#perCall.get(call) ?? 0;
  }

  async #answer(
    id: RequestId,
    method: string,
    params: JsonObject,
    codec: ClientCodec,
    call: CallOptions | undefined,
  ): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    this.#perCall.set(call, this.#openOf(call) + 1);
    const context = { signal: controller.signal, call, task: relatedTaskOf(params) };
    let release: (() => void) | undefined;
    try {
      release = this.#pending.hold(this.#inputs.callsOf(context));
      const respond = () => this.#inputs.answer(method, params, codec, context);
      const result = await this.#observe({ id, method, params }, respond);
      if (!controller.signal.aborted) this.#send(resultText(id, JSON.stringify(withRelatedTask(result, params))));
    } catch (error) {
      if (!controller.signal.aborted) this.#report(id, error);
    } finally {
      this.#open.delete(id);
      const left = this.#openOf(call) - 1;
      if (left > 0) this.#perCall.set(call, left);
      else this.#perCall.delete(call);
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
    this.#send(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }
}

/** The response to a request of a task names the task too (2025-11-25, Tasks, "Associating Task-Related Messages"). */
function withRelatedTask(result: JsonObject, { _meta: meta }: JsonObject): JsonObject {
  const task = isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  if (task === undefined) return result;
  const own = result['_meta'];
  return { ...result, _meta: { ...(isObject(own) ? own : {}), [metaKeys.relatedTask]: task } };
}
