// Requests that this server has sent to the client and that have no response yet.

import type { Outlet } from '../../protocol/exchange.ts';
import type { JsonRpcResponse } from '../../protocol/json-rpc.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Call } from '../contract.ts';
import { cancelledInput, InputRequestError } from '../input-requests/input-request-error.ts';

/** On whose behalf requests are sent: a call, or a session outside of its calls. */
export interface RequestOrigin extends Pick<Call, 'codec' | 'push'> {
  /** `duplex`: a response can arrive. */
  readonly outlet: Pick<Outlet, 'duplex' | 'push'>;
}

interface PendingRequest {
  readonly origin: RequestOrigin;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly unlisten: (() => void) | undefined;
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

  /** `signal`: cancels the request, which the client is notified of. */
  send(origin: RequestOrigin, encode: (id: string) => string, signal?: AbortSignal): Promise<unknown> {
    if (signal?.aborted === true) return Promise.reject(cancelledInput());
    const id = `${this.#prefix}${++this.#counter}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#cancel(id, origin, new InputRequestError('timeout', 'The client did not respond in time'));
      }, this.#timeoutMs);
      (timer as { unref?: () => void }).unref?.();
      const cancel = (): void => this.#cancel(id, origin, cancelledInput());
      signal?.addEventListener('abort', cancel, { once: true });
      const unlisten = signal && (() => signal.removeEventListener('abort', cancel));
      this.#waiting.set(id, { origin, resolve, reject, timer, unlisten });
      if (!origin.push(encode(id))) {
        this.#take(id)?.reject(new InputRequestError('no-return-path', 'The client can no longer be reached'));
      }
    });
  }

  /** Returns false for a late response, or one to a request of another connection: it matches nothing. */
  settle({ id, result, error }: JsonRpcResponse): boolean {
    const waiting = typeof id === 'string' ? this.#take(id) : undefined;
    if (waiting === undefined) return false;
    if (error === undefined) waiting.resolve(result);
    else {
      const message = isObject(error) && typeof error.message === 'string' ? error.message : 'no reason given';
      waiting.reject(new InputRequestError('declined', `The client responded with an error: ${message}`, [], error));
    }
    return true;
  }

  /** Cancels the requests of an origin, and notifies the client if it can still be reached. */
  cancel(origin: RequestOrigin, reason: Error): void {
    for (const [id, waiting] of this.#waiting) if (waiting.origin === origin) this.#cancel(id, origin, reason);
  }

  /** Fails requests whose response can no longer arrive. */
  failUnreachable(): void {
    for (const [id, { origin }] of this.#waiting) {
      if (origin.outlet.duplex) continue;
      this.#take(id)?.reject(new InputRequestError('no-return-path', 'The client can no longer be reached'));
    }
  }

  failAll(reason: Error): void {
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(reason);
  }

  #cancel(id: string, origin: RequestOrigin, reason: Error): void {
    const waiting = this.#take(id);
    if (waiting === undefined) return;
    origin.outlet.push(origin.codec.cancelled(id, reason.message));
    waiting.reject(reason);
  }

  #take(id: string): PendingRequest | undefined {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) {
      this.#waiting.delete(id);
      clearTimeout(waiting.timer);
      waiting.unlisten?.();
    }
    return waiting;
  }
}
