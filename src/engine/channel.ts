// One connection as the engine sees it: takes messages, finds out who speaks, starts calls, and keeps track of what is
// open in either direction. What a method does is in features/; how it is spelled is in protocol/revisions/.

import { WireError, wireErrors } from '../protocol/errors.ts';
import type { Inbound, Outlet, Peer, SessionChannel } from '../protocol/exchange.ts';
import {
  classifyMessage,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  parseMessage,
  requestText,
} from '../protocol/json-rpc.ts';
import { methodRow } from '../protocol/methods.ts';
import type { RequestId } from '../protocol/model.ts';
import type { Codec } from '../protocol/revisions/index.ts';
import { checkLengths, checkPhase, findFeature, isLong } from './admission.ts';
import { BatchOutlet } from './batch.ts';
import { EngineCall, type OwnChannel } from './call.ts';
import { CallQueue } from './call-queue.ts';
import { ClientRequests } from './client-requests.ts';
import type { Call, Feature } from './contract.ts';
import { InputRequestError } from './input-requests/input-request-error.ts';
import { ObservedOutlet } from './observed-outlet.ts';
import { smallRequest } from './pending-requests.ts';
import { runCall } from './run-call.ts';
import type { ServerState } from './server-state.ts';
import type { Session } from './session.ts';
import { SessionChanges } from './session-changes.ts';

export class EngineChannel implements SessionChannel, OwnChannel {
  readonly server: ServerState;
  /** Who speaks: the last one to bring a message, where messages say so themselves. */
  peer: Peer;
  /** Carries what no request asked for. Without one every message brings its own way back. */
  #outlet: Outlet | undefined;
  /** The same, seen by observers; made when there is one, which may be long after the connection was opened. */
  #observed: Outlet | undefined;
  /** The key of the session to come, where the transport has named it already. */
  readonly key: string | undefined;
  #inFlight: Map<RequestId, EngineCall> | undefined;
  session: Session | undefined;
  /** No more input will come; what begins now ends at once. */
  draining = false;
  #requests: ClientRequests | undefined;
  /** Delivers changes to the session, while it has an outlet or subscriptions. */
  #changes: SessionChanges | undefined;
  /** Length of the text of the message at hand. */
  #length = 0;
  #idle: (() => void) | undefined;
  /** Where calls wait when a profile runs only so many at a time. */
  #queue: CallQueue | undefined;

  constructor(server: ServerState, peer: Peer, outlet: Outlet | undefined, key: string | undefined) {
    this.server = server;
    this.peer = peer;
    this.#outlet = outlet;
    this.key = key;
  }

  #subscribed(outlet: Outlet): Outlet {
    const { sent } = this.server.observers;
    return sent.length === 0 ? outlet : new ObservedOutlet(outlet, this.peer, sent);
  }

  /** The way out that all messages share. */
  get #shared(): Outlet | undefined {
    const outlet = this.#outlet;
    if (outlet === undefined || this.server.observers.sent.length === 0) return outlet;
    return (this.#observed ??= this.#subscribed(outlet));
  }

  /** The way back of one message: its own, or the one all share. */
  #back(inbound: Inbound | undefined): Outlet {
    if (inbound?.peer !== undefined) this.peer = inbound.peer;
    if (inbound?.outlet !== undefined) return this.#subscribed(inbound.outlet);
    const shared = this.#shared;
    if (shared === undefined) throw new TypeError('A message on a channel without an outlet must bring its own');
    return shared;
  }

  /** Calls that did not end in the turn they began in. Most do, and then nothing is kept of them. */
  get inFlight(): Map<RequestId, EngineCall> {
    return (this.#inFlight ??= new Map());
  }

  get openSubscriptions(): number {
    let open = 0;
    for (const call of this.inFlight.values()) if (call.onDrain !== undefined) open++;
    return open;
  }

  get busy(): boolean {
    return (this.#inFlight?.size ?? 0) > 0 || (this.#requests?.size ?? 0) > 0;
  }

  receiveText(text: string, inbound?: Inbound): void {
    const message = parseMessage(text, this.server.limits);
    if (message instanceof WireError) this.reject(message, undefined, inbound);
    else this.#receive(message, inbound, text.length);
  }

  receive(value: unknown, inbound?: Inbound): void {
    this.#receive(value, inbound, inbound?.length ?? 0);
  }

  #receive(value: unknown, inbound: Inbound | undefined, length: number): void {
    this.#length = length;
    const outlet = this.#back(inbound);
    for (const watch of this.server.observers.received) watch(value, this.peer);
    this.#take(value, outlet, inbound);
  }

  #take(value: unknown, outlet: Outlet, inbound: Inbound | undefined): void {
    const message = value as JsonRpcRequest;
    // The commonest message by far, told at a glance; everything else is sorted with care.
    if (
      typeof value === 'object' &&
      value !== null &&
      message.jsonrpc === '2.0' &&
      typeof message.method === 'string' &&
      isRequestId(message.id) &&
      (message.params === undefined ||
        (typeof message.params === 'object' && message.params !== null && !Array.isArray(message.params)))
    ) {
      this.#request(message, outlet, inbound);
    } else if (Array.isArray(value)) this.#batch(value, outlet);
    else this.#other(value, outlet, inbound);
  }

  reject(error: Error, id?: RequestId, inbound?: Inbound): void {
    const wire = error instanceof WireError ? error : wireErrors.internal(error);
    this.#reject(this.#codecFor, id, wire, undefined, this.#back(inbound));
  }

  /** Who speaks when a message does not say: the session, or whoever speaks before there is one. */
  get #codecFor(): Codec {
    return this.session?.codec ?? this.server.revisions.defaultCodec;
  }

  #reject(speaker: Codec, id: RequestId | undefined, error: WireError, message: unknown, outlet: Outlet): void {
    // An answer with the id of a request in flight would settle that one instead; a long id is not sent back.
    const free = id === undefined || isLong(id, this.server.limits) || this.inFlight.has(id) ? undefined : id;
    outlet.end(speaker.error(free, error), speaker.statusOf(error), error.http?.headers);
    const code = error.code ?? speaker.codeOf(error.kind);
    for (const watch of this.server.observers.rejected) watch({ message, peer: this.peer, error, code });
  }

  #other(value: unknown, outlet: Outlet, inbound: Inbound | undefined): void {
    const header = inbound?.header;
    const sorted = classifyMessage(value);
    switch (sorted.kind) {
      case 'request':
        return this.#request(sorted.message, outlet, inbound);
      case 'notification': {
        const flaw = header && this.server.revisions.notificationHeaderError(sorted.message, header);
        if (flaw) return this.#reject(this.server.revisions.newestStateless, undefined, flaw, value, outlet);
        this.#notification(sorted.message);
        return outlet.end(undefined);
      }
      case 'response':
        if (header !== undefined && this.session === undefined) {
          return this.#reject(
            this.server.revisions.newestStateless,
            undefined,
            wireErrors.responseWithoutSession(),
            value,
            outlet,
          );
        }
        this.#response(sorted.message);
        return outlet.end(undefined);
      case 'invalid':
        return this.#reject(this.#codecFor, sorted.id, sorted.error, value, outlet);
    }
  }

  #request(message: JsonRpcRequest, outlet: Outlet, inbound: Inbound | undefined): void {
    const { server } = this;
    const header = inbound?.header;
    const isSessionRequest = inbound?.route === 'session' || inbound?.route === 'initialize';
    const verdict = isSessionRequest ? undefined : server.revisions.classify(message, header);
    if (verdict instanceof WireError) {
      return this.#reject(server.revisions.newestStateless, message.id, verdict, message, outlet);
    }
    const session = verdict === undefined ? this.session : undefined;
    const revision = verdict ?? session?.codec ?? server.revisions.defaultCodec;
    if (verdict === undefined) {
      const closed = checkPhase(message, session, revision);
      if (closed !== undefined) return this.#reject(revision, message.id, closed, message, outlet);
    }
    const long = checkLengths(message, server.limits);
    if (long !== undefined) return this.#reject(revision, message.id, long, message, outlet);
    const row = methodRow(message.method);
    // The table's own text: guards compare it many times, and texts that are one and the same compare at once.
    const method = row?.name ?? message.method;
    const feature = findFeature(server, method, row, message.params, revision);
    if (feature instanceof WireError) return this.#reject(revision, message.id, feature, message, outlet);
    if (this.#length > smallRequest && server.pending.isFull(this.peer)) {
      return this.#reject(revision, message.id, wireErrors.tooMuchPending(), message, outlet);
    }
    if (this.#inFlight !== undefined && this.#inFlight.size > 0) {
      const crowded = this.#tooManyInFlight(message.id);
      if (crowded !== undefined) return this.#reject(revision, message.id, crowded, message, outlet);
    }
    const call = new EngineCall(this, revision, session, method, message, outlet, header);
    if (feature.duration === 'handler' && revision.rules.concurrency !== Number.POSITIVE_INFINITY)
      this.#enqueue(call, feature);
    else runCall(call, feature, inbound?.atMs);
  }

  #tooManyInFlight(id: RequestId): WireError | undefined {
    if (this.inFlight.has(id)) return wireErrors.duplicateId(id);
    const { maxInFlight } = this.server.limits;
    if (this.inFlight.size < maxInFlight) return undefined;
    return wireErrors.tooManyInFlight(maxInFlight);
  }

  #enqueue(call: EngineCall, feature: Feature): void {
    this.track(call);
    this.#queue ??= new CallQueue();
    this.#queue.add(call, () => runCall(call, feature));
  }

  #batch(messages: readonly unknown[], outlet: Outlet): void {
    const speaker = this.#codecFor;
    const reject = (id: RequestId | undefined, error: WireError, message: unknown, to: Outlet): void =>
      this.#reject(speaker, id, error, message, to);
    const allowed = this.session === undefined ? speaker.rules.batch === true : speaker.batches;
    const { maxBatch } = this.server.limits;
    const claims = messages.some((each) =>
      this.server.revisions.namesRevision((each as JsonRpcRequest | null)?.params),
    );
    if (!allowed || claims) return reject(undefined, wireErrors.batchNotSupported(), messages, outlet);
    if (messages.length === 0) return reject(undefined, wireErrors.emptyBatch(), messages, outlet);
    if (messages.length > maxBatch) return reject(undefined, wireErrors.batchTooLarge(maxBatch), messages, outlet);
    const collected = new BatchOutlet(outlet, messages.length);
    this.#length /= messages.length;
    messages.forEach((message, i) => {
      const slot = collected.slot(i);
      if ((message as JsonRpcRequest | null)?.method === 'initialize') {
        const id = (message as JsonRpcRequest).id;
        reject(isRequestId(id) ? id : undefined, wireErrors.initializeInBatch(), message, slot);
      } else if (Array.isArray(message)) {
        reject(undefined, wireErrors.notAMessage('a batch holds messages, not batches'), message, slot);
      } else this.#take(message, slot, undefined);
    });
  }

  #notification({ method, params }: JsonRpcNotification): void {
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      const reason = params?.['reason'];
      const call = isRequestId(id) ? this.inFlight.get(id) : undefined;
      // The handshake itself can not be cancelled, on any revision that has one.
      if (call?.method === 'initialize') return;
      call?.cancel(typeof reason === 'string' ? reason : 'cancelled by the client');
      return;
    }
    const { session } = this;
    if (session === undefined || this.server.revisions.namesRevision(params)) return;
    if (session.codec.rules.initializedNames.has(method)) session.markInitialized();
    else if (method === 'notifications/roots/list_changed') session.forgetRoots();
  }

  #response(message: JsonRpcResponse): void {
    this.#requests?.settle(message);
  }

  request(call: Call, method: string, params: object): Promise<unknown> {
    if (!call.outlet.duplex) {
      return Promise.reject(
        new InputRequestError('no-return-path', 'The client can not be asked over this connection'),
      );
    }
    this.#requests ??= new ClientRequests(this.server.idPrefix, this.server.limits.inputTimeoutMs);
    return this.#requests.send(call, (id) => requestText(id, method, params));
  }

  cancelRequests(call: Call, reason: Error): void {
    this.#requests?.cancel(call, reason);
  }

  open(session: Session): void {
    this.session = session;
    this.#followChanges();
  }

  setOutlet(outlet: Outlet | undefined): void {
    this.#outlet = outlet;
    this.#observed = undefined;
    this.#followChanges();
  }

  /** Subscriptions of a session count as long as it is in memory, whether or not it can be notified now. */
  #followChanges(): void {
    const { session } = this;
    if (session === undefined) return;
    if (this.#outlet === undefined && session.subscriptions.size === 0) this.#unfollow();
    else this.#changes ??= new SessionChanges(this, session);
  }

  #unfollow(): void {
    this.#changes?.close();
    this.#changes = undefined;
  }

  subscribe(session: Session, uri: string): void {
    // A session that ends with this request is never notified of a change.
    if (this.#outlet === undefined && !session.saved) return;
    session.subscribe(uri);
    if (this.#changes === undefined) this.#followChanges();
    else this.#changes.watch(uri);
  }

  unsubscribe(session: Session, uri: string): void {
    this.#changes?.unwatch(uri);
    session.unsubscribe(uri);
    this.#followChanges();
  }

  /** Sends what no request asked for. */
  pushUnasked(text: string): void {
    this.#shared?.push(text);
  }

  release(): void {
    this.#requests?.failUnreachable();
  }

  track(call: EngineCall): void {
    if (this.inFlight.get(call.id) === call) return;
    this.inFlight.set(call.id, call);
    if (this.#length > smallRequest) this.server.pending.add(call);
    // Before all other listeners: they may look at what is in flight.
    const { onSettled } = call;
    call.onSettled = (outcome, code) => {
      this.#forget(call);
      onSettled?.(outcome, code);
    };
  }

  #forget(call: EngineCall): void {
    this.inFlight.delete(call.id);
    this.server.deadlines.delete(call);
    this.server.pending.delete(call);
    if (this.inFlight.size === 0) this.#idle?.();
  }

  fail(id: RequestId, error: Error): void {
    const call = this.#inFlight?.get(id);
    if (call === undefined) return;
    call.fail(error instanceof WireError ? error : wireErrors.internal(error));
    call.abort(error.message);
  }

  async drain(graceMs: number, error?: Error): Promise<void> {
    this.draining = true;
    this.#requests?.failAll(new InputRequestError('no-return-path', 'The connection is closing'));
    // Subscriptions end well with the server; what ends for another reason is told that reason.
    if (error === undefined) for (const call of [...this.inFlight.values()]) call.onDrain?.();
    if (this.inFlight.size > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const id of [...this.inFlight.keys()]) this.fail(id, error ?? wireErrors.closing());
    this.close();
  }

  close(): void {
    this.#unfollow();
    this.#requests?.failAll(new InputRequestError('no-return-path', 'The connection was closed'));
    for (const call of [...(this.#inFlight?.values() ?? [])]) call.cancel('the connection was closed');
    if (this.#outlet === undefined) return;
    for (const watch of this.server.observers.disconnected) watch(this.peer);
  }
}
