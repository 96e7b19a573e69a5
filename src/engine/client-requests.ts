// Requests this side has sent and not heard back from.

import type { JsonRpcResponse } from '../protocol/json-rpc.ts';
import { isObject } from '../protocol/json-rpc.ts';
import type { Call } from './contract.ts';
import { InputRequestError } from './input-requests/input-request-error.ts';

interface PendingRequest {
  readonly call: Call;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
}

export class ClientRequests {
  readonly #waiting = new Map<string, PendingRequest>();
  readonly #prefix: string;
  readonly #timeoutMs: number;
  #counter = 0;

  constructor(prefix: string, timeoutMs: number) {
    this.#prefix = prefix;
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#waiting.size;
  }

  send(call: Call, spell: (id: string) => string): Promise<unknown> {
    const id = `${this.#prefix}${++this.#counter}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#cancel(id, call, new InputRequestError('timeout', 'The client did not answer in time'));
      }, this.#timeoutMs);
      (timer as { unref?: () => void }).unref?.();
      this.#waiting.set(id, { call, resolve, reject, timer });
      if (!call.push(spell(id))) {
        this.#take(id)?.reject(new InputRequestError('no-return-path', 'The client can not be reached any more'));
      }
    });
  }

  /** A late answer, or one to a question of somebody else, matches nothing and is ignored. */
  settle({ id, result, error }: JsonRpcResponse): void {
    const waiting = typeof id === 'string' ? this.#take(id) : undefined;
    if (waiting === undefined) return;
    if (error === undefined) waiting.resolve(result);
    else {
      const message = isObject(error) && typeof error.message === 'string' ? error.message : 'no reason given';
      waiting.reject(new InputRequestError('declined', `The client refused: ${message}`, [], error));
    }
  }

  /** Takes back what a call asked, telling the client where it can still be told. */
  cancel(call: Call, reason: Error): void {
    for (const [id, waiting] of this.#waiting) if (waiting.call === call) this.#cancel(id, call, reason);
  }

  /** Fails what waits for an answer that can not come any more. */
  failUnreachable(): void {
    for (const [id, { call }] of this.#waiting) {
      if (call.outlet.duplex) continue;
      this.#take(id)?.reject(new InputRequestError('no-return-path', 'The client can not be reached any more'));
    }
  }

  failAll(reason: Error): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(reason);
  }

  #cancel(id: string, call: Call, reason: Error): void {
    const waiting = this.#take(id);
    if (waiting === undefined) return;
    call.outlet.push(call.codec.cancelled(id, reason.message));
    waiting.reject(reason);
  }

  #take(id: string): PendingRequest | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) {
      this.#waiting.delete(id);
      clearTimeout(waiting.timer);
    }
    return waiting;
  }
}
