// Input requests on handshake revisions: each is sent to the client as a request. The client responds while the handler
// waits, or before it runs again.

import type { JsonObject, Root } from '../../protocol/model.ts';
import type { Call, InputRequester, KeyedInputRequest, RecordedInput } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';
import {
  completeResponses,
  encodeInputRequest,
  type InputResponse,
  inputRequestMethods,
  RunKeys,
  recordedResponse,
  supportedRequests,
} from './input-requester.ts';
import { decodeResponse, kindOf } from './responses.ts';

/** The responses and steps of a run of the handler. */
interface Recorded {
  readonly responses: Map<string, InputResponse & { readonly kind: string }>;
  readonly steps: Map<string, unknown>;
}

const nothingRecorded = (): Recorded => ({ responses: new Map(), steps: new Map() });

export class PushInputRequester implements InputRequester {
  readonly #call: Call;
  /** Of earlier runs; most handlers run once, so that nothing is replayed. */
  #earlier: Recorded = nothingRecorded();
  #current: Recorded = nothingRecorded();
  readonly #keys = new RunKeys();
  #ordinal = 0;

  constructor(call: Call) {
    this.#call = call;
  }

  async send(requests: readonly KeyedInputRequest[], signal?: AbortSignal): Promise<unknown[]> {
    const keyed = requests.map(([key, request]) => [key ?? `ask-${this.#ordinal++}`, request] as const);
    const { responses } = this.#earlier;
    const unanswered = keyed.filter(([key, request]) => recordedResponse(responses, key, request) === undefined);
    const supported = supportedRequests(this.#call, unanswered);
    let index = 0;
    return Promise.all(
      keyed.map(async ([key, request]) => {
        this.#keys.use(key, request);
        const recorded = recordedResponse(responses, key, request);
        if (recorded !== undefined) return recorded.value;
        if (supported[index++] !== true) return undefined;
        const value = await this.#send(request, signal).catch((error: unknown) => {
          this.#keys.release(key);
          throw error;
        });
        this.#current.responses.set(key, { kind: kindOf(request), value });
        return value;
      }),
    );
  }

  async inputResponses(
    requests: readonly (readonly [key: string, request: InputRequest])[],
  ): Promise<unknown[] | undefined> {
    const recorded = requests.map(([key, request]) => recordedResponse(this.#earlier.responses, key, request));
    return completeResponses(this.#call, requests, recorded);
  }

  /** Runs the step, unless this run or an earlier one has recorded its result: a key names one step on every revision. */
  async step(key: string, run: () => unknown): Promise<unknown> {
    for (const { steps } of [this.#earlier, this.#current]) if (steps.has(key)) return steps.get(key);
    const value = await run();
    this.#current.steps.set(key, value);
    return value;
  }

  restart(): void {
    for (const [key, response] of this.#current.responses) this.#earlier.responses.set(key, response);
    for (const [key, value] of this.#current.steps) this.#earlier.steps.set(key, value);
    this.#current = nothingRecorded();
    this.#keys.clear();
    this.#ordinal = 0;
  }

  recorded(): RecordedInput {
    return {
      responses: new Map([...this.#earlier.responses, ...this.#current.responses]),
      steps: new Map([...this.#earlier.steps, ...this.#current.steps]),
      unnamed: this.#ordinal,
    };
  }

  cancelAll(reason: Error): void {
    this.#call.channel.cancelRequests(this.#call, reason);
  }

  async #send(request: InputRequest, signal: AbortSignal | undefined): Promise<unknown> {
    const call = this.#call;
    const { session } = call;
    if (request.kind === 'roots' && session?.roots !== undefined) return session.roots;
    const version = session?.rootsVersion ?? 0;
    const params = encodeInputRequest(call, request, crypto.randomUUID());
    call.waiting++;
    let response: unknown;
    try {
      response = await call.channel.request(call, inputRequestMethods[request.kind], params, signal);
    } finally {
      call.waiting--;
    }
    const decoded = await decodeResponse(request, response);
    if (decoded.state !== 'ok')
      throw new InputRequestError('invalid-response', `The client sent an invalid response: ${decoded.reason}`);
    if (request.kind === 'roots' && session !== undefined && notifiesOfChanges(session.capabilities)) {
      // Longer lists are requested again: each session would hold them for its lifetime.
      const { maxRootsLength } = call.server.limits;
      if (JSON.stringify(decoded.value).length <= maxRootsLength)
        session.cacheRoots(decoded.value as readonly Root[], version);
    }
    return decoded.value;
  }
}

function notifiesOfChanges(capabilities: JsonObject): boolean {
  return (capabilities['roots'] as { listChanged?: unknown } | undefined)?.listChanged === true;
}
