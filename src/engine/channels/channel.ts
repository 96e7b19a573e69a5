// One connection as the engine sees it: its outlets, its session, and the requests that are open in either direction.
// What is done with a message that it receives is in receive-message.ts.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { Inbound, Outlet, Peer, SessionChannel, SessionState } from '../../protocol/exchange.ts';
import { IdTable, type ReadonlyIdTable } from '../../protocol/id-table.ts';
import { type JsonRpcResponse, parseMessage, requestText } from '../../protocol/json-rpc.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { EngineCall } from '../calls/call.ts';
import { CallQueue } from '../calls/call-queue.ts';
import { smallRequest } from '../calls/pending-requests.ts';
import { SessionChanges } from '../changes/session-changes.ts';
import type { SessionClient } from '../context.ts';
import type { Call } from '../contract.ts';
import { InputRequestError } from '../input-requests/input-request-error.ts';
import type { ServerState } from '../server-state.ts';
import { ClientRequests } from './client-requests.ts';
import { ObservedOutlet } from './observed-outlet.ts';
import { currentCodec, type ReceivingChannel, receiveMessage, rejectMessage } from './receive-message.ts';
import { ObservedRequest } from './sent-request.ts';
import type { Session } from './session.ts';
import { ChannelSessionClient } from './session-client.ts';

const noCalls: ReadonlyIdTable<EngineCall> = new IdTable<EngineCall>();

export class EngineChannel implements SessionChannel, ReceivingChannel {
  readonly server: ServerState;
  /** The other side. Where messages carry a peer of their own: the peer of the latest one. */
  peer: Peer;
  /** For messages that belong to no request. Without it every message must have an outlet of its own. */
  #outlet: Outlet | undefined;
  /** The same, wrapped for observers. An observer may be added long after the connection was opened. */
  #observed: Outlet | undefined;
  /** Its client has been told of all changes that the bus has reported up to this position. */
  notifiedUntil = Number.NEGATIVE_INFINITY;
  /** It is a connection that observers were notified of. An HTTP session that has a stream is none. */
  #connected: boolean;
  readonly key: string | undefined;
  #inFlight: IdTable<EngineCall> | undefined;
  session: Session | undefined;
  draining = false;
  #requests: ClientRequests | undefined;
  #sessionClient: SessionClient | undefined;
  /** Delivers changes to the session, while it has an outlet or subscriptions. */
  #changes: SessionChanges | undefined;
  messageLength = 0;
  #idle: (() => void) | undefined;
  #closed = false;
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
    return sent.length === 0 ? outlet : new ObservedOutlet(outlet, this.peer, this, sent);
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
  get inFlight(): ReadonlyIdTable<EngineCall> {
    return this.#inFlight ?? noCalls;
  }

  get openSubscriptions(): number {
    let open = 0;
    for (const call of this.inFlight.values()) if (call.onDrain !== undefined) open++;
    return open;
  }

  get busy(): boolean {
    return this.inFlight.size > 0 || (this.#requests?.size ?? 0) > 0;
  }

  parse(text: string): unknown {
    return parseMessage(text, this.server.limits);
  }

  receiveText(text: string, inbound?: Inbound, message: unknown = this.parse(text)): void {
    if (!(message instanceof WireError)) return this.#receive(message, inbound, text);
    rejectMessage(this, currentCodec(this), undefined, message, undefined, this.#outletOf(inbound), text);
  }

  receive(value: unknown, inbound?: Inbound): void {
    this.#receive(value, inbound, inbound?.text);
  }

  #receive(value: unknown, inbound: Inbound | undefined, text: string | undefined): void {
    this.messageLength = text?.length ?? 0;
    const outlet = this.#outletOf(inbound);
    for (const notify of this.server.observers.received) notify(value, this.peer, this.session, text);
    receiveMessage(this, value, outlet, inbound);
  }

  reject(error: Error, id?: RequestId, inbound?: Inbound): void {
    const wire = error instanceof WireError ? error : wireErrors.internal(error);
    rejectMessage(this, currentCodec(this), id, wire, undefined, this.#outletOf(inbound));
  }

  enqueue(call: EngineCall, start: () => void): void {
    this.track(call);
    this.#queue ??= new CallQueue();
    this.#queue.add(call, start);
  }

  settleRequest(message: JsonRpcResponse): void {
    if (this.#requests?.settle(message) !== true) this.server.tasks?.loaded?.respond(message, this.peer);
  }

  request(call: Call, method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (!call.outlet.duplex) {
      return Promise.reject(
        new InputRequestError('no-return-path', 'Requests cannot be sent to the client over this connection'),
      );
    }
    this.#requests ??= new ClientRequests(this.server.idPrefix, this.server.limits.inputTimeoutMs);
    const { requesting } = this.server.observers;
    if (requesting.length === 0) return this.#requests.send(call, (id) => requestText(id, method, params), signal);
    let observed: ObservedRequest | undefined;
    const sent = this.#requests.send(
      call,
      (id) => {
        observed = new ObservedRequest(id, method, call);
        for (const notify of requesting) notify(observed);
        return requestText(id, method, observed.withMeta(params));
      },
      signal,
    );
    sent.then(
      () => observed?.ended(undefined),
      (error: Error) => observed?.ended(error),
    );
    return sent;
  }

  /** Sends a request that belongs to no call. */
  async requestUnrelated(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const { session } = this;
    if (session === undefined || !this.reachable || this.draining) {
      throw new InputRequestError('no-return-path', 'The client cannot be reached outside of its requests');
    }
    this.#requests ??= new ClientRequests(this.server.idPrefix, this.server.limits.inputTimeoutMs);
    const push = (text: string): boolean => this.pushUnrelated(text);
    const isReachable = (): boolean => this.reachable;
    const outlet = {
      push,
      get duplex() {
        return isReachable();
      },
    };
    const origin = { codec: session.codec, outlet, push };
    return this.#requests.send(origin, (id) => requestText(id, method, params), signal);
  }

  get sessionClient(): SessionClient | undefined {
    const { session } = this;
    if (session === undefined) return undefined;
    return (this.#sessionClient ??= new ChannelSessionClient(this, session));
  }

  cancelRequests(call: Call, reason: Error): void {
    this.#requests?.cancel(call, reason);
  }

  open(session: Session): void {
    this.session = session;
    this.#sessionClient = undefined;
    this.#followChanges();
  }

  setOutlet(outlet: Outlet | undefined): void {
    this.#outlet = outlet;
    this.#observed = undefined;
    this.#followChanges();
    this.server.tasks?.loaded?.streamChanged(this, outlet !== undefined);
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

  setState(state: SessionState): void {
    this.#unfollow();
    this.session?.setState(state);
    this.#followChanges();
  }

  changesSince(position: number): readonly string[] {
    const { shared } = this.server;
    if (shared === undefined) return [];
    this.notifiedUntil = shared.received;
    return shared.since(position, this.session, this.peer.principal);
  }

  get reachable(): boolean {
    return !this.#closed && this.#outlet !== undefined && this.#outlet.connected !== false;
  }

  pushUnrelated(text: string): boolean {
    return this.#shared?.push(text) ?? false;
  }

  release(): void {
    this.#requests?.failUnreachable();
    this.server.tasks?.loaded?.routesChanged();
  }

  track(call: EngineCall): void {
    if (this.inFlight.get(call.id) === call) return;
    (this.#inFlight ??= new IdTable<EngineCall>()).add(call);
    if (this.messageLength > smallRequest) this.server.pending.add(call);
    // Before the other listeners: they may look at what is in flight.
    const { onSettled } = call;
    call.onSettled = (outcome, code) => {
      this.#forget(call);
      onSettled?.(outcome, code);
    };
  }

  #forget(call: EngineCall): void {
    this.#inFlight?.delete(call);
    this.server.deadlines.delete(call);
    this.server.pending.delete(call);
    if (this.inFlight.size === 0) this.#idle?.();
  }

  fail(id: RequestId, error: Error): void {
    const call = this.inFlight.get(id);
    if (call === undefined) return;
    call.fail(error instanceof WireError ? error : wireErrors.internal(error));
    call.abort(error.message);
  }

  async drain(graceMs: number, error?: Error): Promise<void> {
    this.draining = true;
    this.#requests?.failAll(new InputRequestError('no-return-path', 'The connection is closing'));
    // When the server closes, subscriptions end with a result; otherwise they end with the error.
    if (error === undefined) for (const call of this.inFlight.values()) call.onDrain?.();
    if (this.inFlight.size > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const { id } of this.inFlight.values()) this.fail(id, error ?? wireErrors.closing());
    this.close();
  }

  close(): void {
    this.#closed = true;
    this.#unfollow();
    if (this.#outlet !== undefined) this.server.tasks?.loaded?.streamChanged(this, false);
    this.#requests?.failAll(new InputRequestError('no-return-path', 'The connection was closed'));
    for (const call of this.inFlight.values()) call.cancel('the connection was closed');
    if (!this.#connected) return;
    this.#connected = false;
    for (const notify of this.server.observers.disconnected) notify(this.peer, this.session);
  }
}
