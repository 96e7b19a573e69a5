// The followers of tasks: requests that wait for its result, subscriptions, and sessions that know it. Sends them changes,
// progress, and input requests as requests of their own, where the revision has that.

import { toBase64Url } from '../../protocol/base64url.ts';
import { isObject, type JsonRpcResponse } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { Capabilities, LogLevel, ProgressToken } from '../../protocol/model.ts';
import { logLevels } from '../../protocol/model.ts';
import type { Codec } from '../../protocol/revisions/index.ts';
import type { TaskView } from '../../protocol/revisions/tasks.ts';
import { taskInputRequest, taskLog, taskNotification, taskProgress } from '../../protocol/revisions/tasks.ts';
import type { Call, CallChannel } from '../contract.ts';
import type { Session } from '../session.ts';
import { isOpen } from './task-record.ts';
import type { TaskInput, TaskRecord } from './task-store.ts';

/** Sessions that are notified of one task; stops a caller with many sessions from multiplying every change. */
const maxSessions = 8;

/**
 * How long input requests wait for the first request of the client about its task. A client may register the task only after
 * the response that created it, and would reject an input request that arrives with that response.
 */
const firstRequestMs = 1_000;

/** A route to a client: the request that waits for the result, or an open stream of its session. */
interface Route {
  readonly codec: Codec;
  readonly capabilities: Capabilities;
  readonly isLive: boolean;
  /** Whether the client knows the task, so that input requests about it can be sent. */
  readonly isReady: boolean;
  push(text: string): boolean;
}

/** An input request that was sent as a request, under one id for each route that was tried. */
interface SentInput {
  readonly ids: Map<string, Route>;
  route: Route;
}

interface Followed {
  record: TaskRecord;
  /** By the key of the session. */
  readonly sessions: Map<string, SessionRoute>;
  readonly waiting: Map<Call, (record: TaskRecord) => void>;
  readonly subscriptions: Set<Call>;
  readonly sent: Map<string, SentInput>;
}

class SessionRoute implements Route {
  readonly session: Session;
  readonly #channel: CallChannel;
  isReady: boolean;

  constructor(session: Session, channel: CallChannel, isReady: boolean) {
    this.session = session;
    this.#channel = channel;
    this.isReady = isReady;
  }

  get codec(): Codec {
    return this.session.codec;
  }
  get capabilities(): Capabilities {
    return this.session.capabilities;
  }
  get isLive(): boolean {
    return this.#channel.reachable;
  }
  push(text: string): boolean {
    return this.#channel.pushUnrelated(text);
  }
}

/** The response to a request that waits for the result of a task. */
class WaitingRoute implements Route {
  readonly isReady = true;
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  get codec(): Codec {
    return this.#call.codec;
  }
  get capabilities(): Capabilities {
    return this.#call.capabilities;
  }
  get isLive(): boolean {
    const { settled, outlet, codec } = this.#call;
    return !settled && outlet.duplex && codec.inputRequests === 'push';
  }
  push(text: string): boolean {
    return this.#call.push(text);
  }
}

export class TaskFollowers {
  readonly #view: (record: TaskRecord) => TaskView;
  readonly #tasks = new Map<string, Followed>();
  /** Requests that were sent, by their id. */
  readonly #sent = new Map<string, { readonly task: string; readonly key: string }>();

  #isDelivering = false;

  constructor(view: (record: TaskRecord) => TaskView) {
    this.#view = view;
  }

  /** Tasks that something follows: changes by other processes must be found for them. */
  get ids(): Iterable<string> {
    return this.#tasks.keys();
  }

  has(id: string): boolean {
    return this.#tasks.has(id);
  }

  #follow(record: TaskRecord): Followed {
    let followed = this.#tasks.get(record.id);
    if (followed === undefined) {
      followed = { record, sessions: new Map(), waiting: new Map(), subscriptions: new Set(), sent: new Map() };
      this.#tasks.set(record.id, followed);
    }
    if (record.version > followed.record.version) followed.record = record;
    return followed;
  }

  /** A session knows the task now, so it is notified of changes. */
  addSession(record: TaskRecord, { session, channel, method }: Call): void {
    if (record.phase === 'ended' || session === undefined || session.codec.dialect.tasks !== 'requested') return;
    const { sessions } = this.#follow(record);
    // A session of one request has no key, and nothing can be sent to it later.
    if (session.key === '') return;
    if (!sessions.has(session.key) && sessions.size >= maxSessions) return;
    const route = new SessionRoute(session, channel, method !== methods.callTool.name);
    sessions.set(session.key, route);
    if (route.isReady) return this.#deliver(record.id);
    const timer = setTimeout(() => {
      route.isReady = true;
      this.#deliver(record.id);
    }, firstRequestMs);
    (timer as { unref?: () => void }).unref?.();
  }

  /** Calls `onChange` with the record of the task whenever it has changed, until the call ends. */
  addWaiting(record: TaskRecord, call: Call, onChange: (record: TaskRecord) => void): void {
    const followed = this.#follow(record);
    followed.waiting.set(call, onChange);
    call.onEnd(() => {
      followed.waiting.delete(call);
      this.#deliver(record.id);
      this.#forget(record.id);
    });
    this.#deliver(record.id);
  }

  waitingFor(id: string): number {
    return this.#tasks.get(id)?.waiting.size ?? 0;
  }

  subscribe(record: TaskRecord, call: Call): void {
    this.#follow(record).subscriptions.add(call);
    const isDecisive = record.phase === 'ended' || record.inputs.some(isOpen);
    // It may have changed between the last poll and the subscription.
    if (isDecisive) call.push(taskNotification(this.#view(record), call.codec, call.id));
  }

  unsubscribe(id: string, call: Call): void {
    this.#tasks.get(id)?.subscriptions.delete(call);
    this.#forget(id);
  }

  #forget(id: string): void {
    const followed = this.#tasks.get(id);
    if (followed === undefined) return;
    const { sessions, waiting, subscriptions } = followed;
    if (sessions.size === 0 && waiting.size === 0 && subscriptions.size === 0) this.#tasks.delete(id);
  }

  /** Sends a change to everything that follows the task. */
  changed(record: TaskRecord): void {
    const followed = this.#tasks.get(record.id);
    if (followed === undefined || record.version <= followed.record.version) return;
    const before = followed.record;
    followed.record = record;
    if (isVisible(before, record)) this.#notify(followed);
    if (record.phase === 'ended') this.#withdraw(followed);
    else this.#deliver(record.id);
    for (const onChange of [...followed.waiting.values()]) onChange(record);
    if (record.phase !== 'ended') return;
    followed.sessions.clear();
    this.#forget(record.id);
  }

  #notify({ record, sessions, subscriptions }: Followed): void {
    const view = this.#view(record);
    for (const call of subscriptions) call.push(taskNotification(view, call.codec, call.id));
    for (const session of sessions.values()) {
      if (session.isLive) session.push(taskNotification(view, session.codec));
    }
  }

  /** The same after this turn: a stream is connected only after its session has an outlet for it. */
  deliverSoon(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    setTimeout(() => {
      this.#isDelivering = false;
      this.deliverAll();
    }, 0);
  }

  /** Tries again to send what could not be sent, or may have been lost with its connection. */
  deliverAll(): void {
    for (const id of this.#tasks.keys()) this.#deliver(id);
  }

  #deliver(id: string): void {
    const followed = this.#tasks.get(id);
    if (followed === undefined || followed.record.phase === 'ended') return;
    const { record, sent } = followed;
    this.#withdraw(followed);
    for (const input of record.inputs) {
      if (!isOpen(input) || sent.get(input.key)?.route.isLive === true) continue;
      const route = routesOf(followed).find((each) => each.isLive && each.isReady && accepts(each.capabilities, input));
      if (route !== undefined) this.#send(followed, input, route);
    }
  }

  #send({ record, sent }: Followed, { key, method, params }: TaskInput, route: Route): void {
    const id = `task-${toBase64Url(crypto.getRandomValues(new Uint8Array(15)))}`;
    this.#sent.set(id, { task: record.id, key });
    if (!route.push(taskInputRequest(record.id, id, method, isObject(params) ? params : {}))) {
      this.#sent.delete(id);
      return;
    }
    const earlier = sent.get(key);
    if (earlier === undefined) sent.set(key, { ids: new Map([[id, route]]), route });
    else {
      earlier.ids.set(id, route);
      earlier.route = route;
    }
  }

  /** Cancels requests whose input is no longer needed. */
  #withdraw({ record, sent }: Followed): void {
    for (const [key, { ids }] of sent) {
      const input = record.inputs.find((each) => each.key === key);
      if (input !== undefined && isOpen(input)) continue;
      sent.delete(key);
      for (const [id, route] of ids) {
        if (!this.#sent.delete(id)) continue;
        if (route.isLive) route.push(route.codec.cancelled(id, 'The input is no longer needed'));
      }
    }
  }

  /** The input request that a response belongs to. Removes it, so a second response matches nothing. */
  take({ id }: JsonRpcResponse): { readonly task: string; readonly key: string } | undefined {
    const found = typeof id === 'string' ? this.#sent.get(id) : undefined;
    if (found !== undefined) this.#sent.delete(id as string);
    return found;
  }

  /** Puts back what `take` returned: the response was not accepted. */
  putBack({ id }: JsonRpcResponse, sent: { readonly task: string; readonly key: string }): void {
    this.#sent.set(id as string, sent);
  }

  progress(record: TaskRecord, progress: number, total: number | undefined, message: string | undefined): void {
    const followed = this.#tasks.get(record.id);
    if (followed === undefined) return;
    // A request that waits for the result may have a token of its own.
    for (const call of followed.waiting.keys()) {
      const token = call.meta['progressToken'];
      if (typeof token !== 'string' && typeof token !== 'number') continue;
      call.push(taskProgress(record.id, token as ProgressToken, progress, total, message));
    }
    const { progressToken } = record.context;
    if (progressToken === undefined) return;
    liveRoute(followed)?.push(taskProgress(record.id, progressToken, progress, total, message));
  }

  log(record: TaskRecord, level: LogLevel, logger: string | undefined, data: unknown): void {
    const followed = this.#tasks.get(record.id);
    const { logLevel } = record.context;
    if (followed === undefined || logLevel === undefined) return;
    if (logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
    liveRoute(followed)?.push(taskLog(record.id, level, logger, data));
  }
}

/** The routes to the clients of a task, in the order in which they are tried. */
function routesOf({ waiting, sessions }: Followed): readonly Route[] {
  return [...[...waiting.keys()].map((call) => new WaitingRoute(call)), ...sessions.values()];
}

function liveRoute(followed: Followed): Route | undefined {
  return routesOf(followed).find((each) => each.isLive);
}

/** Whether a client with these capabilities can be sent this request. */
export function accepts(capabilities: Capabilities, { method }: TaskInput): boolean {
  if (method === methods.elicit.name) return isObject(capabilities['elicitation']);
  return isObject(capabilities[method === methods.sample.name ? 'sampling' : 'roots']);
}

/** Whether clients can see the difference. */
function isVisible(before: TaskRecord, after: TaskRecord): boolean {
  if (before.phase !== after.phase && after.phase === 'ended') return true;
  if (before.message !== after.message) return true;
  const open = ({ inputs }: TaskRecord): string =>
    inputs
      .filter(isOpen)
      .map(({ key }) => key)
      .join('\n');
  return open(before) !== open(after);
}
