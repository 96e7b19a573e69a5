// Tasks that several processes on a bus serve: one runs a task, others have the clients that follow it. Each process publishes its
// changes with the state after them, so that the others notify their clients of every change, once and in order.

import { pause, waitAtMost } from '../../common/wait.ts';
import type { Json } from '../../protocol/model.ts';
import type { Bus, Sealer } from '../ports.ts';
import type { HandlerMessage, SharedFollowers, TaskFollowers } from './clients/task-followers.ts';
import { TaskSenders } from './clients/task-senders.ts';
import { isOpen } from './store/task-record.ts';
import type { TaskPhase, TaskRecord, TaskStore } from './store/task-store.ts';

/** A session that knows a task. `isReady`: input requests about it can be sent. */
interface KnownSession {
  readonly key: string;
  readonly isReady: boolean;
}

/** Contents are encrypted if tasks are. */
type TaskMessage =
  /** A task was changed, or the process that runs it says that a session knows it. */
  | {
      readonly type: 'changed';
      readonly task: string;
      readonly phase: TaskPhase;
      readonly record: Json;
      readonly session?: KnownSession;
    }
  /** A session knows a task. Only the process that has the stream of the session needs this. */
  | { readonly type: 'known'; readonly task: string; readonly session: KnownSession }
  /** The standalone stream of a session was opened in the process that sends this. */
  | { readonly type: 'stream'; readonly session: string }
  /** The process that sends this can reach a client of the task, or no longer can. */
  | { readonly type: 'reach'; readonly task: string; readonly canReach: boolean }
  /** Progress or a log message of the handler. */
  | { readonly type: 'message'; readonly task: string; readonly content: Json }
  /** A request: respond when everything that the handler has done so far is stored. */
  | { readonly type: 'settle'; readonly task: string };

/** The part of a server's tasks that it uses. */
export interface SharedTasksHost {
  readonly server: {
    readonly sealer: Sealer;
    readonly hasKey: boolean;
    readonly identity: { readonly name: string };
    readonly logger: { warn(message: string, fields?: object): void } | undefined;
  };
  readonly store: Pick<TaskStore, 'read'>;
  readonly followers: TaskFollowers;
  readonly runs: { has(id: string): boolean };
  /** Reads a task and shows the state to everything in this process that it concerns. */
  readAgain(id: string): Promise<void>;
  /** A task may be due. */
  mayBeDue(): void;
}

/** How long a request waits for the process that runs its task. One that was killed is usually noticed earlier. */
const settleMs = 5_000;
/** How often that process looks whether its handler has done more meanwhile. */
const maxRounds = 20;
/** How long after the creation of a task the processes that can reach its client have said so. */
const announceMs = 10_000;
/** Tasks whose version is remembered; stops many tasks from filling the memory. */
const maxAsked = 10_000;
const purpose = 'task-message';

export class SharedTasks implements SharedFollowers {
  readonly #host: SharedTasksHost;
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #senders = new TaskSenders();
  /** Tasks whose clients this process has said it can reach. */
  readonly #reached = new Set<string>();
  /** What is done with received messages, by task: one after the other. */
  readonly #jobs = new Map<string, Promise<void>>();
  /** What the handlers of this process write, by task. */
  readonly #writes = new Map<string, Promise<unknown>>();
  /** The version for which the process of a task was last asked. */
  readonly #asked = new Map<string, number>();
  /** Messages are published in the order of their changes, although it takes time to encrypt them. */
  #sending: Promise<unknown> = Promise.resolve();
  readonly #unlisten: () => void;

  constructor(host: SharedTasksHost, bus: Bus) {
    this.#host = host;
    this.#bus = bus;
    this.#topic = `tasks ${host.server.identity.name}`;
    this.#unlisten = bus.listen(this.#topic, (data, from) => this.#receive(data as TaskMessage, from));
    bus.onLeave((process) => {
      for (const task of this.#senders.left(process)) host.followers.deliver(task);
    });
    bus.onGap(() => this.#gap());
  }

  close(): void {
    this.#unlisten();
  }

  /** Names a process and one of its servers in leases. */
  holder(id: string): string {
    return `${this.#bus.process}.${id}`;
  }

  get #hasOthers(): boolean {
    return this.#bus.processes.size > 1;
  }

  #publish(message: TaskMessage): Promise<number> {
    return this.#bus.publish(this.#topic, message as unknown as Json);
  }

  /** Encrypts what may be secret, and sends the message that is made of it after all earlier ones. */
  #send(task: string, content: Json, send: (sealed: Json) => unknown): Promise<unknown> {
    const { sealer, hasKey, logger } = this.#host.server;
    const sealed = hasKey ? sealer.seal(purpose, content, task) : content;
    const earlier = this.#sending;
    // Within an object, so that the next message waits until this one is sent, not until it is received.
    const sent = (async () => {
      const [ready] = await Promise.all([sealed, earlier]);
      return { received: send(ready) };
    })();
    this.#sending = sent.catch((error: unknown) =>
      logger?.warn('a change of a task could not be published', { task, error }),
    );
    return sent.then(
      ({ received }) => received,
      () => undefined,
    );
  }

  async #open(task: string, content: Json): Promise<Json | undefined> {
    const { sealer, hasKey } = this.#host.server;
    if (!hasKey) return content;
    return typeof content === 'string' ? sealer.open(purpose, content, task) : undefined;
  }

  /** Publishes a change that this process has made. Resolves when it is published. */
  async changed(record: TaskRecord): Promise<void> {
    if (record.phase === 'ended') this.#forget(record.id);
    if (!this.#hasOthers) return;
    // An outcome may be large. It does not change any more, so the others read it.
    const state = record.phase === 'ended' ? null : stateOf(record);
    await this.#send(record.id, state, (sealed) => this.#publish(changeMessage(record, sealed)));
  }

  /** The same for a change that a client has requested. Resolves when the process that runs the task has handled it. */
  async confirmed(record: TaskRecord): Promise<void> {
    if (!this.#hasOthers) return this.changed(record);
    await waitAtMost(settleMs, this.changed(record));
    await this.settled(record);
  }

  sessionAdded(record: TaskRecord, session: KnownSession): void {
    if (!this.#hasOthers) return;
    const { id } = record;
    if (!this.#host.runs.has(id)) return void this.#publish({ type: 'known', task: id, session });
    // Published before all that its handler will do.
    this.#sendState(record, session, (message) => this.#publish(message));
  }

  followed(task: string): void {
    // It may have changed between the time it was read and now. A handler of this process knows all changes.
    if (!this.#host.runs.has(task)) this.#queue(task, () => this.#host.readAgain(task));
  }

  streamOpened(session: string): void {
    if (this.#hasOthers) void this.#publish({ type: 'stream', session });
  }

  /** A handler of this process writes. */
  writing(id: string, write: Promise<unknown>): void {
    const written = Promise.allSettled([this.#writes.get(id), write]).then(() => {
      if (this.#writes.get(id) === written) this.#writes.delete(id);
    });
    this.#writes.set(id, written);
  }

  /**
   * Whether the process that runs a task may have changed it since it was read. Clients poll, so it is asked once for each version:
   * if it stays the same, its handler had done nothing more.
   */
  mayBeBehind({ id, phase, version, lease }: TaskRecord): boolean {
    if (phase !== 'running' || lease === undefined) return false;
    const process = processOf(lease.holder);
    if (process === this.#bus.process) return this.#writes.has(id);
    if (this.#asked.get(id) === version || !this.#bus.processes.has(process)) return false;
    this.#asked.delete(id);
    this.#asked.set(id, version);
    if (this.#asked.size > maxAsked) this.#asked.delete(this.#asked.keys().next().value as string);
    return true;
  }

  /** Resolves when the process that runs a task has stored what its handler has done so far, or does not respond. */
  async settled({ id, phase, lease }: TaskRecord): Promise<void> {
    if (phase !== 'running' || lease === undefined) return;
    const process = processOf(lease.holder);
    if (process === this.#bus.process) await this.#writes.get(id);
    else if (this.#bus.processes.has(process)) {
      await this.#bus.request(process, this.#topic, { type: 'settle', task: id }, settleMs).catch(() => undefined);
    }
  }

  async #settle(task: string): Promise<true> {
    for (let round = 0; round < maxRounds; round++) {
      await this.#jobs.get(task);
      // The handler continues with what it got.
      await pause(0);
      if (!this.#writes.has(task) && !this.#jobs.has(task)) break;
      await this.#writes.get(task);
    }
    return true;
  }

  setReach(task: string, canReach: boolean): void {
    if (this.#reached.has(task) === canReach) return;
    if (canReach) this.#reached.add(task);
    else this.#reached.delete(task);
    void this.#publish({ type: 'reach', task, canReach });
  }

  isSender(task: string): boolean | undefined {
    const processes = this.#senders.processesOf(task);
    return processes && processes[0] === this.#bus.process;
  }

  /** Passes a message of a handler on to the processes that can reach the clients of its task. */
  send({ id, context, createdAtMs }: TaskRecord, message: HandlerMessage): void {
    if (context.sessionKey === undefined || !this.#hasOthers) return;
    const processes = this.#senders.processesOf(id);
    // Until the process with the stream of its session has said so, it gets the message if it has the stream.
    if (
      processes === undefined
        ? Date.now() - createdAtMs > announceMs
        : processes.every((each) => each === this.#bus.process)
    )
      return;
    void this.#send(id, message as unknown as Json, (content) => this.#publish({ type: 'message', task: id, content }));
  }

  #receive(message: TaskMessage, from: string): Json | undefined | Promise<Json> {
    const { followers } = this.#host;
    switch (message.type) {
      case 'settle':
        return this.#settle(message.task);
      case 'reach':
        // Those of this process, too: all apply them in the same order.
        this.#senders.set(message.task, from, message.canReach);
        followers.deliver(message.task);
        return undefined;
      case 'changed':
        if (from !== this.#bus.process) this.#receiveChange(message);
        return undefined;
      case 'known':
        if (followers.hasStream(message.session.key)) this.#queue(message.task, () => this.#followKnown(message));
        return undefined;
      case 'stream':
        if (from !== this.#bus.process) this.#sendTasks(message.session, from);
        return undefined;
      case 'message':
        if (from !== this.#bus.process && this.#concerns(message.task)) this.#receiveMessage(message);
        return undefined;
    }
  }

  /** Whether a task runs here, or something here follows it, or will. */
  #concerns(task: string): boolean {
    const { runs, followers } = this.#host;
    return runs.has(task) || followers.has(task) || this.#jobs.has(task);
  }

  #receiveChange({ task, phase, record, session }: TaskMessage & { readonly type: 'changed' }): void {
    const { runs, followers } = this.#host;
    const hasStream = session !== undefined && followers.hasStream(session.key);
    if (!this.#concerns(task) && !hasStream) {
      if (phase === 'ended') this.#forget(task);
      if (phase !== 'running' && phase !== 'ended') this.#host.mayBeDue();
      return;
    }
    this.#queue(task, async () => {
      // Its outcome is only in the store.
      if (phase === 'ended') {
        await this.#host.readAgain(task);
        return this.#forget(task);
      }
      const state = (await this.#open(task, record)) as unknown as TaskRecord | undefined;
      if (state === undefined) return;
      if (hasStream) followers.addStream(state, session.key, session.isReady);
      followers.changed(state);
      // A handler needs the responses to its input requests.
      if (runs.has(task)) await this.#host.readAgain(task);
    });
  }

  #receiveMessage({ task, content }: TaskMessage & { readonly type: 'message' }): void {
    this.#queue(task, async () => {
      const message = (await this.#open(task, content)) as HandlerMessage | undefined;
      if (message !== undefined) this.#host.followers.handlerMessage(task, message);
    });
  }

  #queue(task: string, run: () => Promise<void>): void {
    const job = (this.#jobs.get(task) ?? Promise.resolve())
      .then(run)
      .catch((error: unknown) => this.#host.server.logger?.warn('a change of a task was missed', { task, error }))
      .finally(() => {
        if (this.#jobs.get(task) === job) this.#jobs.delete(task);
      });
    this.#jobs.set(task, job);
  }

  /** Another process has the stream of a session now, and must follow its tasks. */
  #sendTasks(key: string, process: string): void {
    const send = (message: TaskMessage): void => this.#bus.send(process, this.#topic, message as unknown as Json);
    for (const { record, isReady } of this.#host.followers.tasksOf(key)) {
      const { id } = record;
      const session = { key, isReady };
      // With the state before all that is published after this, so that its clients are notified of that.
      if (this.#host.runs.has(id)) this.#sendState(record, session, send);
      else send({ type: 'known', task: id, session });
    }
  }

  #sendState(record: TaskRecord, session: KnownSession, send: (message: TaskMessage) => unknown): void {
    void this.#send(record.id, stateOf(record), (state) => send({ ...changeMessage(record, state), session }));
  }

  async #followKnown({ task, session }: TaskMessage & { readonly type: 'known' }): Promise<void> {
    const record = await this.#host.store.read(task);
    // If it has ended, its client may have been notified already.
    if (record === undefined || record.phase === 'ended') return;
    this.#host.followers.addStream(record, session.key, session.isReady);
  }

  #forget(task: string): void {
    this.#senders.delete(task);
    this.#reached.delete(task);
    this.#asked.delete(task);
  }

  /** Messages were missed: what is followed is read, and who can reach which clients is collected again. */
  #gap(): void {
    this.#senders.clear();
    for (const task of this.#reached) void this.#publish({ type: 'reach', task, canReach: true });
    for (const task of this.#host.followers.ids) this.#queue(task, () => this.#host.readAgain(task));
  }
}

const processOf = (holder: string): string => holder.slice(0, holder.indexOf('.'));

function changeMessage({ id, phase }: TaskRecord, record: Json): TaskMessage & { readonly type: 'changed' } {
  return { type: 'changed', task: id, phase, record };
}

/** What clients can see of a task that has not ended, and what is needed to send it. */
function stateOf(record: TaskRecord): Json {
  const { outcome: _outcome, ticket: _ticket, lease: _lease, ...rest } = record;
  return { ...rest, arguments: null, steps: [], inputs: record.inputs.filter(isOpen) } as unknown as Json;
}
