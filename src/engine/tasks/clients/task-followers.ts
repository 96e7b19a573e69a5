// The followers of tasks: requests that wait for its result, subscriptions, and sessions that know it. Sends them changes,
// progress, and input requests as requests of their own, where the revision has that.

import { toBase64Url } from '../../../common/base64url.ts';
import { isObject, type JsonRpcResponse } from '../../../protocol/json-rpc.ts';
import { progressTokenOf } from '../../../protocol/meta.ts';
import { methods } from '../../../protocol/methods.ts';
import { type Json, type LogLevel, logLevels, type ProgressToken } from '../../../protocol/model.ts';
import type { TaskView } from '../../../protocol/revisions/tasks.ts';
import { taskInputRequest, taskLog, taskNotification, taskProgress } from '../../../protocol/revisions/tasks.ts';
import type { Session } from '../../channels/session.ts';
import type { Call, CallChannel } from '../../contract.ts';
import { isOpen } from '../store/task-record.ts';
import type { TaskInput, TaskRecord } from '../store/task-store.ts';
import { accepts, SessionRoute, type TaskRoute, WaitingRoute } from './task-routes.ts';

/** Sessions that are notified of one task; stops a caller with many sessions from multiplying every change. */
const maxSessions = 8;

/**
 * How long input requests wait for the first request of the client about its task. A client may register the task only after
 * the response that created it, and would reject an input request that arrives with that response.
 */
const firstRequestMs = 1_000;

/** An input request that was sent as a request, under one id for each route that was tried. */
interface SentInput {
  readonly ids: Map<string, TaskRoute>;
  route: TaskRoute;
}

interface FollowedTask {
  record: TaskRecord;
  /** By the key of the session. */
  readonly sessions: Map<string, SessionRoute>;
  readonly waiting: Map<Call, (record: TaskRecord) => void>;
  readonly subscriptions: Set<Call>;
  readonly sent: Map<string, SentInput>;
}

/** A message of the handler of a task: progress with total and message, or a log message with level and logger. */
export type HandlerMessage =
  | readonly ['progress', progress: number, total: number | null, message: string | null]
  | readonly ['log', level: LogLevel, logger: string | null, data: Json];

/** What other processes on a bus are told about the followers of this one. */
export interface SharedFollowers {
  /** The first follower of a task was added. */
  followed(task: string): void;
  /** A session knows the task, and its stream is not in this process. */
  sessionAdded(record: TaskRecord, session: { readonly key: string; readonly isReady: boolean }): void;
  /** The stream of a session was opened here. */
  streamOpened(session: string): void;
  /** Whether a client of the task can be reached from here. */
  setReach(task: string, canReach: boolean): void;
  /** Whether this process sends what goes to one client of a task. Undefined: not known yet. */
  isSender(task: string): boolean | undefined;
}

export class TaskFollowers {
  readonly #view: (record: TaskRecord) => TaskView;
  readonly #idPrefix: () => string;
  /** Undefined without a bus. */
  shared: SharedFollowers | undefined;
  /** The sessions whose stream is in this process, by key. Empty without a bus. */
  readonly #streams = new Map<string, { readonly session: Session; readonly channel: CallChannel }>();
  readonly #tasks = new Map<string, FollowedTask>();
  /** Requests that were sent, by their id. */
  readonly #sent = new Map<string, { readonly task: string; readonly key: string }>();

  #isDelivering = false;

  /** `idPrefix`: of the ids of requests; it says which process sent them. */
  constructor(view: (record: TaskRecord) => TaskView, idPrefix: () => string) {
    this.#view = view;
    this.#idPrefix = idPrefix;
  }

  /** Tasks that something follows: changes by other processes must be found for them. */
  get ids(): Iterable<string> {
    return this.#tasks.keys();
  }

  has(id: string): boolean {
    return this.#tasks.has(id);
  }

  #follow(record: TaskRecord): FollowedTask {
    // It may be newer than what the followers so far have been notified of.
    this.changed(record);
    let followed = this.#tasks.get(record.id);
    if (followed === undefined) {
      followed = { record, sessions: new Map(), waiting: new Map(), subscriptions: new Set(), sent: new Map() };
      this.#tasks.set(record.id, followed);
      this.shared?.followed(record.id);
    }
    return followed;
  }

  /** A session knows the task now, so it is notified of changes. */
  addSession(record: TaskRecord, { session, channel, method }: Call): void {
    if (record.phase === 'ended' || session === undefined || session.codec.dialect.tasks !== 'requested') return;
    // A session of one request has no key, and nothing can be sent to it later.
    if (session.key === '') return void this.#follow(record);
    this.#addRoute(record, session, channel, method !== methods.callTool.name);
  }

  #addRoute(record: TaskRecord, session: Session, channel: CallChannel, isReady: boolean): void {
    const { sessions } = this.#follow(record);
    const { key } = session;
    const before = sessions.get(key);
    if (before === undefined && sessions.size >= maxSessions) return;
    const route = new SessionRoute(session, channel, isReady || before?.isReady === true);
    sessions.set(key, route);
    if (!channel.reachable && before?.isReady !== route.isReady) {
      this.shared?.sessionAdded(record, { key, isReady: route.isReady });
    }
    this.deliver(record.id);
    if (route.isReady) return;
    const timer = setTimeout(() => {
      const current = sessions.get(key);
      if (current !== undefined) current.isReady = true;
      this.deliver(record.id);
    }, firstRequestMs);
    (timer as { unref?: () => void }).unref?.();
  }

  /** The stream of a session was opened or closed here. */
  streamChanged(channel: CallChannel, isOpened: boolean): void {
    const { session } = channel;
    if (this.shared === undefined || session?.codec.dialect.tasks !== 'requested') return;
    const { key } = session;
    if (!isOpened) {
      if (this.#streams.get(key)?.channel === channel) this.#streams.delete(key);
      return;
    }
    this.#streams.set(key, { session, channel });
    for (const { sessions } of this.#tasks.values()) {
      const known = sessions.get(key);
      if (known !== undefined) sessions.set(key, new SessionRoute(session, channel, known.isReady));
    }
    this.shared.streamOpened(key);
  }

  /** Whether the stream of a session is in this process. */
  hasStream(session: string): boolean {
    return this.#streams.has(session);
  }

  /** A session whose stream is in this process knows a task of another one. */
  addStream(record: TaskRecord, key: string, isReady: boolean): void {
    const stream = this.#streams.get(key);
    if (stream !== undefined) this.#addRoute(record, stream.session, stream.channel, isReady);
  }

  /** The tasks that a session knows. */
  *tasksOf(session: string): Iterable<{ readonly record: TaskRecord; readonly isReady: boolean }> {
    for (const { record, sessions } of this.#tasks.values()) {
      const route = sessions.get(session);
      if (route !== undefined) yield { record, isReady: route.isReady };
    }
  }

  /** Calls `onChange` with the record of the task whenever it has changed, until the call ends. */
  addWaiting(record: TaskRecord, call: Call, onChange: (record: TaskRecord) => void): void {
    const followed = this.#follow(record);
    followed.waiting.set(call, onChange);
    call.onEnd(() => {
      followed.waiting.delete(call);
      this.deliver(record.id);
      this.#forget(record.id);
    });
    this.deliver(record.id);
  }

  waitingFor(id: string): number {
    return this.#tasks.get(id)?.waiting.size ?? 0;
  }

  subscribe(record: TaskRecord, call: Call): void {
    const hasEnded = record.phase === 'ended';
    // What has ended does not change, and its result would stay in memory as long as the subscription.
    if (hasEnded) this.changed(record);
    else this.#follow(record).subscriptions.add(call);
    const isDecisive = hasEnded || record.inputs.some(isOpen);
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
    if (record.phase === 'ended') this.#cancelUnneeded(followed);
    else this.deliver(record.id);
    for (const onChange of [...followed.waiting.values()]) onChange(record);
    if (record.phase !== 'ended') return;
    followed.sessions.clear();
    followed.subscriptions.clear();
    this.#forget(record.id);
  }

  #notify({ record, sessions, subscriptions }: FollowedTask): void {
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
    for (const id of this.#tasks.keys()) this.deliver(id);
  }

  /** Sends the input requests of a task that have not been sent yet. */
  deliver(id: string): void {
    const followed = this.#tasks.get(id);
    if (followed === undefined || followed.record.phase === 'ended') return;
    const { record, sent } = followed;
    this.#cancelUnneeded(followed);
    this.shared?.setReach(
      id,
      routesOf(followed).some((route) => route.isLive && acceptsAll(route, record)),
    );
    if (this.shared !== undefined && this.shared.isSender(id) !== true) return;
    for (const input of record.inputs) {
      if (!isOpen(input) || sent.get(input.key)?.route.isLive === true) continue;
      const route = routesOf(followed).find((each) => each.isLive && each.isReady && accepts(each.capabilities, input));
      if (route !== undefined) this.#send(followed, input, route);
    }
  }

  #send({ record, sent }: FollowedTask, { key, method, params }: TaskInput, route: TaskRoute): void {
    const id = `${this.#idPrefix()}task-${toBase64Url(crypto.getRandomValues(new Uint8Array(15)))}`;
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
  #cancelUnneeded({ record, sent }: FollowedTask): void {
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

  handlerMessage(id: string, message: HandlerMessage): void {
    const followed = this.#tasks.get(id);
    if (followed === undefined) return;
    if (message[0] === 'progress') return this.#progress(followed, message);
    const [, level, logger, data] = message;
    const { logLevel } = followed.record.context;
    if (logLevel === undefined || logLevels.indexOf(level) < logLevels.indexOf(logLevel)) return;
    this.#routeFrom(followed)?.push(taskLog(id, level, logger ?? undefined, data));
  }

  #progress(followed: FollowedTask, [, progress, total, message]: HandlerMessage & { readonly 0: 'progress' }): void {
    const { id, context } = followed.record;
    const text = (token: ProgressToken): string =>
      taskProgress(id, token, progress, total ?? undefined, message ?? undefined);
    // A request that waits for the result may have a token of its own.
    for (const call of followed.waiting.keys()) {
      const token = progressTokenOf(call.meta);
      if (token !== undefined) call.push(text(token));
    }
    if (context.progressToken !== undefined) this.#routeFrom(followed)?.push(text(context.progressToken));
  }

  /** The route for what goes to one client, if this process sends it. */
  #routeFrom(followed: FollowedTask): TaskRoute | undefined {
    const { id, context } = followed.record;
    const hasStream = (): boolean => followed.sessions.get(context.sessionKey ?? '')?.isLive === true;
    const isSender = this.shared === undefined || (this.shared.isSender(id) ?? hasStream());
    return isSender ? routesOf(followed).find((each) => each.isLive) : undefined;
  }
}

/** The routes to the clients of a task, in the order in which they are tried. */
function routesOf({ waiting, sessions }: FollowedTask): readonly TaskRoute[] {
  return [...[...waiting.keys()].map((call) => new WaitingRoute(call)), ...sessions.values()];
}

/** Whether all open input requests of a task can be sent on a route. */
function acceptsAll({ capabilities }: TaskRoute, { inputs }: TaskRecord): boolean {
  return inputs.every((input) => !isOpen(input) || accepts(capabilities, input));
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
