// Questions as an answer that asks for a retry, on revisions where a server sends no requests: the handler is
// suspended for good, and runs again from the top when the client comes back with answers. What earlier rounds
// learned is in the journal, so answered questions and finished steps resolve at once.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Json } from '../../protocol/model.ts';
import type { Call, InputRequester, KeyedInputRequest } from '../contract.ts';
import type { InputRequest } from './input-request.ts';
import { InputRequestError } from './input-request-error.ts';
import { encodeInputRequest, inputRequestMethods, isSkipped, supportedRequests } from './input-requester.ts';
import { emptyJournal, type Journal, openJournal, sealJournal, useOnce } from './journal.ts';
import { decodeResponse, kindOf } from './responses.ts';

/**
 * An unanswered question never settles: neither `catch` nor `finally` of the handler runs. A new promise each time: one
 * for all would remember every handler that ever waited for it.
 */
const never = (): Promise<never> => new Promise(() => {});

export class RetryInputRequester implements InputRequester {
  readonly #call: Call;
  #journal: Journal = emptyJournal();
  #responses: { readonly [key: string]: unknown } = {};
  readonly #pending = new Map<string, { readonly method: string; readonly params: object }>();
  #ordinal = 0;
  #running = 0;
  #scheduled = false;
  #closed = false;
  #claim: Promise<WireError | undefined> | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  /** True when a request carries something of an earlier round, which must be read before the handler runs. */
  static continues(call: Call): boolean {
    return call.params['requestState'] !== undefined || call.params['inputResponses'] !== undefined;
  }

  /** Reads what an earlier round left; throws when it can not be trusted. */
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
    const refusal = singleUse ? await this.#use() : undefined;
    if (refusal !== undefined) throw refusal;
  }

  /** Claims the state of this round for this run, however often it asks; says why where that is not possible. */
  #use(): Promise<WireError | undefined> {
    this.#claim ??= this.#claimState();
    return this.#claim;
  }

  async #claimState(): Promise<WireError | undefined> {
    const { nonce, until } = this.#journal;
    if (nonce !== undefined) {
      return (await useOnce(this.#call, nonce, until))
        ? undefined
        : wireErrors.invalidRequestState('it was used before');
    }
    // Every round hands out a state, so answers without one can not be told from answers sent twice.
    return RetryInputRequester.continues(this.#call) ? wireErrors.invalidRequestState('it is missing') : undefined;
  }

  async send(asks: readonly KeyedInputRequest[]): Promise<unknown[]> {
    const open = supportedRequests(this.#call, this.#unanswered(asks));
    const keyed = asks.map(([key, ask]) => [key ?? `ask-${this.#ordinal++}`, ask] as const);
    let at = 0;
    return Promise.all(
      keyed.map(([key, ask]) => {
        const recorded = this.#recorded(key, ask);
        if (recorded !== undefined) return recorded.value;
        return open[at++] === true ? this.#answer(key, ask) : undefined;
      }),
    );
  }

  /** Recorded answers stay good even if the retry declares less; only open questions need the capability now. */
  #unanswered(asks: readonly KeyedInputRequest[]): readonly KeyedInputRequest[] {
    let ordinal = this.#ordinal;
    return asks.filter(([key, ask]) => this.#recorded(key ?? `ask-${ordinal++}`, ask) === undefined);
  }

  #recorded(key: string, ask: InputRequest): { readonly value: unknown } | undefined {
    const known = this.#journal.answers.get(key);
    return known !== undefined && known.kind === kindOf(ask) ? known : undefined;
  }

  async inputResponses(asks: readonly (readonly [key: string, ask: InputRequest])[]): Promise<unknown[] | undefined> {
    const known = await Promise.all(asks.map(([key, ask]) => this.#recorded(key, ask) ?? this.#response(key, ask)));
    const complete = asks.every(([, ask], i) => known[i] !== undefined || isSkipped(this.#call, ask));
    return complete ? known.map((each) => each?.value) : undefined;
  }

  /** An answer that came with this round, recorded from now on; undefined when there is none that fits. */
  async #response(key: string, ask: InputRequest): Promise<{ readonly value: unknown } | undefined> {
    if (!Object.hasOwn(this.#responses, key)) return undefined;
    const read = await decodeResponse(ask, this.#responses[key]);
    if (read.state === 'wrong') {
      const error = wireErrors.invalidParams(`inputResponses[${JSON.stringify(key)}]: ${read.reason}`);
      this.#end(() => this.#call.fail(error));
      return never();
    }
    if (read.state !== 'ok') return undefined;
    this.#journal.answers.set(key, { kind: kindOf(ask), value: read.value as Json });
    return read;
  }

  async #answer(key: string, ask: InputRequest): Promise<unknown> {
    const response = await this.#response(key, ask);
    if (response !== undefined) return response.value;
    if (this.#pending.has(key))
      throw new InputRequestError('not-allowed-here', `Two questions share the key ${JSON.stringify(key)}`);
    this.#pending.set(key, { method: inputRequestMethods[ask.kind], params: encodeInputRequest(this.#call, ask, '') });
    this.#schedule();
    return never();
  }

  async step(key: string, run: () => unknown, once: boolean): Promise<unknown> {
    if (this.#closed) return never();
    if (this.#journal.steps.has(key)) return this.#journal.steps.get(key);
    const refusal = once ? await this.#use() : undefined;
    if (refusal !== undefined) {
      this.#end(() => this.#call.fail(refusal));
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
    this.#ordinal = 0;
  }

  cancelAll(): void {
    this.#closed = true;
  }

  /** Ends the round after one turn with no step running, so that questions asked together travel together. */
  #schedule(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    setTimeout(() => {
      this.#scheduled = false;
      if (this.#running > 0 || this.#closed || this.#call.settled) return;
      this.#end(() => this.#suspend());
    }, 0);
  }

  #end(how: () => void | Promise<void>): void {
    if (this.#closed) return;
    this.#closed = true;
    void how();
  }

  async #suspend(): Promise<void> {
    const call = this.#call;
    try {
      const state = await sealJournal(call, this.#journal);
      call.succeed(call.codec.inputRequired(Object.fromEntries(this.#pending), state), 'input-required');
    } catch (cause) {
      call.fail(cause instanceof WireError ? cause : wireErrors.internal(cause));
      call.server.logger?.error('a round of questions could not be sent', { cause: String(cause) });
    }
    call.abort('suspended');
  }
}
