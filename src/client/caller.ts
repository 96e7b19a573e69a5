// Sees calls through: over a conversation that may have to be opened again, rounds of input, and repetitions where they
// do no harm. One per client; it owns the conversation of the moment.

import { errorRows } from '../protocol/errors.ts';
import type { Params } from '../protocol/json-rpc.ts';
import type { Dialect, Reading } from '../protocol/revisions/client-vocabulary.ts';
import type { Call, CallOwner } from './call.ts';
import type { Conversation } from './conversation.ts';
import type { Deadlines } from './deadline.ts';
import { ClientError, clientErrors } from './errors.ts';
import type { Inputs } from './inputs.ts';
import { pause, pauseMs, type SettledRetry, transience, whileNeither } from './retry.ts';
import { answerRound, linksToVisit, visitLinks } from './rounds.ts';

/** What a caller is put together from. */
export interface CallerOptions {
  readonly address: string;
  /** Opens a new conversation; undefined where a lost one stays lost. */
  readonly reopen: ((signal: AbortSignal) => Promise<Conversation>) | undefined;
  readonly inputs: Inputs;
  readonly retry: SettledRetry;
  readonly maxRounds: number;
  /** How long a call waits for an answer, where it does not say. */
  readonly timeoutMs: number;
  readonly deadlines: Deadlines;
  /** A conversation took the place of a lost one. */
  readonly onRestored: (conversation: Conversation) => void;
}

/** How often a new conversation is tried before those who wait for it are told. */
const maxDials = 3;

/** Takes calls and brings each to its end. */
export class Caller implements CallOwner {
  readonly #options: CallerOptions;
  readonly #closing = new AbortController();
  #conversation: Conversation | undefined;
  /** Those that only finish what they have begun. */
  readonly #retired = new Set<Conversation>();
  #reopening: Promise<Conversation> | undefined;

  constructor(conversation: Conversation, options: CallerOptions) {
    this.#conversation = conversation;
    this.#options = options;
  }

  /** The conversation of the moment; undefined while there is none. */
  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  start<T>(call: Call): Promise<T> {
    const result = call.begin<T>(this, this.#withdraw);
    if (!call.ended) this.#send(call);
    return result;
  }

  /** A conversation to speak over, opened anew if need be. */
  ready(): Promise<Conversation> {
    const conversation = this.#conversation;
    if (this.closed) return Promise.reject(clientErrors.closed(this.#options.address));
    if (conversation !== undefined && conversation.over === undefined) return Promise.resolve(conversation);
    return this.#reopen(conversation?.over);
  }

  async close(graceMs?: number): Promise<void> {
    this.#closing.abort(clientErrors.closed(this.#options.address));
    const open = [...this.#retired, ...(this.#conversation === undefined ? [] : [this.#conversation])];
    await Promise.allSettled([
      ...open.map((conversation) => conversation.close(undefined, graceMs)),
      this.#reopening?.then((late) => late.close(undefined, graceMs)),
    ]);
  }

  // What calls report.

  inputRequired(call: Call, reading: Extract<Reading, { kind: 'input-required' }>): void {
    void this.#round(call, reading);
  }

  failed(call: Call, error: ClientError): void {
    if (this.closed) call.reject(clientErrors.closed(this.#options.address));
    else if (error.code === 'session-lost' && call.renewals++ === 0) {
      // The server refused without looking at it, so that this repeats nothing.
      this.#retire();
      this.#send(call);
    } else if (error.said?.code === errorRows.headerMismatch.code && call.mend !== undefined) void this.#mend(call);
    else {
      const links = linksToVisit(error);
      if (links !== undefined) void this.#visit(call, links, error);
      else if (this.#mayRepeat(call, error)) void this.#repeat(call, error);
      else call.reject(error);
    }
  }

  // How they go on.

  #send(call: Call): void {
    const conversation = this.#conversation;
    if (conversation !== undefined && conversation.over === undefined) {
      call.attempts++;
      call.conversation = conversation;
      conversation.send(call);
      return;
    }
    this.#sendLater(call);
  }

  /** A call that waits for a new conversation waits no longer than for an answer. */
  #sendLater(call: Call): void {
    const { timeoutMs = this.#options.timeoutMs } = call.options;
    const stop = this.#options.deadlines.start(timeoutMs, () => {
      call.reject(clientErrors.timeout(call.method, timeoutMs, '; the connection was lost and is not back'));
    });
    this.ready().then(
      () => {
        stop();
        if (!call.ended) this.#send(call);
      },
      (error) => {
        stop();
        call.reject(error);
      },
    );
  }

  #withdraw = (call: Call): void => {
    call.conversation?.withdraw(call, 'cancelled by the caller');
  };

  #mayRepeat(call: Call, error: ClientError): boolean {
    const kind = transience(error);
    if (kind === undefined || call.standing || call.attempts >= this.#options.retry.maxAttempts) return false;
    return kind === 'unsent' || call.idempotent;
  }

  async #repeat(call: Call, error: ClientError): Promise<void> {
    call.stopClock();
    try {
      const ms = pauseMs(call.attempts + 1, this.#options.retry, error);
      await whileNeither(call.options.signal, this.#closing.signal, (signal) => pause(ms, signal));
      if (!call.ended) this.#send(call);
    } catch {
      call.reject(this.closed ? clientErrors.closed(this.#options.address) : error);
    }
  }

  async #mend(call: Call): Promise<void> {
    const { mend } = call;
    call.mend = undefined;
    try {
      await mend?.(call);
      if (!call.ended) this.#send(call);
    } catch (error) {
      call.reject(error);
    }
  }

  async #round(call: Call, round: Extract<Reading, { kind: 'input-required' }>): Promise<void> {
    await this.#between(call, async (dialect, signal) => {
      call.roundFields = await answerRound(call.method, round, this.#options.inputs, dialect, signal);
    });
  }

  /** Links are an error's, not a result's: the request is simply sent again once they were visited. */
  async #visit(call: Call, links: readonly Params[], error: ClientError): Promise<void> {
    await this.#between(call, async (dialect, signal) => {
      if (!(await visitLinks(call.method, links, this.#options.inputs, dialect, signal))) throw error;
      call.roundFields = '';
    });
  }

  /** One more round: does what is to be done before the request is sent again. */
  async #between(call: Call, prepare: (dialect: Dialect, signal: AbortSignal) => Promise<void>): Promise<void> {
    const { maxRounds, address } = this.#options;
    const dialect = call.conversation?.dialect;
    call.stopClock();
    try {
      if (dialect === undefined) throw clientErrors.closed(address);
      if (++call.rounds > maxRounds) throw clientErrors.tooManyRounds(call.method, maxRounds);
      await whileNeither(call.options.signal, this.#closing.signal, (signal) => prepare(dialect, signal));
      if (call.ended) return;
      call.attempts = 0;
      this.#send(call);
    } catch (error) {
      call.reject(this.closed ? clientErrors.closed(address) : error);
    }
  }

  // The conversation of the moment.

  /** Lets the present conversation finish what it has begun, and speaks over a new one from here on. */
  #retire(): void {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    this.#conversation = undefined;
    this.#retired.add(conversation);
    void conversation.ended.then(() => this.#retired.delete(conversation));
    conversation.retire();
  }

  #reopen(lost: ClientError | undefined): Promise<Conversation> {
    const { reopen, address } = this.#options;
    if (reopen === undefined) return Promise.reject(lost ?? clientErrors.closed(address));
    this.#reopening ??= this.#dial(reopen).finally(() => {
      this.#reopening = undefined;
    });
    return this.#reopening;
  }

  async #dial(reopen: (signal: AbortSignal) => Promise<Conversation>): Promise<Conversation> {
    const { signal } = this.#closing;
    for (let attempt = 1; ; attempt++) {
      try {
        const conversation = await reopen(signal);
        if (signal.aborted) {
          await conversation.close();
          throw signal.reason;
        }
        this.#conversation = conversation;
        this.#options.onRestored(conversation);
        return conversation;
      } catch (error) {
        if (signal.aborted || attempt >= maxDials || !isWorthAnotherDial(error)) throw error;
        await pause(pauseMs(attempt + 1, { baseDelayMs: 200, maxDelayMs: 5_000, maxAttempts: maxDials }), signal);
      }
    }
  }
}

function isWorthAnotherDial(error: unknown): boolean {
  return error instanceof ClientError && (error.code === 'connect-timeout' || transience(error) !== undefined);
}
