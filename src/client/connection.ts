// One connection to a server over one transport: ids, pending requests, and where each arriving message goes.
// negotiation.ts opens it; call-runner.ts decides what follows when it breaks.

import type { Logger } from '../common/logger.ts';
import { WireError } from '../protocol/errors.ts';
import { classifyMessage, isErrorObject, isObject, notificationText } from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/meta.ts';
import type { MethodRow } from '../protocol/methods.ts';
import type { JsonObject, LogLevel, RequestId } from '../protocol/model.ts';
import type { ClientCodec, ServerFacts } from '../protocol/revisions/client-revisions.ts';
import { findRejectedLineId, idSearchBytes } from '../transports/rejected-line-id.ts';
import { OutgoingCall } from './calls/outgoing-call.ts';
import { PendingCalls } from './calls/pending.ts';
import { responseError } from './calls/response-error.ts';
import { type ParsedText, parseText } from './calls/result-text.ts';
import { type ClientError, clientErrors } from './errors.ts';
import type { InputResponder } from './input-requests.ts';
import { type ClientLimits, type Progress, resolveTimeLimits } from './options.ts';
import { ServerRequests } from './server-requests.ts';
import type { ClientTelemetry, RequestTrace } from './telemetry.ts';
import { sendMessage } from './transports/send-message.ts';
import type { Outgoing, Transport, TransportListener } from './transports/transport.ts';
import { clean } from './untrusted-text.ts';

/** Receives what the server sends unasked. */
export interface ClientConnectionEvents {
  /** `standing`: the long-lived request that it names. `during`: the call whose response stream brought it. */
  notified(
    method: string,
    params: JsonObject,
    standing: OutgoingCall | undefined,
    during: OutgoingCall | undefined,
  ): void;
  lost(connection: ClientConnection, error: ClientError): void;
  /** A user is asked: other time limits are paused until the returned function is called. */
  held(): () => void;
  /** Receives every message, for tracing. */
  readonly seen: ((direction: 'in' | 'out', text: string) => void) | undefined;
  readonly telemetry: ClientTelemetry | undefined;
  /** The server sent something that is not a protocol message. */
  unexpected(transport: Transport, what: string, kind: 'text' | 'message'): void;
}

const none: readonly never[] = [];
/** Stands for any call that has ended. */
const endedCall = new OutgoingCall({ name: '' }, '', () => undefined, {});

/** Requests and responses of one connection. */
export class ClientConnection implements TransportListener {
  readonly transport: Transport;
  /** The codec of the negotiated revision; undefined until the connection is open. */
  codec: ClientCodec | undefined;
  facts: ServerFacts | undefined;
  /** Which methods the server offers, as far as it was checked. */
  readonly offered = new Map<MethodRow, boolean>();
  /** Sent with every request, on revisions that have it per request. */
  logLevel: LogLevel | undefined;
  /** How many messages have arrived. */
  received = 0;

  readonly #limits: ClientLimits;
  readonly #logger: Logger;
  readonly #events: ClientConnectionEvents;
  readonly #pending: PendingCalls;
  readonly #serverRequests: ServerRequests;
  readonly #depth: { readonly maxDepth: number; readonly maxBatch: number };
  /** Calls that became tasks, by the token of their progress. */
  #kept: Map<number, OutgoingCall> | undefined;
  #over: ClientError | undefined;
  #retired = false;
  #ended: Promise<void> | undefined;
  #onEnded: () => void = () => {};
  /** How many invalid messages arrived, and the last of them: shown when nothing else explains a failure. */
  #unexpected = 0;
  #lastUnexpected = '';

  constructor(
    transport: Transport,
    inputs: InputResponder,
    limits: ClientLimits,
    events: ClientConnectionEvents,
    logger: Logger,
  ) {
    this.transport = transport;
    this.#limits = limits;
    this.#logger = logger;
    this.#events = events;
    this.#depth = { maxDepth: limits.maxDepth, maxBatch: Number.POSITIVE_INFINITY };
    this.#pending = new PendingCalls((call, afterMs) => this.#expire(call, afterMs));
    this.#serverRequests = new ServerRequests(
      inputs,
      this.#pending,
      logger,
      (text, droppable) => this.#dispatch({ text, droppable }),
      (request, serve) => this.#observeServing(request, serve),
      limits.maxMessageBytes,
    );
  }

  /** Requests are repeated in headers: what they address matters. */
  get mirrors(): boolean {
    return this.codec?.http.mirrored === true && this.transport.setBinding !== undefined;
  }

  /** Why nothing can be sent any more; undefined while it can. */
  get over(): ClientError | undefined {
    return this.#over;
  }

  /** Resolves when it has ended, from either side. */
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

  /** Sends the next request of a call. The outcome is reported to the call. */
  send(call: OutgoingCall, codec: ClientCodec = this.codec as ClientCodec): void {
    if (this.#over !== undefined) {
      call.fail(this.#over);
      return;
    }
    const { transport } = this;
    const { addressed } = call;
    const { timeoutMs, maxTimeoutMs } = resolveTimeLimits(call.options, this.#limits);
    call.timeoutMs = timeoutMs;
    call.maxTimeoutMs = maxTimeoutMs;
    call.lastProgress = undefined;
    this.#pending.add(call);
    if (this.#events.telemetry !== undefined) call.trace = this.#traceOf(call, this.#events.telemetry);
    const text = codec.request(call.id, call.method, call.allFields, call.metaWith(codec, this.logLevel));
    const mirrored =
      codec.http.mirrored && transport.setBinding !== undefined
        ? codec.headers(call.method, addressed?.name, addressed?.headerParams ?? none, addressed?.args ?? {})
        : undefined;
    const own = call.options.headers;
    const headers = own === undefined ? mirrored : [...(mirrored ?? none), ...Object.entries(own).flat()];
    this.#dispatch({ text, id: call.id, method: call.method, headers, standing: call.longLived });
  }

  #traceOf({ method, id, addressed, options }: OutgoingCall, telemetry: ClientTelemetry): RequestTrace {
    const { name, args } = addressed ?? { name: undefined, args: undefined };
    const { codec, transport } = this;
    return telemetry.sending({ method, name, id, args, meta: options.meta ?? {}, revision: codec?.date, transport });
  }

  #observeServing<T>(
    { id, method, params }: { readonly id: RequestId; readonly method: string; readonly params: JsonObject },
    serve: () => Promise<T>,
  ): Promise<T> {
    const { telemetry } = this.#events;
    if (telemetry === undefined) return serve();
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    const { codec, transport } = this;
    return telemetry.serving({ id, method, name: undefined, meta, revision: codec?.date, transport }, serve);
  }

  /** Cancels the request of a call. */
  cancel(call: OutgoingCall, reason: string): void {
    if (call.id === 0 || this.#pending.take(call.id) === undefined) return;
    this.#sendCancelled(call.id, reason);
    call.id = 0;
  }

  /** Sends a notification, where the revision has it. */
  notify(method: string, params?: JsonObject): void {
    const text = this.#over === undefined ? this.codec?.notification(method, params) : undefined;
    if (text !== undefined) this.#dispatch({ text, method });
  }

  /** Sends a notification that the protocol does not define. */
  notifyOther(method: string, params: JsonObject | undefined): void {
    if (this.#over === undefined) this.#dispatch({ text: notificationText(method, params), method });
  }

  #dispatch(message: Outgoing): void {
    this.#events.seen?.('out', message.text);
    sendMessage(this.transport, message, this.#notSent);
  }

  /** The transport should have reported it. Other messages may still be sent, so the connection is not over. */
  readonly #notSent = ({ id, method = 'a response' }: Outgoing, cause: unknown): void => {
    if (id !== undefined) this.fail(id, clientErrors.notSent(this.transport.address, method, cause));
    else this.#logger.warn(`${method} could not be sent`, { error: cause });
  };

  /** Ends it from our side; the server may take `graceMs` for its own end. */
  async close(reason: ClientError = clientErrors.closed(this.transport.address), graceMs?: number): Promise<void> {
    this.#end(reason);
    await this.transport.close(graceMs);
  }

  /** Sends nothing more; closes once the open requests have ended. */
  retire(): void {
    this.#retired = true;
    this.#closeIfRetired();
  }

  #closeIfRetired(): void {
    if (this.#retired && this.#pending.size === 0) void this.close();
  }

  // The transport's side.

  parse(text: string): ParsedText {
    return parseText(text, this.#depth);
  }

  receive(text: string, during?: number, { message, found }: ParsedText = this.parse(text)): void {
    this.received++;
    this.#events.seen?.('in', text);
    if (found !== undefined) this.#answer(message as JsonObject, found.id, text, found.text);
    else if (message instanceof WireError) this.#unreadable(text, message);
    else if (!Array.isArray(message)) this.#take(message, text, during);
    else if (this.codec?.batches === true) for (const each of message) this.#take(each, text, during);
    else this.#unexpectedText(text);
  }

  fail(id: number, error: ClientError): void {
    const call = this.#pending.take(id);
    if (call === undefined) return;
    call.id = 0;
    call.fail(error);
    this.#closeIfRetired();
  }

  isPending(id: number): boolean {
    return this.#pending.get(id) !== undefined;
  }

  lost(error: ClientError): void {
    if (this.#over !== undefined) return;
    this.#end(error);
    this.#events.lost(this, error);
    void this.transport.close();
  }

  pauseTimeouts(): () => void {
    const releases = [this.#pending.hold(), this.#events.held()];
    return () => {
      for (const release of releases.splice(0)) release();
    };
  }

  reportUnexpected(what: string, kind: 'text' | 'message' = 'text'): void {
    this.#unexpected++;
    this.#lastUnexpected = what;
    this.#events.unexpected(this.transport, what, kind);
  }

  /** What else was noticed, as the end of a sentence. */
  get hint(): string {
    if (this.#unexpected === 0) return '';
    const times =
      this.#unexpected === 1 ? 'one thing that is not a message' : `${this.#unexpected} things that are not messages`;
    return `; it sent ${times}, the last: ${this.#lastUnexpected}`;
  }

  // Arriving messages.

  #take(message: unknown, text: string, during: number | undefined): void {
    const { jsonrpc, method, id } = (message ?? {}) as JsonObject;
    if (jsonrpc === '2.0' && method === undefined && typeof id === 'number')
      this.#answer(message as JsonObject, id, text);
    else this.#sort(message, text, during);
  }

  /** By far the most common message: a response. */
  #answer(message: JsonObject, id: number, text: string, resultText?: string): void {
    const call = this.#pending.take(id);
    if (call === undefined) {
      // A late response to a cancelled request is expected; a response to an unknown id is not.
      if (!this.#pending.wasUsed(id)) this.reportUnexpected(`a response to id ${id}, which is unknown`, 'message');
      return;
    }
    call.id = 0;
    if (call.options.onResponse !== undefined) call.showResponse(text, resultText);
    const { result, error } = message;
    if (typeof result === 'object' && result !== null && !Array.isArray(result) && error === undefined) {
      const reading = this.codec === undefined ? undefined : this.codec.decodeResult(result as JsonObject);
      if (reading === undefined || reading.kind === 'complete') call.succeed(result as JsonObject);
      else if (reading.kind === 'input-required') call.requireInput(reading);
      else if (reading.kind === 'task') call.createdTask(result as JsonObject);
      else call.fail(clientErrors.invalidResult(call.method, reading.why));
    } else call.fail(responseError(call.method, message));
    if (this.#retired) this.#closeIfRetired();
  }

  #sort(message: unknown, text: string, during: number | undefined): void {
    const sorted = classifyMessage(message);
    // What belongs to a call that has ended belongs to no other.
    const call = during === undefined ? undefined : (this.#pending.get(during) ?? endedCall);
    if (sorted.kind === 'request') {
      const unexpected = this.#serverRequests.serve(sorted.message, this.codec, call?.options, text.length);
      if (unexpected !== undefined) this.reportUnexpected(unexpected, 'message');
    } else if (sorted.kind === 'notification') this.#notified(sorted.message.method, sorted.message.params ?? {}, call);
    else if (sorted.kind === 'response') this.#unmatched(sorted.message);
    else this.#unexpectedText(text);
  }

  /** A response whose id is not one of ours, or an error about something that the server could not read. */
  #unmatched({ id, error }: { readonly id?: RequestId | null; readonly error?: unknown }): void {
    // Some servers answer a first request that they do not understand without its id. Nothing else is open then.
    const first = this.codec === undefined && (id === undefined || id === null) ? this.#pending.get(1) : undefined;
    if (first !== undefined && isErrorObject(error)) {
      return this.fail(first.id, clientErrors.serverRejected(first.method, error));
    }
    const what = isErrorObject(error) ? `the error "${clean(error.message)}" (${error.code})` : 'a response';
    this.reportUnexpected(
      id === undefined || id === null ? `${what} without an id` : `${what} to id ${JSON.stringify(id)}`,
      'message',
    );
  }

  #notified(method: string, params: JsonObject, during: OutgoingCall | undefined): void {
    if (method === 'notifications/progress') this.#progress(params);
    else if (method === 'notifications/cancelled' && this.#serverRequests.cancel(params['requestId'])) return;
    else {
      const meta = params['_meta'];
      const tag = isObject(meta) ? meta[metaKeys.subscriptionId] : undefined;
      this.#events.notified(method, params, typeof tag === 'number' ? this.#pending.get(tag) : undefined, during);
    }
  }

  #progress(params: JsonObject): void {
    const { progressToken, progress } = params;
    if (typeof progressToken !== 'number') return;
    const call = this.#pending.get(progressToken) ?? this.#kept?.get(progressToken);
    if (call === undefined || typeof progress !== 'number') return;
    // Progress must increase (every revision says so); otherwise it could keep a stuck call alive.
    if (call.lastProgress !== undefined && !(progress > call.lastProgress)) return;
    call.lastProgress = progress;
    this.#pending.extend(call);
    call.report(params as unknown as Progress);
  }

  /** Progress of a task is reported under the token of the request that created it. */
  keepProgress(call: OutgoingCall): () => void {
    const { progressToken } = call;
    this.#kept ??= new Map();
    this.#kept.set(progressToken, call);
    return () => this.#kept?.delete(progressToken);
  }

  /** A subscription has begun: it has no time limit any more. */
  exempt(call: OutgoingCall): void {
    this.#pending.exempt(call);
  }

  /** A call whose response cannot be decoded fails now, not at its time limit. */
  #unreadable(text: string, error: WireError): void {
    const { id, isResponse } = findRejectedLineId(text.slice(0, idSearchBytes), text.slice(-idSearchBytes));
    const call = isResponse && typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (call === undefined) this.#unexpectedText(text);
    else this.fail(call.id, clientErrors.invalidMessage(call.method, clean(error.message)));
  }

  #unexpectedText(text: string): void {
    this.reportUnexpected(`"${clean(text, 120)}"`, /^\s*[[{]/.test(text) ? 'message' : 'text');
  }

  // Ends.

  #expire(call: OutgoingCall, afterMs: number): void {
    this.#sendCancelled(call.id, 'timeout');
    call.id = 0;
    call.fail(clientErrors.timeout(call.method, afterMs, this.hint, this.transport.stderr));
  }

  #sendCancelled(id: number, reason: string): void {
    const { codec, transport } = this;
    // Before a revision is negotiated nothing can be cancelled: `initialize` must not be.
    if (codec !== undefined && !(codec.http.closingCancels && transport.setBinding !== undefined)) {
      this.#dispatch({ text: codec.cancelled(id, reason), method: 'notifications/cancelled' });
    }
    transport.abandon?.(id);
  }

  #end(reason: ClientError): void {
    if (this.#over !== undefined) return;
    this.#over = reason;
    this.#onEnded();
    this.#serverRequests.close();
    for (const call of this.#pending.drain()) {
      call.id = 0;
      call.fail(reason);
    }
  }
}
