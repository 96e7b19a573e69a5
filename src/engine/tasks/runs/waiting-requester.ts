// Input requests of a call that is about to become a task.

import type { Call, InputRequester, KeyedInputRequest, RecordedInput } from '../../contract.ts';
import type { InputRequest } from '../../input-requests/input-request.ts';
import { inputRequesterOf } from '../../input-requests/load.ts';

/** Used between the decision to create a task and its creation: waits until the task exists or could not be created. */
export class WaitingRequester implements InputRequester {
  readonly #call: Call;
  readonly #created: () => Promise<boolean>;

  constructor(call: Call, created: () => Promise<boolean>) {
    this.#call = call;
    this.#created = created;
  }

  async #next(): Promise<InputRequester> {
    await this.#created();
    return inputRequesterOf(this.#call);
  }

  async send(requests: readonly KeyedInputRequest[], signal?: AbortSignal): Promise<unknown[]> {
    return (await this.#next()).send(requests, signal);
  }
  async inputResponses(requests: readonly (readonly [string, InputRequest])[]): Promise<unknown[] | undefined> {
    return (await this.#next()).inputResponses(requests);
  }
  async step(key: string, run: () => unknown, once: boolean): Promise<unknown> {
    return (await this.#next()).step(key, run, once);
  }
  restart(): void {}
  cancelAll(): void {}
  recorded(): RecordedInput {
    return { responses: new Map(), steps: new Map(), unnamed: 0 };
  }
}
