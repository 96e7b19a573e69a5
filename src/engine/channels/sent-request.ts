// A request of this server to a client, as observers see it.

import type { JsonObject } from '../../protocol/model.ts';
import type { RequestInfo, SentRequest } from '../ports.ts';

export class ObservedRequest implements SentRequest {
  readonly id: string;
  readonly method: string;
  readonly call: RequestInfo;
  #meta: JsonObject | undefined;
  readonly #listeners: ((error: Error | undefined) => void)[] = [];

  constructor(id: string, method: string, call: RequestInfo) {
    this.id = id;
    this.method = method;
    this.call = call;
  }

  addMeta(members: JsonObject): void {
    this.#meta = { ...this.#meta, ...members };
  }

  onEnd(listener: (error: Error | undefined) => void): void {
    this.#listeners.push(listener);
  }

  /** The params with what observers added to `_meta`. */
  withMeta(params: object): object {
    if (this.#meta === undefined) return params;
    return { ...params, _meta: { ...this.#meta, ...(params as { _meta?: object })._meta } };
  }

  ended(error: Error | undefined): void {
    for (const listener of this.#listeners) listener(error);
  }
}
