// Input requests on the stateless revision: the call ends with `input_required`. The handler is suspended for good, and runs
// again from the top when the client retries with input responses. Responses and steps of earlier runs are in the journal,
// so they resolve at once.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Json, JsonObject } from '../../protocol/model.ts';
import type { Call, InputRequester, KeyedInputRequest, RecordedInput } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { cancelledInput } from './input-request-error.ts';
import {
  completeResponses,
  encodeInputRequest,
  type InputResponse,
  inputRequestMethods,
  RunKeys,
  recordedResponse,
  sameKey,
  supportedRequests,
} from './input-requester.ts';
import { emptyJournal, type Journal, openJournal, sealJournal, useOnce } from './journal.ts';
import { decodeResponse, kindOf } from './responses.ts';

/**
 * An input request without a response never settles, so neither `catch` nor `finally` of the handler runs. A new promise
 * each time: a shared one would hold every handler that ever waited for it in memory.
 */
const never = (): Promise<never> => new Promise(() => {});

export class RetryInputRequester implements InputRequester {
  readonly #call: Call;
  #journal: Journal = emptyJournal();
  #responses: JsonObject = {};
  readonly #pending = new Map<string, { readonly method: string; readonly params: object }>();
  readonly #keys = new RunKeys();
  #ordinal = 0;
  #running = 0;
  #scheduled = false;
  #closed = false;
  /** Stop listening to the signals of input requests. */
  readonly #unlisten: (() => void)[] = [];
  #claimed: Promise<WireError | undefined> | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** Whether a request is a retry, whose state must be read before the handler runs. */
  static isRetry(call: Call): boolean {
    return call.params['requestState'] !== undefined || call.params['inputResponses'] !== undefined;
  }

  /** Reads the state and the responses of a retry; throws if they are not valid. */
  async resume(singleUse: boolean): Promise<void> {
    const { requestState, inputResponses } = this.#call.params;
    if (inputResponses !== undefined) {
      if (!isObject(inputResponses)) throw wireErrors.invalidParams('"inputResponses" must be an object');
      this.#responses = inputResponses;
    }
    if (requestState !== undefined) {
      const journal = await openJournal(this.#call, requestState);
      if (journal instanceof WireError) throw journal;
      this.#journal = journal;
    }
    const error = singleUse ? await this.#claim() : undefined;
    if (error !== undefined) throw error;
  }

  /** Claims the state for this run, once; returns an error if it was used before. */
  #claim(): Promise<WireError | undefined> {
    this.#claimed ??= this.#claimState();
    return this.#claimed;
  }

  async #claimState(): Promise<WireError | undefined> {
    const { nonce, until } = this.#journal;
    if (nonce !== undefined) {
      return (await useOnce(this.#call, nonce, until))
        ? undefined
        : wireErrors.invalidRequestState('it was used before');
    }
    // Every input_required carries a state; responses without one may have been sent twice.
    return RetryInputRequester.isRetry(this.#call) ? wireErrors.invalidRequestState('it is missing') : undefined;
  }

  async send(requests: readonly KeyedInputRequest[], signal?: AbortSignal): Promise<unknown[]> {
    const supported = supportedRequests(this.#call, this.#unanswered(requests));
    const keyed = requests.map(([key, request]) => [key ?? `ask-${this.#ordinal++}`, request] as const);
    let index = 0;
    return Promise.all(
      keyed.map(([key, request]) => {
        this.#keys.use(key, request);
        const recorded = recordedResponse(this.#journal.responses, key, request);
        if (recorded !== undefined) return recorded.value;
        return supported[index++] === true ? this.#responseOrSuspend(key, request, signal) : undefined;
      }),
    );
  }

  /** Recorded responses stay valid even if the retry declares less; only open input requests need the capability now. */
  #unanswered(requests: readonly KeyedInputRequest[]): readonly KeyedInputRequest[] {
    let ordinal = this.#ordinal;
    const { responses } = this.#journal;
    return requests.filter(
      ([key, request]) => recordedResponse(responses, key ?? `ask-${ordinal++}`, request) === undefined,
    );
  }

  async inputResponses(
    requests: readonly (readonly [key: string, request: InputRequest])[],
  ): Promise<unknown[] | undefined> {
    const responses = await Promise.all(
      requests.map(
        ([key, request]) => recordedResponse(this.#journal.responses, key, request) ?? this.#response(key, request),
      ),
    );
    return completeResponses(this.#call, requests, responses);
  }

  /** The response that came with this retry, recorded from now on; undefined if there is none that matches. */
  async #response(key: string, request: InputRequest): Promise<InputResponse | undefined> {
    if (!Object.hasOwn(this.#responses, key)) return undefined;
    const decoded = await decodeResponse(request, this.#responses[key]);
    if (decoded.state === 'wrong') {
      const error = wireErrors.invalidParams(`inputResponses[${JSON.stringify(key)}]: ${decoded.reason}`);
      this.#end(() => this.#call.fail(error));
      return never();
    }
    if (decoded.state !== 'ok') return undefined;
    this.#journal.responses.set(key, { kind: kindOf(request), value: decoded.value as Json });
    return decoded;
  }

  async #responseOrSuspend(key: string, request: InputRequest, signal: AbortSignal | undefined): Promise<unknown> {
    const response = await this.#response(key, request);
    if (response !== undefined) return response.value;
    if (signal?.aborted === true) {
      this.#keys.release(key);
      throw cancelledInput();
    }
    if (this.#pending.has(key)) throw sameKey(key);
    const params = encodeInputRequest(this.#call, request, '');
    // The call waits for its retry, so it cannot become a task any more.
    this.#call.waiting++;
    this.#pending.set(key, { method: inputRequestMethods[request.kind], params });
    this.#schedule();
    return signal === undefined ? never() : this.#cancelled(key, signal);
  }

  /** Rejects if the input request is cancelled before the run ends with it. */
  #cancelled(key: string, signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const cancel = (): void => {
        if (this.#closed || !this.#pending.delete(key)) return;
        this.#call.waiting--;
        this.#keys.release(key);
        reject(cancelledInput());
      };
      signal.addEventListener('abort', cancel, { once: true });
      this.#unlisten.push(() => signal.removeEventListener('abort', cancel));
    });
  }

  async step(key: string, run: () => unknown, once: boolean): Promise<unknown> {
    if (this.#closed) return never();
    if (this.#journal.steps.has(key)) return this.#journal.steps.get(key);
    const error = once ? await this.#claim() : undefined;
    if (error !== undefined) {
      this.#end(() => this.#call.fail(error));
      return never();
    }
    this.#running++;
    try {
      const value = await run();
      this.#journal.steps.set(key, (value ?? null) as Json);
      return value;
    } finally {
      this.#running--;
      if (this.#pending.size > 0) this.#schedule();
    }
  }

  restart(): void {
    this.#keys.clear();
    this.#ordinal = 0;
  }

  cancelAll(): void {
    this.#close();
  }

  #close(): void {
    this.#closed = true;
    for (const unlisten of this.#unlisten.splice(0)) unlisten();
  }

  recorded(): RecordedInput {
    return { responses: this.#journal.responses, steps: this.#journal.steps, unnamed: this.#ordinal };
  }

  /** Ends the call after one turn without a running step, so that input requests made together are sent together. */
  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    setTimeout(() => {
      this.#scheduled = false;
      if (this.#running > 0 || this.#closed || this.#call.settled || this.#pending.size === 0) return;
      this.#end(() => this.#suspend());
    }, 0);
  }

  #end(how: () => void | Promise<void>): void {
    if (this.#closed) return;
    this.#close();
    void how();
  }

  async #suspend(): Promise<void> {
    const call = this.#call;
    try {
      const state = await sealJournal(call, this.#journal);
      call.succeed(call.codec.inputRequired(Object.fromEntries(this.#pending), state), 'input-required');
    } catch (cause) {
      call.fail(cause instanceof WireError ? cause : wireErrors.internal(cause));
      call.server.logger?.error('input requests could not be sent', { cause: String(cause) });
    }
    call.abort('suspended');
  }
}
