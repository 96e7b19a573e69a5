// One connection as the engine sees it: receives messages, finds the codec for each, starts calls, and tracks the requests
// that are open in either direction. What a method does is in features/; how it is encoded is in protocol/revisions/.

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
  /** The other side. Where messages carry a peer of their own: the peer of the latest one. */
  peer: Peer;
  /** For messages that belong to no request. Without it every message must have an outlet of its own. */
  #outlet: Outlet | undefined;
  /** The same, wrapped for observers. An observer may be added long after the connection was opened. */
  #observed: Outlet | undefined;
  /** It is a connection that observers were notified of. An HTTP session that has a stream is none. */
  #connected: boolean;
  readonly key: string | undefined;
  #inFlight: Map<RequestId, EngineCall> | undefined;
  session: Session | undefined;
  draining = false;
  #requests: ClientRequests | undefined;
  /** Delivers changes to the session, while it has an outlet or subscriptions. */
  #changes: SessionChanges | undefined;
  /** Text length of the message that is being received. */
  #length = 0;
  #idle: (() => void) | undefined;
  /** Calls that wait where a profile limits how many run at a time. */
  #queue: CallQueue | undefined;

  constructor(server: ServerState, peer: Peer, outlet: Outlet | undefined, key: string | undefined) {
    this.server = server;
    this.peer = peer;
    this.#outlet = outlet;
    this.#connected = outlet !== undefined;
    this.key = key;
    if (this.#connected) for (const notify of server.observers.connected) notify(peer);
  }

  #withObservers(outlet: Outlet): Outlet {
    const { sent } = this.server.observers;
    return sent.length === 0 ? outlet : new ObservedOutlet(outlet, this.peer, sent);
  }

  /** The outlet that all messages share. */
  get #shared(): Outlet | undefined {
    const outlet = this.#outlet;
    if (outlet === undefined || this.server.observers.sent.length === 0) return outlet;
    return (this.#observed ??= this.#withObservers(outlet));
  }

  /** The outlet of one message: its own, or the shared one. */
  #outletOf(inbound: Inbound | undefined): Outlet {
    if (inbound?.peer !== undefined) this.peer = inbound.peer;
    if (inbound?.outlet !== undefined) return this.#withObservers(inbound.outlet);
    const shared = this.#shared;
    if (shared === undefined) throw new TypeError('This channel has no outlet, so every message needs one of its own');
    return shared;
  }

  /** Calls that did not end in the turn in which they started. Most do end in it and are not tracked. */
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
    const outlet = this.#outletOf(inbound);
    for (const notify of this.server.observers.received) notify(value, this.peer);
    this.#dispatch(value, outlet, inbound);
  }

  #dispatch(value: unknown, outlet: Outlet, inbound: Inbound | undefined): void {
    const message = value as JsonRpcRequest;
    // Fast path for the most common message; everything else is classified in full.
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
    this.#reject(this.#currentCodec, id, wire, undefined, this.#outletOf(inbound));
  }

  /** The codec for messages that name no revision: that of the session, or the default before there is one. */
  get #currentCodec(): Codec {
    return this.session?.codec ?? this.server.revisions.defaultCodec;
  }

  #reject(codec: Codec, id: RequestId | undefined, error: WireError, message: unknown, outlet: Outlet): void {
    // A response with the id of a request in flight would settle that request; a long id is not sent back.
    const safeId = id === undefined || isLong(id, this.server.limits) || this.inFlight.has(id) ? undefined : id;
    outlet.end(codec.error(safeId, error), codec.statusOf(error), error.http?.headers);
    const code = error.code ?? codec.codeOf(error.kind);
    for (const notify of this.server.observers.rejected) notify({ message, peer: this.peer, error, code });
  }

  #other(value: unknown, outlet: Outlet, inbound: Inbound | undefined): void {
    const header = inbound?.header;
    const classified = classifyMessage(value);
    switch (classified.kind) {
      case 'request':
        return this.#request(classified.message, outlet, inbound);
      case 'notification': {
        const headerError = header && this.server.revisions.notificationHeaderError(classified.message, header);
        if (headerError) {
          return this.#reject(this.server.revisions.newestStateless, undefined, headerError, value, outlet);
        }
        this.#notification(classified.message);
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
        this.#response(classified.message);
        return outlet.end(undefined);
      case 'invalid':
        return this.#reject(this.#currentCodec, classified.id, classified.error, value, outlet);
    }
  }

  #request(message: JsonRpcRequest, outlet: Outlet, inbound: Inbound | undefined): void {
    const { server } = this;
    const header = inbound?.header;
    const isSessionRequest = inbound?.route === 'session' || inbound?.route === 'initialize';
    const stateless = isSessionRequest ? undefined : server.revisions.classify(message, header);
    if (stateless instanceof WireError) {
      return this.#reject(server.revisions.newestStateless, message.id, stateless, message, outlet);
    }
    const session = stateless === undefined ? this.session : undefined;
    const codec = stateless ?? session?.codec ?? server.revisions.defaultCodec;
    if (stateless === undefined) {
      const phaseError = checkPhase(message, session, codec);
      if (phaseError !== undefined) return this.#reject(codec, message.id, phaseError, message, outlet);
    }
    const lengthError = checkLengths(message, server.limits);
    if (lengthError !== undefined) return this.#reject(codec, message.id, lengthError, message, outlet);
    const row = methodRow(message.method);
    // The string of the table: guards compare it many times, and comparing a string with itself is fastest.
    const method = row?.name ?? message.method;
    const feature = findFeature(server, method, row, message.params, codec);
    if (feature instanceof WireError) return this.#reject(codec, message.id, feature, message, outlet);
    if (this.#length > smallRequest && server.pending.isFull(this.peer)) {
      return this.#reject(codec, message.id, wireErrors.tooMuchPending(), message, outlet);
    }
    if (this.#inFlight !== undefined && this.#inFlight.size > 0) {
      const inFlightError = this.#checkInFlight(message.id);
      if (inFlightError !== undefined) return this.#reject(codec, message.id, inFlightError, message, outlet);
    }
    const call = new EngineCall(this, codec, session, method, message, outlet, header);
    if (feature.duration === 'handler' && codec.rules.concurrency !== Number.POSITIVE_INFINITY)
      this.#enqueue(call, feature);
    else runCall(call, feature, inbound?.atMs);
  }

  #checkInFlight(id: RequestId): WireError | undefined {
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
    const codec = this.#currentCodec;
    const reject = (id: RequestId | undefined, error: WireError, message: unknown, to: Outlet): void =>
      this.#reject(codec, id, error, message, to);
    const allowed = this.session === undefined ? codec.rules.batch === true : codec.batches;
    const { maxBatch } = this.server.limits;
    const isStateless = messages.some((each) =>
      this.server.revisions.namesRevision((each as JsonRpcRequest | null)?.params),
    );
    if (!allowed || isStateless) return reject(undefined, wireErrors.batchNotSupported(), messages, outlet);
    if (messages.length === 0) return reject(undefined, wireErrors.emptyBatch(), messages, outlet);
    if (messages.length > maxBatch) return reject(undefined, wireErrors.batchTooLarge(maxBatch), messages, outlet);
    const responses = new BatchOutlet(outlet, messages.length);
    this.#length /= messages.length;
    messages.forEach((message, i) => {
      const slot = responses.slot(i);
      if ((message as JsonRpcRequest | null)?.method === 'initialize') {
        const id = (message as JsonRpcRequest).id;
        reject(isRequestId(id) ? id : undefined, wireErrors.initializeInBatch(), message, slot);
      } else if (Array.isArray(message)) {
        reject(undefined, wireErrors.notAMessage('a batch may not contain another batch'), message, slot);
      } else this.#dispatch(message, slot, undefined);
    });
  }

  #notification({ method, params }: JsonRpcNotification): void {
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      const reason = params?.['reason'];
      const call = isRequestId(id) ? this.inFlight.get(id) : undefined;
      // A client must not cancel initialize (handshake revisions, schema of CancelledNotification).
      if (call?.method === 'initialize') return;
      call?.cancel(typeof reason === 'string' ? reason : 'cancelled by the client');
      return;
    }
    const { session } = this;
    if (session === undefined || this.server.revisions.namesRevision(params)) return;
    if (session.codec.rules.initializedNames.has(method)) session.markInitialized();
    else if (method === 'notifications/roots/list_changed') {
      session.forgetRoots();
      for (const notify of this.server.observers.rootsChanged) notify(this.peer, session);
    }
  }

  #response(message: JsonRpcResponse): void {
    this.#requests?.settle(message);
  }

  request(call: Call, method: string, params: object): Promise<unknown> {
    if (!call.outlet.duplex) {
      return Promise.reject(
        new InputRequestError('no-return-path', 'Requests cannot be sent to the client over this connection'),
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

  /** Subscriptions are followed as long as the session is in memory, even while it cannot be notified. */
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
    // A session that ends with this request will never be notified.
    if (this.#outlet === undefined && !session.saved) return;
    session.subscribe(uri);
    if (this.#changes === undefined) this.#followChanges();
    else this.#changes.add(uri);
  }

  unsubscribe(session: Session, uri: string): void {
    this.#changes?.remove(uri);
    session.unsubscribe(uri);
    this.#followChanges();
  }

  /** Sends a message that belongs to no request. */
  pushUnrelated(text: string): void {
    this.#shared?.push(text);
  }

  release(): void {
    this.#requests?.failUnreachable();
  }

  track(call: EngineCall): void {
    if (this.inFlight.get(call.id) === call) return;
    this.inFlight.set(call.id, call);
    if (this.#length > smallRequest) this.server.pending.add(call);
    // Before the other listeners: they may look at what is in flight.
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
    // When the server closes, subscriptions end with a result; otherwise they end with the error.
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
    if (!this.#connected) return;
    this.#connected = false;
    for (const notify of this.server.observers.disconnected) notify(this.peer);
  }
}
