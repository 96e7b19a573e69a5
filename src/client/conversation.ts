// One conversation with a server over one transport: ids, who waits for what, and where each arriving message goes.
// How it begins is opening.ts; what follows when it breaks is caller.ts.

import { WireError } from '../protocol/errors.ts';
import { isObject, type JsonRpcErrorObject, parseMessage, sortMessage } from '../protocol/json-rpc.ts';
import type { Logger } from '../protocol/log.ts';
import { metaKeys } from '../protocol/meta.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { LogLevel, RequestId } from '../protocol/model.ts';
import type { Dialect, ServerFacts } from '../protocol/revisions/client-vocabulary.ts';
import { clueBytes, findClue } from '../transports/line-clue.ts';
import type { Call, Fields } from './call.ts';
import { type ClientError, clientErrors } from './errors.ts';
import { clean } from './foreign-text.ts';
import type { Inputs } from './inputs.ts';
import type { Limits, Progress } from './options.ts';
import { PendingCalls } from './pending.ts';
import { ServerRequests } from './server-requests.ts';
import type { Outgoing, Transport, TransportListener } from './transports/transport.ts';

/** Who hears what the server says unasked. */
export interface ConversationEvents {
  notified(method: string, params: Fields, standing: Call | undefined): void;
  lost(conversation: Conversation, error: ClientError): void;
  /** A person is asked; what else has a time limit waits until the returned function is called. */
  held(): () => void;
  /** Sees every message, where somebody wants to. */
  readonly seen: ((direction: 'in' | 'out', text: string) => void) | undefined;
}

const none: readonly never[] = [];

/** Answers and questions of one connection. */
export class Conversation implements TransportListener {
  readonly transport: Transport;
  /** What is spoken; undefined until the conversation is open. */
  dialect: Dialect | undefined;
  facts: ServerFacts | undefined;
  /** Which methods the server offers, as far as somebody asked. */
  readonly offered = new Map<MethodRow, boolean>();
  /** Asked for with every request, on revisions that ask so. */
  logLevel: LogLevel | undefined;

  readonly #limits: Limits;
  readonly #events: ConversationEvents;
  readonly #logger: Logger;
  readonly #pending: PendingCalls;
  readonly #questions: ServerRequests;
  readonly #depth: { readonly maxDepth: number; readonly maxBatch: number };
  #over: ClientError | undefined;
  #retired = false;
  #ended: Promise<void> | undefined;
  #onEnded: () => void = () => {};
  /** Things that were no messages, and the last of them: told when nothing else explains a failure. */
  #oddities = 0;
  #lastOddity = '';

  constructor(transport: Transport, inputs: Inputs, limits: Limits, events: ConversationEvents, logger: Logger) {
    this.transport = transport;
    this.#limits = limits;
    this.#events = events;
    this.#logger = logger;
    this.#depth = { maxDepth: limits.maxDepth, maxBatch: Number.POSITIVE_INFINITY };
    this.#pending = new PendingCalls((call, afterMs) => this.#expire(call, afterMs));
    this.#questions = new ServerRequests(inputs, this.#pending, logger, (text) => this.#dispatch({ text }));
  }

  /** Requests are repeated in headers: what they address matters. */
  get mirrors(): boolean {
    return this.dialect?.http.mirrored === true && this.transport.settle !== undefined;
  }

  /** Why nothing can be sent any more; undefined while it can. */
  get over(): ClientError | undefined {
    return this.#over;
  }

  /** Resolves when it is over, whoever ended it. */
  get ended(): Promise<void> {
    return (this.#ended ??= new Promise((resolve) => {
      if (this.#over !== undefined) resolve();
      else this.#onEnded = resolve;
    }));
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  // Sending.

  /** Sends the next request of a call. The call hears the outcome. */
  send(call: Call, dialect: Dialect = this.dialect as Dialect): void {
    if (this.#over !== undefined) {
      call.fail(this.#over);
      return;
    }
    const { transport } = this;
    const { addressed } = call;
    call.timeoutMs = call.options.timeoutMs ?? this.#limits.timeoutMs;
    call.maxTimeoutMs = Math.max(call.options.maxTimeoutMs ?? this.#limits.maxTimeoutMs, call.timeoutMs);
    call.lastProgress = undefined;
    this.#pending.add(call);
    const fields = call.roundFields === '' ? call.fields : joinFields(call.fields, call.roundFields);
    const text = dialect.request(call.id, call.method, fields, call.metaWith(this.logLevel));
    const headers =
      dialect.http.mirrored && transport.settle !== undefined
        ? dialect.headers(call.method, addressed?.name, addressed?.headerParams ?? none, addressed?.args ?? {})
        : undefined;
    this.#dispatch({ text, id: call.id, method: call.method, headers, standing: call.standing });
  }

  /** Takes a request back: nobody waits for its answer any more. */
  withdraw(call: Call, reason: string): void {
    if (call.id === 0 || this.#pending.take(call.id) === undefined) return;
    this.#tellWithdrawn(call.id, reason);
    call.id = 0;
  }

  /** Sends a notification, where the revision has it. */
  notify(method: string, params?: Fields): void {
    const text = this.#over === undefined ? this.dialect?.notification(method, params) : undefined;
    if (text !== undefined) this.#dispatch({ text, method });
  }

  #dispatch(message: Outgoing): void {
    this.#events.seen?.('out', message.text);
    this.transport.send(message);
  }

  /** Ends it from our side; the server may take `graceMs` for its own end. */
  async close(reason: ClientError = clientErrors.closed(this.transport.address), graceMs?: number): Promise<void> {
    this.#end(reason);
    await this.transport.close(graceMs);
  }

  /** Sends nothing more; closes once what is under way has ended. */
  retire(): void {
    this.#retired = true;
    this.#closeIfRetired();
  }

  #closeIfRetired(): void {
    if (this.#retired && this.#pending.size === 0) void this.close();
  }

  // The transport's side.

  receive(text: string): void {
    this.#events.seen?.('in', text);
    const message = parseMessage(text, this.#depth);
    if (message instanceof WireError) this.#unreadable(text, message);
    else if (!Array.isArray(message)) this.#take(message, text);
    else if (this.dialect?.batches === true) for (const each of message) this.#take(each, text);
    else this.#odd(text);
  }

  fail(id: number, error: ClientError): void {
    const call = this.#pending.take(id);
    if (call === undefined) return;
    call.id = 0;
    call.fail(error);
    this.#closeIfRetired();
  }

  waits(id: number): boolean {
    return this.#pending.get(id) !== undefined;
  }

  lost(error: ClientError): void {
    if (this.#over !== undefined) return;
    this.#end(error);
    this.#events.lost(this, error);
    void this.transport.close();
  }

  hold(): () => void {
    this.#pending.hold();
    const release = this.#events.held();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#pending.release();
      release();
    };
  }

  note(what: string): void {
    this.#oddities++;
    this.#lastOddity = what;
    this.#logger.warn('the server sent something that is no message', { server: this.transport.address, what });
  }

  /** What else was noticed, as the end of a sentence. */
  get hint(): string {
    if (this.#oddities === 0) return '';
    const times =
      this.#oddities === 1 ? 'one thing that is no message' : `${this.#oddities} things that are no messages`;
    return `; it sent ${times}, the last: ${this.#lastOddity}`;
  }

  // Arriving messages.

  #take(message: unknown, text: string): void {
    const { jsonrpc, method, id } = (message ?? {}) as Fields;
    if (jsonrpc === '2.0' && method === undefined && typeof id === 'number') this.#answer(message as Fields, id);
    else this.#sort(message, text);
  }

  /** The commonest message by far: an answer. */
  #answer(message: Fields, id: number): void {
    const call = this.#pending.take(id);
    if (call === undefined) {
      // A late answer to what was cancelled is no news; an answer to what was never asked is.
      if (!this.#pending.wasUsed(id)) this.note(`an answer to id ${id}, which was never asked`);
      return;
    }
    call.id = 0;
    const { result, error } = message;
    if (typeof result === 'object' && result !== null && !Array.isArray(result) && error === undefined) {
      const reading = this.dialect === undefined ? undefined : this.dialect.read(result as Fields);
      if (reading === undefined || reading.kind === 'complete') call.succeed(result as Fields);
      else if (reading.kind === 'input-required') call.askForInput(reading);
      else call.fail(clientErrors.invalidResult(call.method, reading.why));
    } else call.fail(this.#refusal(call.method, message));
    if (this.#retired) this.#closeIfRetired();
  }

  #refusal(method: string, { result, error }: Fields): ClientError {
    if (error !== undefined && result !== undefined) {
      return clientErrors.invalidMessage(method, 'it carries both a result and an error');
    }
    if (isErrorObject(error)) return clientErrors.refused(method, error);
    return clientErrors.invalidMessage(
      method,
      error === undefined ? 'its result is not an object' : 'its error has no code and message',
    );
  }

  #sort(message: unknown, text: string): void {
    const sorted = sortMessage(message);
    if (sorted.kind === 'request')
      this.#question(sorted.message.id, sorted.message.method, sorted.message.params ?? {});
    else if (sorted.kind === 'notification') this.#notified(sorted.message.method, sorted.message.params ?? {});
    else if (sorted.kind === 'response') this.#unmatched(sorted.message.id, sorted.message.error);
    else this.#odd(text);
  }

  /** An answer whose id is none of ours, or an error about something the server could not read. */
  #unmatched(id: RequestId | null | undefined, error: unknown): void {
    const words = isErrorObject(error) ? `the error "${clean(error.message)}" (${error.code})` : 'an answer';
    this.note(id === undefined || id === null ? `${words} without an id` : `${words} to id ${JSON.stringify(id)}`);
  }

  #question(id: RequestId, method: string, params: Fields): void {
    if (this.dialect?.asks === 'retry')
      this.note(`a request (${clean(method, 60)}), which this revision does not have`);
    else this.#questions.serve(id, method, params, this.dialect);
  }

  #notified(method: string, params: Fields): void {
    if (method === 'notifications/progress') this.#progress(params);
    else if (method === 'notifications/cancelled' && this.#questions.cancel(params['requestId'])) return;
    else {
      const meta = params['_meta'];
      const tag = isObject(meta) ? meta[metaKeys.subscriptionId] : undefined;
      this.#events.notified(method, params, typeof tag === 'number' ? this.#pending.get(tag) : undefined);
    }
  }

  #progress(params: Fields): void {
    const { progressToken, progress } = params;
    const call = typeof progressToken === 'number' ? this.#pending.get(progressToken) : undefined;
    if (call === undefined || typeof progress !== 'number') return;
    // Progress must increase (every revision says so); what does not would keep a stuck call alive for nothing.
    if (call.lastProgress !== undefined && !(progress > call.lastProgress)) return;
    call.lastProgress = progress;
    this.#pending.extend(call);
    call.report(params as unknown as Progress);
  }

  /** A subscription has begun: it has no time limit any more. */
  exempt(call: Call): void {
    this.#pending.exempt(call);
  }

  /** Whoever waits for an answer that can not be read learns it now, not when the time is over. */
  #unreadable(text: string, error: WireError): void {
    const { id, answer } = findClue(text.slice(0, clueBytes), text.slice(-clueBytes));
    const call = answer && typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (call === undefined) this.#odd(text);
    else this.fail(call.id, clientErrors.invalidMessage(call.method, clean(error.message)));
  }

  #odd(text: string): void {
    this.note(`"${clean(text, 120)}"`);
  }

  // Ends.

  #expire(call: Call, afterMs: number): void {
    this.#tellWithdrawn(call.id, 'timeout');
    call.id = 0;
    call.fail(clientErrors.timeout(call.method, afterMs, this.hint, this.transport.stderr));
  }

  #tellWithdrawn(id: number, reason: string): void {
    const { dialect, transport } = this;
    // Before anything is settled there is nothing that could be cancelled: `initialize` never may be.
    if (dialect !== undefined && !(dialect.http.closingCancels && transport.settle !== undefined)) {
      this.#dispatch({ text: dialect.cancelled(id, reason), method: 'notifications/cancelled' });
    }
    transport.forget?.(id);
  }

  #end(reason: ClientError): void {
    if (this.#over !== undefined) return;
    this.#over = reason;
    this.#onEnded();
    this.#questions.close();
    for (const call of this.#pending.drain()) {
      call.id = 0;
      call.fail(reason);
    }
  }
}

function joinFields(left: string, right: string): string {
  return left === '' ? right : `${left},${right}`;
}

function isErrorObject(error: unknown): error is JsonRpcErrorObject {
  return isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string';
}
