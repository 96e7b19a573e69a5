// Relays one connection to a server process that is restarted while the client stays connected. It knows which requests
// are open and what a restarted server must get again. It does not deal with processes or files.

import { parseJson } from '../../common/parse-json.ts';
import { errorRows } from '../../protocol/errors.ts';
import type { Channel, Host, Outlet, Peer } from '../../protocol/exchange.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { RejectedLineId } from '../../transports/rejected-line-id.ts';
import { callOf, errorOf, type RelayedCall, type UncheckedMessage } from './relayed-call.ts';

type Id = string | number;

export interface RelayListener {
  onCall(call: RelayedCall): void;
  /** A line of the server that is not a message, or what is wrong with it. */
  onUnexpectedOutput(line: string): void;
  /** The connection of the client has ended. */
  onClose(): Promise<void>;
}

interface OpenRelayedRequest {
  readonly message: UncheckedMessage;
  readonly sinceMs: number;
  /** A subscription stream that was opened again; its second acknowledgement is not relayed. */
  reopened?: boolean;
}

const listen = 'subscriptions/listen';
const lists = ['tools', 'resources', 'prompts'] as const;

/** The host of a transport with one connection, such as stdio. */
export class DevRelay implements Host, Channel {
  readonly #listener: RelayListener;
  #outlet: Outlet | undefined;

  /** Writes to the server; undefined while there is none. */
  #send: ((text: string) => void) | undefined;
  /** The error for all requests; undefined while the server runs or is about to. */
  #stopped: string | undefined;
  /** The session is being opened on a restarted server: messages of the client wait. */
  #opening = false;
  /** Messages of the client that wait for a server that is starting. */
  #waiting: string[] = [];

  /** Requests of the client. */
  readonly #open = new Map<Id, OpenRelayedRequest>();
  /** Requests of the server by the id under which the client knows them: a restarted server uses its ids again. */
  readonly #serverRequests = new Map<Id, Id>();
  /** Requests of the relay itself. */
  readonly #own = new Map<Id, (response: UncheckedMessage) => void>();
  #lastId = 0;
  /** Called when no request is open any more. */
  #onIdle: (() => void) | undefined;

  /** What is sent again to a restarted server: the session of the handshake revisions. */
  #initialize: { readonly params: unknown; readonly result: UncheckedMessage } | undefined;
  #initialized = false;
  #logLevel: unknown;
  readonly #subscribed = new Map<string, unknown>();

  constructor(listener: RelayListener) {
    this.#listener = listener;
  }

  connect(_peer: Peer, outlet: Outlet): Channel {
    this.#outlet = outlet;
    return this;
  }

  // The server process.

  /** A server reads messages. A session is opened on it again, then messages that wait are sent. */
  start(send: (text: string) => void): void {
    this.#stopped = undefined; // It may be late, after `fail`.
    this.#send = send;
    const session = this.#initialize;
    if (session === undefined) {
      this.#resume();
      return;
    }
    this.#opening = true;
    this.#request('initialize', session.params, (response) => {
      this.#opening = false;
      if (response.error !== undefined) {
        this.fail(`The restarted server rejected initialize: ${response.error.message}`);
        return;
      }
      if (this.#initialized) this.#write({ jsonrpc: '2.0', method: 'notifications/initialized' });
      if (this.#logLevel !== undefined) this.#request('logging/setLevel', this.#logLevel);
      for (const params of this.#subscribed.values()) this.#request('resources/subscribe', params);
      this.#resume();
      for (const kind of lists) {
        if (session.result.capabilities?.[kind]?.listChanged === true) this.#notify(kind);
      }
    });
  }

  #resume(): void {
    for (const request of this.#open.values()) {
      if (request.message.method !== listen) continue;
      request.reopened = true;
      this.#write(request.message);
    }
    for (const text of this.#waiting.splice(0)) this.#forward(text);
  }

  /** The server is being restarted: open requests fail with this message, new ones wait. */
  restart(message: string): void {
    this.#stopped = undefined;
    this.#send = undefined;
    this.#opening = false;
    this.#own.clear();
    for (const [id, { message: request }] of this.#open) {
      if (request.method !== listen) this.#end(id, message);
    }
    for (const requestId of this.#serverRequests.keys()) {
      const params = { requestId, reason: message };
      this.#push({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
    this.#serverRequests.clear();
  }

  /** There is no server until `start`: open requests and new ones fail with this message. */
  fail(message: string): void {
    this.restart(message);
    this.#stopped = message;
    for (const text of this.#waiting.splice(0)) this.receiveText(text);
  }

  /** Takes a line of the server. */
  receiveFromServer(line: string): void {
    const message = parse(line);
    // `console.log` prints objects and lists that are JSON as well.
    if (!(Array.isArray(message) ? message.length > 0 && message.every(isMessage) : isMessage(message))) {
      this.#listener.onUnexpectedOutput(line);
      return;
    }
    if (!Array.isArray(message)) {
      const relayed = this.#fromServer(message);
      // As it was written, if nothing had to be changed.
      if (relayed !== undefined) this.#outlet?.push(relayed === message ? line : JSON.stringify(relayed));
      return;
    }
    const relayed = message.map((each) => this.#fromServer(each)).filter((each) => each !== undefined);
    if (relayed.length > 0) this.#push(relayed);
  }

  /** A line of the server could not be read. If it was the response to a request, that request fails. */
  rejectFromServer(reason: string, { id, isResponse }: RejectedLineId): void {
    this.#listener.onUnexpectedOutput(reason);
    if (isResponse && id !== undefined && this.#open.has(id)) this.#end(id, `The response of the server is ${reason}`);
  }

  /** Returns what the client gets, if anything. */
  #fromServer(message: UncheckedMessage): UncheckedMessage {
    const { id, method, params } = message;
    if (method === undefined) return this.#responseFromServer(message);
    if (id !== undefined) {
      const relayId = this.#nextId();
      this.#serverRequests.set(relayId, id);
      return { ...message, id: relayId };
    }
    if (method === 'notifications/subscriptions/acknowledged') {
      const subscription = params?._meta?.[metaKeys.subscriptionId];
      const request = this.#open.get(subscription);
      if (request?.reopened !== true) return message;
      const filter = request.message.params?.notifications ?? {};
      for (const kind of lists) {
        if (filter[`${kind}ListChanged`] === true) this.#notify(kind, { [metaKeys.subscriptionId]: subscription });
      }
      return undefined;
    }
    if (method === 'notifications/cancelled') {
      const relayId = [...this.#serverRequests].find(([, serverId]) => serverId === params?.requestId)?.[0];
      if (relayId === undefined) return message;
      this.#serverRequests.delete(relayId);
      return { ...message, params: { ...params, requestId: relayId } };
    }
    return message;
  }

  #responseFromServer(message: UncheckedMessage): UncheckedMessage {
    const { id, result, error } = message;
    const own = this.#own.get(id);
    if (own !== undefined) {
      this.#own.delete(id);
      own(message);
      return undefined;
    }
    const request = this.#open.get(id);
    if (request === undefined) return message;
    this.#open.delete(id);
    const { method, params } = request.message;
    if (error === undefined) {
      if (method === 'initialize') this.#initialize = { params, result };
      if (method === 'logging/setLevel') this.#logLevel = params;
      if (method === 'resources/subscribe') this.#subscribed.set(params?.uri, params);
      if (method === 'resources/unsubscribe') this.#subscribed.delete(params?.uri);
    }
    this.#report(request, errorOf(message));
    return message;
  }

  // The client.

  receiveText(text: string): void {
    if (this.#stopped === undefined) {
      if (this.#send === undefined || this.#opening) this.#waiting.push(text);
      else this.#forward(text);
      return;
    }
    for (const message of [parse(text)].flat()) {
      if (message?.method === undefined || message.id === undefined) continue;
      this.#open.set(message.id, { message, sinceMs: performance.now() });
      this.#end(message.id, this.#stopped);
    }
  }

  receive(message: unknown): void {
    this.receiveText(JSON.stringify(message));
  }

  #forward(text: string): void {
    const message = parse(text);
    if (!Array.isArray(message)) {
      const relayed = this.#fromClient(message);
      if (relayed !== undefined) this.#send?.(relayed === message ? text : JSON.stringify(relayed));
      return;
    }
    const relayed = message.map((each) => this.#fromClient(each)).filter((each) => each !== undefined);
    if (relayed.length > 0 || message.length === 0) this.#write(relayed);
  }

  /** Returns what the server gets, if anything. What is not a message is relayed too: the server rejects it. */
  #fromClient(message: UncheckedMessage): UncheckedMessage {
    const id = message?.id;
    if (message?.method === undefined) {
      if (id === undefined || (message.result === undefined && message.error === undefined)) return message;
      const serverId = this.#serverRequests.get(id);
      this.#serverRequests.delete(id);
      // A response to a server that has been replaced is dropped.
      return serverId === undefined ? undefined : { ...message, id: serverId };
    }
    if (id !== undefined) this.#open.set(id, { message, sinceMs: performance.now() });
    else if (message.method === 'notifications/initialized') this.#initialized = true;
    else if (message.method === 'notifications/cancelled') {
      const request = this.#open.get(message.params?.requestId);
      this.#open.delete(message.params?.requestId);
      if (request !== undefined) this.#report(request, 'cancelled by the client');
    }
    return message;
  }

  reject(error: Error, id?: Id): void {
    const { code } = errorRows.invalidRequest;
    this.#push({ jsonrpc: '2.0', id: id ?? null, error: { code, message: error.message } });
  }

  get busy(): boolean {
    return this.#open.size > 0;
  }

  async drain(graceMs: number): Promise<void> {
    const open = [...this.#open.values()].some(({ message }) => message.method !== listen);
    if (open || this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await this.close();
  }

  async close(): Promise<void> {
    await this.#listener.onClose();
  }

  // Messages of the relay itself.

  #nextId(): string {
    return `mooring-dev-${++this.#lastId}`;
  }

  #request(method: string, params: unknown, onResponse: (response: UncheckedMessage) => void = () => {}): void {
    const id = this.#nextId();
    this.#own.set(id, onResponse);
    this.#write({ jsonrpc: '2.0', id, method, params });
  }

  #notify(kind: string, meta?: object): void {
    const params = meta === undefined ? {} : { params: { _meta: meta } };
    this.#push({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed`, ...params });
  }

  /** Ends a request of the client with an error. */
  #end(id: Id, message: string): void {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (request !== undefined) this.#report(request, message);
    this.#push({ jsonrpc: '2.0', id, error: { code: errorRows.application.code, message } });
  }

  /** A request of the client has ended. */
  #report({ message, sinceMs }: OpenRelayedRequest, error: string | undefined): void {
    this.#listener.onCall(callOf(message, performance.now() - sinceMs, error));
    if (this.#open.size === 0 && this.#waiting.length === 0) this.#onIdle?.();
  }

  #push(message: object): void {
    this.#outlet?.push(JSON.stringify(message));
  }

  #write(message: object): void {
    this.#send?.(JSON.stringify(message));
  }
}

/** Undefined for a text that is not JSON: the other side rejects it, or it is reported as unexpected output. */
const parse = (text: string): UncheckedMessage => parseJson(text);

const isMessage = (value: UncheckedMessage): boolean => value?.jsonrpc === '2.0';
