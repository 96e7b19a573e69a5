// Requests that have no response yet, of one peer in one direction, or of one HTTP exchange.

import { IdTable } from '../protocol/id-table.ts';
import type { RequestId } from '../protocol/model.ts';
import type { FeedEntry } from './api.ts';

/** A request that has no response yet. */
export interface OpenRequest {
  readonly id: RequestId;
  readonly entry: FeedEntry;
  readonly progressToken: unknown;
  readonly atMs: number;
  /** Where it is found by its id. */
  readonly among: OpenRequests;
  /** Its place among the open requests of all peers. */
  slot: number;
}

export class OpenRequests {
  readonly #byId = new IdTable<OpenRequest>();
  /** Those whose sender wants to know of progress. */
  #byToken: Map<unknown, OpenRequest> | undefined;

  get size(): number {
    return this.#byId.size;
  }

  get(id: unknown): OpenRequest | undefined {
    return typeof id === 'string' || typeof id === 'number' ? this.#byId.get(id) : undefined;
  }

  /** The request that progress with this token is about. */
  withToken(token: unknown): OpenRequest | undefined {
    return this.#byToken?.get(token);
  }

  /** Its id must not be in use. */
  add(request: OpenRequest): void {
    this.#byId.add(request);
    const { progressToken } = request;
    if (progressToken !== undefined) (this.#byToken ??= new Map()).set(progressToken, request);
  }

  delete(request: OpenRequest): void {
    this.#byId.delete(request);
    const { progressToken } = request;
    if (progressToken !== undefined && this.withToken(progressToken) === request) this.#byToken?.delete(progressToken);
  }

  values(): OpenRequest[] {
    return this.#byId.values();
  }
}
