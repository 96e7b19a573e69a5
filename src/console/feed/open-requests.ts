// Requests that have no response yet, of one peer in one direction.

import { IdTable } from '../../protocol/id-table.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { FeedEntry } from '../api.ts';

/** A request that has no response yet. */
export interface OpenRequest {
  readonly id: RequestId;
  /** The HTTP exchange of a request whose id is unique only there. */
  readonly exchange: object | undefined;
  readonly entry: FeedEntry;
  readonly progressToken: unknown;
  /** On the clock of `performance.now()`. */
  readonly atMs: number;
  /** Where it is found by its id. */
  readonly among: OpenRequests;
  /** Its place among the open requests of all peers. */
  slot: number;
  /** Another one with the same id, in another exchange. */
  next: OpenRequest | undefined;
}

export class OpenRequests {
  /** The first of those with the same id. */
  readonly #byId = new IdTable<OpenRequest>();
  /** Those whose sender wants to know of progress; of several with the same token, the newest. */
  #byToken: Map<unknown, OpenRequest> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: unknown, exchange: object | undefined): OpenRequest | undefined {
    let request = typeof id === 'string' || typeof id === 'number' ? this.#byId.get(id) : undefined;
    while (request !== undefined && request.exchange !== exchange) request = request.next;
    return request;
  }

  /** The request that progress with this token is about. */
  withToken(token: unknown, exchange: object | undefined): OpenRequest | undefined {
    const newest = this.#byToken?.get(token);
    if (newest === undefined || newest.exchange === exchange) return newest;
    return this.values().find((request) => request.exchange === exchange && request.progressToken === token);
  }

  /** The request of an exchange, or of the whole connection, if it is the only one. */
  only(exchange: object | undefined): OpenRequest | undefined {
    const requests = this.values().filter((request) => request.exchange === exchange);
    return requests.length === 1 ? requests[0] : undefined;
  }

  /** Its id must not be in use in its exchange. */
  add(request: OpenRequest): void {
    const same = this.#byId.get(request.id);
    if (same !== undefined) this.#byId.delete(same);
    request.next = same;
    this.#byId.add(request);
    this.#size++;
    const { progressToken } = request;
    if (progressToken !== undefined) (this.#byToken ??= new Map()).set(progressToken, request);
  }

  delete(request: OpenRequest): void {
    const { id, next, progressToken } = request;
    const first = this.#byId.get(id);
    if (first === request) {
      this.#byId.delete(request);
      if (next !== undefined) this.#byId.add(next);
    } else {
      let before = first;
      while (before !== undefined && before.next !== request) before = before.next;
      if (before === undefined) return;
      before.next = next;
    }
    this.#size--;
    if (progressToken !== undefined && this.#byToken?.get(progressToken) === request)
      this.#byToken.delete(progressToken);
  }

  values(): OpenRequest[] {
    const all: OpenRequest[] = [];
    for (const first of this.#byId.values()) {
      for (let request: OpenRequest | undefined = first; request !== undefined; request = request.next)
        all.push(request);
    }
    return all;
  }
}
