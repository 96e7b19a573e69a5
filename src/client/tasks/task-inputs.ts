// Input requests that are part of a task (2026-07-28): each is handled once, and its response is sent as soon as it is
// there.

import type { JsonObject } from '../../protocol/model.ts';
import type { ClientCodec, WireInputRequest } from '../../protocol/revisions/client-revisions.ts';
import { explainInputFailure } from '../calls/input-required.ts';
import { clientErrors } from '../errors.ts';
import type { InputResponder } from '../input-requests.ts';

/** Stops a task that never stops asking for input, and a state with more dialogs than a user could answer. */
const maxInputs = 256;

type WireInputRequests = Readonly<Record<string, WireInputRequest>>;

/** The input requests of one task. */
export class TaskInputs {
  readonly #task: string;
  readonly #inputs: InputResponder;
  readonly #send: (responses: JsonObject, signal: AbortSignal) => Promise<void>;
  /** What was asked under each key, to notice a key that is used again. */
  readonly #seen = new Map<string, string>();
  readonly #open = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>();

  constructor(
    task: string,
    inputs: InputResponder,
    send: (responses: JsonObject, signal: AbortSignal) => Promise<void>,
  ) {
    this.#task = task;
    this.#inputs = inputs;
    this.#send = send;
  }

  /** Starts handlers for what is new and stops those whose answer is not wanted any more. Throws if a key is used twice. */
  attend(requests: WireInputRequests, codec: ClientCodec, failed: (error: unknown) => void): void {
    for (const [key, { controller }] of this.#open) {
      if (!Object.hasOwn(requests, key)) controller.abort(new Error('the task does not need this input any more'));
    }
    for (const [key, request] of Object.entries(requests)) {
      const text = JSON.stringify(request);
      const known = this.#seen.get(key);
      if (known === text) continue;
      if (known !== undefined) throw invalid(`the key ${JSON.stringify(key)} is used for two input requests`);
      if (this.#seen.size >= maxInputs) throw invalid(`it has more than ${maxInputs} input requests`);
      this.#seen.set(key, text);
      this.#handle(key, request, codec, failed);
    }
  }

  /** Resolves when everything that is open now has been answered. */
  async settled(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ done }) => done));
  }

  /** Stops all handlers; what they did not answer can be handled again. */
  close(): void {
    for (const { controller } of this.#open.values()) controller.abort(new Error('the wait for the task has ended'));
  }

  #handle(key: string, request: WireInputRequest, codec: ClientCodec, failed: (error: unknown) => void): void {
    const controller = new AbortController();
    const { signal } = controller;
    const done = (async () => {
      try {
        const response = await this.#inputs.answer(request.method, request.params, codec, { signal, task: this.#task });
        if (signal.aborted) this.#seen.delete(key);
        else await this.#send({ [key]: response }, signal);
      } catch (error) {
        this.#seen.delete(key);
        if (!signal.aborted) failed(explainInputFailure('tools/call', request.method, error));
      } finally {
        this.#open.delete(key);
      }
    })();
    this.#open.set(key, { controller, done });
  }
}

const invalid = (why: string): Error => clientErrors.invalidResult('tasks/get', why);
