// The feed: every observed message, in order, and how they are related. A response refers to its request; retries with
// input responses, progress and polls of a task are one group. Sources are observe-server.ts and inspect/; readers are in
// readers.ts. Works on messages only, so it is the same for a server in this process, a relay and a recording.

import { isObject } from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/meta.ts';
import { SlotSet } from '../protocol/slot-set.ts';
import type { FeedEntry } from './api.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Capture } from './capture.ts';
import { type OpenRequest, OpenRequests } from './open-requests.ts';
import { clientLabel, type FeedPeer, Peers } from './peers.ts';
import { Rates } from './rates.ts';
import { Ring, type RingLimits } from './ring.ts';

/** An observed message. */
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

export class Feed {
  readonly ring: Ring;
  readonly peers = new Peers();
  readonly rates = new Rates();
  readonly capture: Capture;
  #last = 0;
  #atMs = 0;
  #at = '';
  /** Of all peers. */
  readonly #open = new SlotSet<OpenRequest>();
  /** Those that an HTTP exchange carries. */
  readonly #exchanges = new WeakMap<object, OpenRequests>();
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
    for (const request of this.#open.values()) this.#close(request);
  }

  /** The group of a client's request that has no response yet. */
  openGroup(observation: Pick<Observation, 'peer' | 'exchange'>, id: unknown): string | undefined {
    return this.#openRequests(observation, 'in').get(idOf(id))?.entry.group;
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
    if (hasId) entry.id = idOf(id) as string | number;
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
    const among = this.#openRequests(observation, entry.direction);
    const id = entry.id as string | number;
    const same = among.get(id);
    if (same !== undefined) this.#close(same);
    if (among.size >= maxOpenRequests) this.#closeOldest(among.values());
    if (this.#open.size >= maxOpen) this.#closeOldest(this.#open.values());
    const meta = params['_meta'];
    const progressToken = isObject(meta) ? meta['progressToken'] : undefined;
    const request: OpenRequest = { id, entry, progressToken, atMs: performance.now(), among, slot: -1 };
    among.add(request);
    request.slot = this.#open.add(request);
  }

  /** Removes several together, so that the next ones need not search for the oldest. */
  #closeOldest(requests: OpenRequest[]): void {
    requests.sort((a, b) => a.entry.number - b.entry.number);
    for (const request of requests.slice(0, Math.ceil(requests.length / 8))) this.#close(request);
  }

  /** A retry carries the `requestState` of the request before it; messages about a task name the task. */
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
    return open.size === 1 ? open.values()[0]?.entry.group : undefined;
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
  ): OpenRequests {
    if (direction === 'out') return peer.requestsOut;
    if (exchange === undefined) return peer.requestsIn;
    let open = this.#exchanges.get(exchange);
    if (open === undefined) {
      open = new OpenRequests();
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
    const request = isProgress ? open.withToken(params['progressToken']) : open.get(idOf(params['requestId']));
    if (request === undefined) return;
    if (request.entry.group !== undefined) entry.group = request.entry.group;
    if (isProgress) return;
    entry.requestEntry = request.entry.number;
    entry.outcome = 'cancelled';
    this.#close(request);
  }

  #close(request: OpenRequest): void {
    request.among.delete(request);
    this.#open.delete(request.slot, request);
  }

  // Responses.

  #response(entry: Mutable<FeedEntry>, message: Json, observation: Observation): void {
    const { result, error } = message;
    const asked = opposite(entry.direction);
    const open = this.#openRequests(observation, asked);
    const request = open.get(entry.id);
    entry.outcome = outcomeOf(message);
    if (isObject(error) && typeof error['code'] === 'number') entry.code = error['code'];
    if (request === undefined) return;
    this.#close(request);
    const { method, name, group } = request.entry;
    entry.requestEntry = request.entry.number;
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

/** Long ids are cut, in requests and responses alike, so they still match. */
const idOf = (id: unknown): unknown => (typeof id === 'string' ? id.slice(0, maxNameChars) : id);

/** States can be long; their ends differ. */
const stateKey = (state: string): string => `${state.length} ${state.slice(-128)}`;

const opposite = (direction: FeedEntry['direction']): FeedEntry['direction'] => (direction === 'in' ? 'out' : 'in');
