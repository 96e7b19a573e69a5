// The feed: every observed message, in order, and how they are related. A response refers to its request; retries with
// input responses, progress and polls of a task are one group. Sources are observe-server.ts and inspect/; readers are in
// readers.ts. Works on texts only, so it is the same for a server in this process, a relay and a recording.

import { SlotSet } from '../../common/slot-set.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { FeedEntry } from '../api.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Capture, CapturedText } from './capture.ts';
import { firstChars } from './first-chars.ts';
import { idOf, isUnsupported, maxNameChars, nameOf, outcomeOf, stateKey, successes } from './message-parts.ts';
import { parseText } from './message-text.ts';
import type { OpenRequest, OpenRequests } from './open-requests.ts';
import { clientLabel, type FeedPeer, Peers } from './peers.ts';
import { RateMeter } from './rates.ts';
import { Ring, type RingLimits } from './ring.ts';
import { TimeTexts } from './time-texts.ts';

/** An observed message. */
export interface Observation {
  readonly direction: FeedEntry['direction'];
  readonly side?: FeedEntry['side'];
  readonly peer: FeedPeer;
  /** As it travelled: a message, a batch of them, or something that is not JSON. */
  readonly text: string;
  /** The same, where it was parsed already. Only what handlers do not change is read from it. */
  readonly message?: unknown;
  /** Requests and responses of one HTTP exchange share it: ids of different clients may be the same. */
  readonly exchange?: object | undefined;
  readonly reason?: string | undefined;
  /** The group of a request, where its cause is known. */
  readonly group?: string | undefined;
}

/**
 * New messages wait until there are this many, or for this long, and are then parsed, redacted and stored together: one by
 * one, between the work of calls, each would find the caches of the processor cold. With what else this allows: 36 of 91 µs
 * per call, bench console: "core at 1,000 calls/s".
 */
const maxWaiting = 64;
const maxWaitMs = 25;
/** Stops large messages from filling the memory while they wait. */
const maxWaitingChars = 1024 * 1024;
/** Stops requests that are never answered from filling the memory, for each peer. */
const maxOpenRequests = 1_000;
/** The same for all peers together: HTTP requests whose clients went away are never answered. */
const maxOpen = 10_000;
/** Stops states and tasks that are never used again from filling the memory. */
const maxGroups = 2_000;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Feed {
  readonly peers = new Peers();
  readonly rates = new RateMeter();
  readonly capture: Capture;
  readonly #ring: Ring;
  #last = 0;
  #waiting: Observation[] = [];
  /** When each of them was observed, on the clock of `performance.now()`. */
  #observedAt: number[] = [];
  #waitingChars = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #times = new TimeTexts();
  /** Requests of all peers that have no response yet. */
  readonly #open = new SlotSet<OpenRequest>();
  readonly #states = new BoundedMap<string, string>(maxGroups);
  readonly #tasks = new BoundedMap<string, string>(maxGroups);
  readonly #listeners = new Set<(entry: FeedEntry) => void>();

  constructor(capture: Capture, limits: Partial<RingLimits> = {}) {
    this.capture = capture;
    this.#ring = new Ring(limits);
  }

  /** The entries, including those of all messages observed so far. */
  get ring(): Ring {
    this.flush();
    return this.#ring;
  }

  /** The number of the newest entry; 0: there is none yet. */
  get last(): number {
    this.flush();
    return this.#last;
  }

  /** Calls `listener` with each new entry; returns a function that stops it. */
  listen(listener: (entry: FeedEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records a message, or each message of a batch, together with others that are observed soon. */
  record(observation: Observation): void {
    this.#waiting.push(observation);
    this.#observedAt.push(performance.now());
    this.#waitingChars += observation.text.length;
    if (this.#waiting.length >= maxWaiting || this.#waitingChars > maxWaitingChars) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), maxWaitMs).unref();
  }

  /** Records what waits. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [waiting, observedAt] = [this.#waiting, this.#observedAt];
    // What listeners cause to be observed waits for the next time.
    this.#waiting = [];
    this.#observedAt = [];
    this.#waitingChars = 0;
    this.#times.adjust();
    for (let index = 0; index < waiting.length; index++) {
      try {
        this.#record(waiting[index] as Observation, observedAt[index] as number);
      } catch {
        this.skip(1); // Such as a message nested so deeply that it cannot be written again. Readers are told that one is missing.
      }
    }
  }

  /** Marks the newest message of a peer as rejected; without one, or if it never became a message, records the text. */
  reject(observation: Observation & { readonly isMessage: boolean }): void {
    const { peer, isMessage, reason } = observation;
    this.flush();
    const received = isMessage ? this.#newestIn(peer.number) : undefined;
    if (received === undefined) this.record(observation);
    else this.#ring.update({ ...received, ...(reason === undefined ? {} : { reason }) });
  }

  /** Adds an entry of a recording. */
  restore(entry: FeedEntry): void {
    this.flush();
    this.#last = Math.max(this.#last, entry.number);
    this.#publish(entry);
  }

  /** Numbers that are skipped count as dropped for every reader. */
  skip(count: number): void {
    this.#last += count;
  }

  clear(): void {
    this.flush();
    this.#ring.clear();
    for (const request of this.#open.values()) this.#close(request);
  }

  /** The group of a client's request that has no response yet. */
  openGroup({ peer, exchange }: Pick<Observation, 'peer' | 'exchange'>, id: unknown): string | undefined {
    this.flush();
    return peer.requestsIn.get(idOf(id), exchange)?.entry.group;
  }

  #publish(entry: FeedEntry): void {
    this.#ring.add(entry);
    for (const listener of this.#listeners) listener(entry);
  }

  #newestIn(peer: number): FeedEntry | undefined {
    for (let number = this.#last; number > this.#last - 3; number--) {
      const entry = this.#ring.get(number);
      if (entry?.peer === peer && entry.direction === 'in') return entry;
    }
    return undefined;
  }

  #record(observation: Observation, observedAt: number): void {
    const { text, message = parseText(text) } = observation;
    if (message === undefined) this.#add(observation, observedAt, this.capture.text(text), message);
    else if (!Array.isArray(message)) {
      this.#add(observation, observedAt, this.capture.message(message, text), message);
    } else {
      for (const each of message.slice(0, maxOpenRequests)) {
        this.#add(observation, observedAt, this.capture.message(each, undefined), each);
      }
    }
  }

  #add(observation: Observation, observedAt: number, captured: CapturedText, message: unknown): void {
    const { direction, side = 'client', peer, reason } = observation;
    peer.lastSeenMs = this.#times.msOf(observedAt);
    // All members at once, since V8 stores those that are added later in another object.
    const entry: Mutable<FeedEntry> = {
      number: ++this.#last,
      at: this.#times.textOf(observedAt),
      direction,
      side,
      peer: peer.number,
      kind: 'invalid',
      id: undefined,
      method: undefined,
      name: undefined,
      bytes: captured.bytes,
      text: captured.text,
      cut: captured.cut ? true : undefined,
      requestEntry: undefined,
      group: undefined,
      outcome: undefined,
      code: undefined,
      durationMs: undefined,
      reason,
    };
    if (isObject(message)) this.#describe(entry, message, observation, observedAt);
    this.#publish(entry);
  }

  #describe(entry: Mutable<FeedEntry>, message: JsonObject, observation: Observation, observedAt: number): void {
    const { id, method } = message;
    const hasId = typeof id === 'string' || typeof id === 'number';
    if (hasId) entry.id = idOf(id) as string | number;
    if (typeof method === 'string') {
      entry.method = this.capture.name(firstChars(method, maxNameChars));
      const params = isObject(message['params']) ? message['params'] : {};
      const name = nameOf(params);
      if (name !== undefined) entry.name = this.capture.name(name);
      entry.kind = hasId ? 'request' : 'notification';
      if (hasId) this.#request(entry, params, observation, observedAt);
      else this.#notification(entry, params, observation);
    } else if ('result' in message || 'error' in message) {
      entry.kind = 'response';
      this.#response(entry, message, observation, observedAt);
    }
  }

  // Requests.

  #request(entry: Mutable<FeedEntry>, params: JsonObject, observation: Observation, observedAt: number): void {
    const { peer } = observation;
    entry.group =
      observation.group ?? this.#groupOf(params) ?? this.#surroundingGroup(entry, observation) ?? `g${entry.number}`;
    this.#describePeer(entry, params, peer);
    const { among, exchange } = openRequests(observation, entry.direction);
    const id = entry.id as string | number;
    const same = among.get(id, exchange);
    if (same !== undefined) this.#close(same);
    // One peer may stand for many HTTP clients.
    if (exchange === undefined && among.size >= maxOpenRequests) this.#closeOldest(among.values());
    if (this.#open.size >= maxOpen) this.#closeOldest(this.#open.values());
    const meta = params['_meta'];
    const progressToken = isObject(meta) ? meta['progressToken'] : undefined;
    const request: OpenRequest = {
      id,
      exchange,
      entry,
      progressToken,
      atMs: observedAt,
      among,
      slot: -1,
      next: undefined,
    };
    among.add(request);
    request.slot = this.#open.add(request);
  }

  /** Removes several together, so that the next ones need not search for the oldest. */
  #closeOldest(requests: OpenRequest[]): void {
    requests.sort((a, b) => a.entry.number - b.entry.number);
    for (const request of requests.slice(0, Math.ceil(requests.length / 8))) this.#close(request);
  }

  /** A retry carries the `requestState` of the request before it; messages about a task name the task. */
  #groupOf(params: JsonObject): string | undefined {
    const { requestState, taskId } = params;
    if (typeof requestState === 'string') return this.#states.get(stateKey(requestState));
    if (typeof taskId !== 'string') return undefined;
    const id = firstChars(taskId, maxNameChars);
    const known = this.#tasks.get(id);
    if (known !== undefined) return known;
    const group = `t${id}`;
    this.#tasks.set(id, group);
    return group;
  }

  /** A request of the server belongs to the client's request, if only one is open. */
  #surroundingGroup(entry: FeedEntry, observation: Observation): string | undefined {
    if (entry.direction !== 'out') return undefined;
    return observation.peer.requestsIn.only(observation.exchange)?.entry.group;
  }

  #describePeer(entry: FeedEntry, params: JsonObject, peer: FeedPeer): void {
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
    this.peers.update(peer, { revision: firstChars(revision, 20), client });
  }

  // Notifications.

  #notification(entry: Mutable<FeedEntry>, params: JsonObject, observation: Observation): void {
    const task = this.#groupOf({ taskId: params['taskId'] });
    if (task !== undefined) entry.group = task;
    const { method } = entry;
    if (method !== 'notifications/progress' && method !== 'notifications/cancelled') return;
    const isProgress = method === 'notifications/progress';
    // Progress is about a request of the other side, a cancellation about one of the sender.
    const { among, exchange } = openRequests(observation, isProgress ? opposite(entry.direction) : entry.direction);
    const request = isProgress
      ? among.withToken(params['progressToken'], exchange)
      : among.get(idOf(params['requestId']), exchange);
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

  #response(entry: Mutable<FeedEntry>, message: JsonObject, observation: Observation, observedAt: number): void {
    const { result, error } = message;
    const asked = opposite(entry.direction);
    const { among, exchange } = openRequests(observation, asked);
    const request = among.get(entry.id, exchange);
    entry.outcome = outcomeOf(message);
    if (isObject(error) && typeof error['code'] === 'number') entry.code = error['code'];
    if (request === undefined) return;
    this.#close(request);
    const { method, name, group } = request.entry;
    entry.requestEntry = request.entry.number;
    if (method !== undefined) entry.method = method;
    if (name !== undefined) entry.name = name;
    if (group !== undefined) entry.group = group;
    if (method === 'server/discover' && isUnsupported(entry)) entry.outcome = 'unsupported';
    entry.durationMs = Math.round((observedAt - request.atMs) * 1_000) / 1_000;
    if (isObject(result)) this.#rememberGroup(result, group);
    if (method === 'initialize' && isObject(result) && typeof result['protocolVersion'] === 'string') {
      this.peers.update(observation.peer, { revision: firstChars(result['protocolVersion'], 20) });
    }
    if (asked === 'in') this.rates.add(entry.durationMs, !successes.has(entry.outcome));
  }

  #rememberGroup(result: JsonObject, group: string | undefined): void {
    if (group === undefined) return;
    const { requestState, task, taskId } = result;
    if (typeof requestState === 'string') this.#states.set(stateKey(requestState), group);
    const found = isObject(task) ? task['taskId'] : taskId;
    if (typeof found !== 'string') return;
    const id = firstChars(found, maxNameChars);
    if (this.#tasks.get(id) === undefined) this.#tasks.set(id, group);
  }
}

/** Where the response of a request is looked up. Those to requests of the server arrive in other HTTP exchanges. */
function openRequests(
  { exchange, peer }: Pick<Observation, 'peer' | 'exchange'>,
  direction: FeedEntry['direction'],
): { readonly among: OpenRequests; readonly exchange: object | undefined } {
  return direction === 'out' ? { among: peer.requestsOut, exchange: undefined } : { among: peer.requestsIn, exchange };
}

const opposite = (direction: FeedEntry['direction']): FeedEntry['direction'] => (direction === 'in' ? 'out' : 'in');
