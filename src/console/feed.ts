// The feed: every message that was observed, in order, with what connects them. Responses find their requests; rounds of
// input requests, progress and polls of a task are one group. Sources are observe-server.ts and inspect/; readers are in
// readers.ts. Works on messages only, so it is the same for a server in this process, a relay and a recording.

import { isObject } from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/meta.ts';
import type { FeedEntry } from './api.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Capture } from './capture.ts';
import { clientLabel, type FeedPeer, Peers } from './peers.ts';
import { Rates } from './rates.ts';
import { Ring, type RingLimits } from './ring.ts';

/** A message on its way in or out. */
export interface Observation {
  readonly direction: FeedEntry['direction'];
  readonly side?: FeedEntry['side'];
  readonly peer: FeedPeer;
  /** Parsed; undefined for a text that is not JSON. */
  readonly message: unknown;
  /** As it travelled, where that is known. */
  readonly text?: string | undefined;
  /** Requests and responses of one HTTP exchange share it: ids of different clients may be the same. */
  readonly exchange?: object | undefined;
  readonly reason?: string | undefined;
  /** The group of a request, where its cause is known. */
  readonly group?: string | undefined;
}

/** Stops requests that are never answered from filling the memory, for each peer. */
const maxOpenRequests = 1_000;
/** The same for all peers together: HTTP requests whose clients went away are never answered. */
const maxOpen = 10_000;
/** Stops states and tasks that are never used again from filling the memory. */
const maxGroups = 2_000;
const maxNameChars = 300;

type Json = { readonly [key: string]: unknown };
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface OpenRequest {
  readonly entry: FeedEntry;
  readonly progressToken: unknown;
  readonly atMs: number;
}

export class Feed {
  readonly ring: Ring;
  readonly peers = new Peers();
  readonly rates = new Rates();
  readonly capture: Capture;
  #last = 0;
  #atMs = 0;
  #at = '';
  readonly #open = new BoundedMap<number, OpenRequest>(maxOpen);
  /** Requests by id, where an HTTP exchange carries them. */
  readonly #exchanges = new WeakMap<object, Map<string, number>>();
  readonly #states = new BoundedMap<string, string>(maxGroups);
  readonly #tasks = new BoundedMap<string, string>(maxGroups);
  readonly #listeners = new Set<(entry: FeedEntry) => void>();

  constructor(capture: Capture, limits: Partial<RingLimits> = {}) {
    this.capture = capture;
    this.ring = new Ring(limits);
  }

  /** The number of the newest entry; 0: there is none yet. */
  get last(): number {
    return this.#last;
  }

  /** Calls `listener` with each new entry; returns a function that stops it. */
  listen(listener: (entry: FeedEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records a message, or each message of a batch. */
  record(observation: Observation): void {
    const { message } = observation;
    observation.peer.lastSeenMs = Date.now();
    if (!Array.isArray(message)) this.#record(observation);
    else
      for (const each of message.slice(0, maxOpenRequests))
        this.#record({ ...observation, message: each, text: undefined });
  }

  /** Marks the newest message of a peer as rejected, or records a text that never became a message. */
  reject(observation: Observation): void {
    const { peer, message, reason } = observation;
    const received = message === undefined ? undefined : this.#newestIn(peer.number);
    if (received === undefined) this.#record(observation);
    else this.ring.update({ ...received, ...(reason === undefined ? {} : { reason }) });
  }

  /** Adds an entry of a recording. */
  restore(entry: FeedEntry): void {
    this.#last = Math.max(this.#last, entry.number);
    this.#publish(entry);
  }

  /** Numbers that are skipped count as dropped for every reader. */
  skip(count: number): void {
    this.#last += count;
  }

  clear(): void {
    this.ring.clear();
    this.#open.clear();
  }

  /** The group of a client's request that has no response yet. */
  openGroup(observation: Pick<Observation, 'peer' | 'exchange'>, id: unknown): string | undefined {
    const number = this.#openRequests(observation, 'in').get(keyOf(id));
    return number === undefined ? undefined : this.#open.get(number)?.entry.group;
  }

  #publish(entry: FeedEntry): void {
    this.ring.add(entry);
    for (const listener of this.#listeners) listener(entry);
  }

  #newestIn(peer: number): FeedEntry | undefined {
    for (let number = this.#last; number > this.#last - 3; number--) {
      const entry = this.ring.get(number);
      if (entry?.peer === peer && entry.direction === 'in') return entry;
    }
    return undefined;
  }

  #record(observation: Observation): void {
    const { direction, side = 'client', peer, message, text, reason } = observation;
    const captured = message === undefined ? this.capture.text(text ?? '') : this.capture.message(message, text);
    const entry: Mutable<FeedEntry> = {
      number: ++this.#last,
      at: this.#now(),
      direction,
      side,
      peer: peer.number,
      kind: 'invalid',
      bytes: captured.bytes,
      text: captured.text,
    };
    if (captured.cut) entry.cut = true;
    if (reason !== undefined) entry.reason = reason;
    if (isObject(message)) this.#describe(entry, message, observation);
    this.#publish(entry);
  }

  /** The time, written once for all messages of a millisecond. */
  #now(): string {
    const ms = Date.now();
    if (ms !== this.#atMs) {
      this.#atMs = ms;
      this.#at = new Date(ms).toISOString();
    }
    return this.#at;
  }

  #describe(entry: Mutable<FeedEntry>, message: Json, observation: Observation): void {
    const { id, method } = message;
    const hasId = typeof id === 'string' || typeof id === 'number';
    if (hasId) entry.id = typeof id === 'string' ? id.slice(0, maxNameChars) : id;
    if (typeof method === 'string') {
      entry.method = method.slice(0, maxNameChars);
      const params = isObject(message['params']) ? message['params'] : {};
      const name = nameOf(params);
      if (name !== undefined) entry.name = name;
      entry.kind = hasId ? 'request' : 'notification';
      if (hasId) this.#request(entry, params, observation);
      else this.#notification(entry, params, observation);
    } else if ('result' in message || 'error' in message) {
      entry.kind = 'response';
      this.#response(entry, message, observation);
    }
  }

  // Requests.

  #request(entry: Mutable<FeedEntry>, params: Json, observation: Observation): void {
    const { peer } = observation;
    entry.group =
      observation.group ?? this.#groupOf(params) ?? this.#surroundingGroup(entry, observation) ?? `g${entry.number}`;
    this.#describePeer(entry, params, peer);
    const open = this.#openRequests(observation, entry.direction);
    if (open.size >= maxOpenRequests) {
      const [oldest, number] = open.entries().next().value as [string, number];
      open.delete(oldest);
      this.#open.delete(number);
    }
    open.set(keyOf(entry.id), entry.number);
    const meta = params['_meta'];
    const progressToken = isObject(meta) ? meta['progressToken'] : undefined;
    if (progressToken !== undefined) open.set(progressKey(progressToken), entry.number);
    this.#open.set(entry.number, { entry, progressToken, atMs: performance.now() });
  }

  /** A retry carries the state of the round before; what is about a task names it. */
  #groupOf(params: Json): string | undefined {
    const { requestState, taskId } = params;
    if (typeof requestState === 'string') return this.#states.get(stateKey(requestState));
    if (typeof taskId !== 'string') return undefined;
    const known = this.#tasks.get(taskId);
    if (known !== undefined) return known;
    const group = `t${taskId.slice(0, maxNameChars)}`;
    this.#tasks.set(taskId, group);
    return group;
  }

  /** A request of the server belongs to the client's request, if only one is open. */
  #surroundingGroup(entry: FeedEntry, observation: Observation): string | undefined {
    if (entry.direction !== 'out') return undefined;
    const open = this.#openRequests(observation, 'in');
    // One request is there once, or twice if it has a progress token.
    if (open.size > 2) return undefined;
    const [number, second = number] = open.values();
    return number !== undefined && number === second ? this.#open.get(number)?.entry.group : undefined;
  }

  #describePeer(entry: FeedEntry, params: Json, peer: FeedPeer): void {
    // On the other side of a gateway the client is the gateway, and the peer is a server.
    const isClient = entry.side === 'client';
    if (entry.method === 'initialize') {
      if (isClient) this.peers.update(peer, { client: clientLabel(params['clientInfo']) });
      return;
    }
    const meta = params['_meta'];
    if (!isObject(meta)) return;
    const revision = meta[metaKeys.protocolVersion];
    if (typeof revision !== 'string') return;
    const client = isClient ? clientLabel(meta[metaKeys.clientInfo]) : undefined;
    this.peers.update(peer, { revision: revision.slice(0, 20), client });
  }

  /** Where the response of a request is looked up. */
  #openRequests(
    { exchange, peer }: Pick<Observation, 'peer' | 'exchange'>,
    direction: FeedEntry['direction'],
  ): Map<string, number> {
    if (direction === 'out') return peer.requestsOut;
    if (exchange === undefined) return peer.requestsIn;
    let open = this.#exchanges.get(exchange);
    if (open === undefined) {
      open = new Map();
      this.#exchanges.set(exchange, open);
    }
    return open;
  }

  // Notifications.

  #notification(entry: Mutable<FeedEntry>, params: Json, observation: Observation): void {
    const task = this.#groupOf({ taskId: params['taskId'] });
    if (task !== undefined) entry.group = task;
    const { method } = entry;
    if (method !== 'notifications/progress' && method !== 'notifications/cancelled') return;
    const isProgress = method === 'notifications/progress';
    // Progress is about a request of the other side, a cancellation about one of the sender.
    const open = this.#openRequests(observation, isProgress ? opposite(entry.direction) : entry.direction);
    const number = open.get(isProgress ? progressKey(params['progressToken']) : keyOf(params['requestId']));
    const request = number === undefined ? undefined : this.#open.get(number);
    if (number === undefined || request === undefined) return;
    if (request.entry.group !== undefined) entry.group = request.entry.group;
    if (isProgress) return;
    entry.requestEntry = number;
    entry.outcome = 'cancelled';
    this.#close(open, number, request);
  }

  #close(open: Map<string, number>, number: number, { entry, progressToken }: OpenRequest): void {
    open.delete(keyOf(entry.id));
    if (progressToken !== undefined) open.delete(progressKey(progressToken));
    this.#open.delete(number);
  }

  // Responses.

  #response(entry: Mutable<FeedEntry>, message: Json, observation: Observation): void {
    const { result, error } = message;
    const asked = opposite(entry.direction);
    const open = this.#openRequests(observation, asked);
    const number = open.get(keyOf(entry.id));
    const request = number === undefined ? undefined : this.#open.get(number);
    entry.outcome = outcomeOf(message);
    if (isObject(error) && typeof error['code'] === 'number') entry.code = error['code'];
    if (number === undefined || request === undefined) return;
    this.#close(open, number, request);
    const { method, name, group } = request.entry;
    entry.requestEntry = number;
    if (method !== undefined) entry.method = method;
    if (name !== undefined) entry.name = name;
    if (group !== undefined) entry.group = group;
    entry.durationMs = Math.round((performance.now() - request.atMs) * 1_000) / 1_000;
    if (isObject(result)) this.#rememberGroup(result, group);
    if (method === 'initialize' && isObject(result) && typeof result['protocolVersion'] === 'string') {
      this.peers.update(observation.peer, { revision: result['protocolVersion'].slice(0, 20) });
    }
    if (asked === 'in') this.rates.add(entry.durationMs, entry.outcome !== 'ok' && entry.outcome !== 'input-required');
  }

  #rememberGroup(result: Json, group: string | undefined): void {
    if (group === undefined) return;
    const { requestState, task, taskId } = result;
    if (typeof requestState === 'string') this.#states.set(stateKey(requestState), group);
    const id = isObject(task) ? task['taskId'] : taskId;
    if (typeof id === 'string' && this.#tasks.get(id) === undefined) this.#tasks.set(id, group);
  }
}

function outcomeOf({ result, error }: Json): string {
  if (error !== undefined) return 'rejected';
  if (!isObject(result)) return 'ok';
  if (result['isError'] === true) return 'failed';
  return result['resultType'] === 'input_required' ? 'input-required' : 'ok';
}

function nameOf(params: Json): string | undefined {
  const { name, uri, taskId, ref } = params;
  const found = name ?? uri ?? taskId ?? (isObject(ref) ? (ref['name'] ?? ref['uri']) : undefined);
  return typeof found === 'string' ? found.slice(0, maxNameChars) : undefined;
}

const keyOf = (id: unknown): string => `${typeof id} ${id}`;
const progressKey = (token: unknown): string => `progress ${typeof token} ${token}`;

/** States can be long; their ends differ. */
const stateKey = (state: string): string => `${state.length} ${state.slice(-128)}`;

const opposite = (direction: FeedEntry['direction']): FeedEntry['direction'] => (direction === 'in' ? 'out' : 'in');
