// The tasks of one server in this process: creates them, runs them, and applies changes requested by clients and
// programs. The requests of clients are in features/tasks.ts, taking over tasks of other processes in task-recovery.ts.

import { toBase64Url } from '../../common/base64url.ts';
import type { FailureLog } from '../../common/failure-log.ts';
import { UserError } from '../../common/user-error.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Peer } from '../../protocol/exchange.ts';
import type { JsonRpcResponse } from '../../protocol/json-rpc.ts';
import type { Json, JsonObject, LogLevel, ToolResult } from '../../protocol/model.ts';
import { encodeCreatedTask, type TaskView } from '../../protocol/revisions/tasks.ts';
import type { PendingRequests } from '../calls/pending-requests.ts';
import type { ToolEntry } from '../catalog/catalog-entry.ts';
import type { Call, CallChannel, CallServer, LoadedTasks, RecordedInput, TaskTimes } from '../contract.ts';
import type { Bus } from '../ports.ts';
import { admit } from './admission.ts';
import { ownerOf } from './clients/declared-tasks.ts';
import { callFacade, encodeHandle } from './clients/facade.ts';
import type { FacadeTool } from './clients/facade-tools.ts';
import { followTasks } from './clients/follow-tasks.ts';
import { type HandlerMessage, TaskFollowers } from './clients/task-followers.ts';
import { TaskReader } from './clients/task-reader.ts';
import { TaskViews } from './clients/task-views.ts';
import { answerInputs, takeResponse } from './runs/answer-inputs.ts';
import { createCreationLog } from './runs/creation-log.ts';
import { externalOutcome, type RecoveryServer, TaskRecovery } from './runs/task-recovery.ts';
import type { Created, RunHost, TaskRun } from './runs/task-run.ts';
import { TaskRunner } from './runs/task-runner.ts';
import { TaskSpace } from './runs/task-space.ts';
import { TaskStarts } from './runs/task-starts.ts';
import { SharedTasks } from './shared-tasks.ts';
import { ChangesByOthers } from './store/changes-by-others.ts';
import { createMemoryTaskStore } from './store/memory-store.ts';
import { newRecord } from './store/new-record.ts';
import { sealTasks } from './store/sealed-store.ts';
import { callerOfTask } from './store/task-record.ts';
import type { TaskChange, TaskOutcome, TaskRecord, TaskStore } from './store/task-store.ts';
import { eventTypes, type ObservedServer, TaskEvents } from './task-events.ts';
import {
  type ExternalState,
  modelsAnswer,
  resolveTaskLimits,
  type TaskLimits,
  type TasksOptions,
} from './task-options.ts';

/** The server of the tasks. */
export interface TasksServer extends CallServer, RecoveryServer, ObservedServer {
  readonly identity: { readonly name: string };
  readonly hasKey: boolean;
  readonly pending: PendingRequests;
  /** Of the ids of requests to clients. */
  readonly idPrefix: string;
  /** Undefined without a bus. */
  readonly shared: { readonly bus: Bus } | undefined;
}

/** How often the outcome of a task is written again when the store fails, and the pauses between. */
const retryPausesMs = [200, 1_000, 3_000];
/** How long a store may take longer than the handlers when a server closes. */
const storeGraceMs = 3_000;

export class Tasks implements LoadedTasks, RunHost {
  readonly server: TasksServer;
  readonly #options: TasksOptions;
  readonly store: TaskStore;
  readonly limits: TaskLimits;
  readonly service: string;
  readonly views: TaskViews;
  readonly followers: TaskFollowers;
  /** Undefined without a bus, or if tasks are in the memory of this process. */
  readonly shared: SharedTasks | undefined;
  readonly events: TaskEvents;
  readonly runner: TaskRunner;
  readonly runs = new Map<string, TaskRun>();
  readonly #recovery: TaskRecovery;
  readonly starts = new TaskStarts();
  readonly creations: FailureLog;
  readonly #space: TaskSpace;
  readonly #reader = new TaskReader(this);
  readonly #others: ChangesByOthers;
  #hasStored = false;

  constructor(server: TasksServer, options: TasksOptions) {
    this.server = server;
    this.#options = options;
    const store = options.store ?? createMemoryTaskStore();
    this.store = store.durable && server.hasKey ? sealTasks(store, server.sealer) : store;
    this.limits = resolveTaskLimits(options);
    this.service = options.service ?? server.identity.name;
    this.#space = new TaskSpace(this.store, this.limits, server.pending);
    this.views = new TaskViews((record) => this.#toolOf(record));
    this.followers = new TaskFollowers(
      (record) => this.view(record),
      () => server.idPrefix,
    );
    if (this.store.durable && server.shared !== undefined) this.shared = new SharedTasks(this, server.shared.bus);
    this.followers.shared = this.shared;
    this.events = new TaskEvents(server);
    this.#recovery = new TaskRecovery(this, server);
    this.creations = createCreationLog(server.logger);
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(12)));
    const isNeeded = (): boolean => this.#hasStored || this.runs.size > 0;
    this.runner = new TaskRunner(
      {
        store: this.store,
        service: this.service,
        leaseMs: this.limits.leaseMs,
        logger: server.logger,
        isNeeded,
        runs: this.runs,
        resume: (record) => {
          void this.shared?.changed(record);
          this.#recovery.resume(record);
        },
        expire: (record) => this.#expire(record),
        extend: () => this.#extend(),
        refresh: () => this.#refresh(),
      },
      this.shared?.holder(id) ?? id,
    );
    this.#others = new ChangesByOthers(this);
    this.runner.wake();
  }

  /** Whether leases, recovery and expiry of tasks work. False if the store fails or hangs. */
  get isHealthy(): boolean {
    const isIdle = !this.store.durable && !this.#hasStored && this.runs.size === 0;
    return isIdle || (this.runner.lastTick?.ageMs ?? 0) < 15_000;
  }

  view(record: TaskRecord): TaskView {
    return this.views.view(record);
  }

  admit(call: Call, entry: ToolEntry): ToolResult | undefined {
    return admit(this, this.#options, call, entry);
  }

  get modelsAnswer(): boolean {
    return modelsAnswer(this.#options);
  }

  callFacade(tool: FacadeTool, call: Call, args: JsonObject): Promise<ToolResult> {
    return callFacade(this, tool, call, args);
  }

  async create(call: Call, entry: ToolEntry, times: TaskTimes, recorded: RecordedInput | undefined): Promise<Created> {
    const owner = ownerOf(call.peer);
    await this.#space.check(call.peer, owner);
    const { store, service, limits, runner } = this;
    const { claims = [] } = this.#options;
    const { holder } = runner;
    const record = await newRecord({ call, entry, owner, service, limits, holder, times, recorded, claims });
    const created = await store.create(record).catch((cause: unknown) => {
      throw wireErrors.tasksUnavailable(cause);
    });
    if ('existing' in created) return { existing: created.existing };
    this.#hasStored = true;
    runner.wake();
    this.events.emit({ type: 'created', task: record, peer: call.peer, request: call });
    return { created: record };
  }

  answer(call: Call, record: TaskRecord, isFacade: boolean): void {
    if (isFacade) return call.succeed(encodeHandle(call, record, this), 'detached');
    this.followers.addSession(record, call);
    call.succeed(encodeCreatedTask(this.view(record), call.codec), 'detached');
  }

  started(run: TaskRun): void {
    this.runs.set(run.record.id, run);
    this.#space.add(run, { peer: run.peer, params: run.record.arguments });
    this.runner.wake();
  }

  stopped(run: TaskRun): void {
    if (this.runs.get(run.record.id) === run) this.runs.delete(run.record.id);
    this.#space.remove(run);
  }

  leaseLost(task: TaskRecord): void {
    this.events.emit({ type: 'lease-lost', task });
  }

  write(record: TaskRecord, changes: readonly TaskChange[]): Promise<TaskRecord | undefined> {
    const writing = this.#write(record, changes);
    this.shared?.writing(record.id, writing);
    return writing;
  }

  async #write(record: TaskRecord, changes: readonly TaskChange[]): Promise<TaskRecord | undefined> {
    const isEnd = changes.some(({ type }) => type === 'end');
    for (let attempt = 0; ; attempt++) {
      try {
        const changed = this.#applied(await this.store.change(record.id, { fence: record.fence }, changes), changes);
        if (changed !== undefined) void this.shared?.changed(changed);
        return changed;
      } catch (error) {
        const pauseMs = isEnd ? retryPausesMs[attempt] : undefined;
        // A store that is full would be full again.
        if (pauseMs === undefined || error instanceof UserError) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  /** Changes a task that may run anywhere. Undefined: it has ended, or does not exist. */
  async change(id: string, changes: readonly TaskChange[], peer?: Peer): Promise<TaskRecord | undefined> {
    const changed = await this.store.change(id, {}, changes).catch((cause: unknown) => {
      throw wireErrors.tasksUnavailable(cause);
    });
    const applied = this.#applied(changed, changes, peer);
    // The next request may be for another process.
    if (applied !== undefined) await this.shared?.confirmed(applied);
    return applied;
  }

  #applied(
    changed: TaskRecord | 'conflict' | 'gone',
    changes: readonly TaskChange[],
    peer?: Peer,
  ): TaskRecord | undefined {
    if (typeof changed === 'string') return undefined;
    this.changed(changed);
    for (const change of changes) {
      const key = change.type === 'answer-input' ? { key: change.key } : {};
      this.events.emit({
        type: eventTypes[change.type],
        task: changed,
        ...key,
        ...(peer === undefined ? {} : { peer }),
      });
    }
    return changed;
  }

  /** Shows a change to everything in this process that it concerns. */
  changed(record: TaskRecord): void {
    this.runs.get(record.id)?.update(record);
    this.followers.changed(record);
  }

  /** The task of a request, if its caller owns it. All others get the same error. */
  find(call: Call): TaskRecord | Promise<TaskRecord> {
    return this.#reader.find(call);
  }

  owned(id: string, peer: Peer): TaskRecord | undefined | Promise<TaskRecord | undefined> {
    return this.#reader.owned(id, peer);
  }

  failSealed(record: TaskRecord): Promise<TaskRecord | undefined> {
    return this.#recovery.failSealed(record);
  }

  /** Ends a task as cancelled. Undefined: it had ended before. */
  async cancelNow(record: TaskRecord, reason: string | undefined, peer?: Peer): Promise<TaskRecord | undefined> {
    const outcome: TaskOutcome = { type: 'cancelled', ...(reason === undefined ? {} : { reason }) };
    return this.change(record.id, [{ type: 'end', outcome, expiresAtMs: this.keptUntil(record) }], peer);
  }

  /** Asks a task to stop. Its handler has some time to end it itself. */
  async requestCancel(record: TaskRecord, peer?: Peer): Promise<void> {
    if (record.phase === 'ended') return;
    const changed = await this.change(record.id, [{ type: 'request-cancel' }], peer);
    if (changed === undefined) return;
    // No handler runs that could end it.
    if (changed.phase !== 'running') await this.cancelNow(changed, undefined, peer);
    else if (this.runs.has(record.id)) this.graceOf(changed);
  }

  /** Ends a cancelled task whose handler does not stop. */
  graceOf(record: TaskRecord): void {
    const timer = setTimeout(() => {
      this.cancelNow(record, undefined).catch((error: unknown) => {
        this.server.logger?.error('a cancelled task could not be ended', { task: record.id, error });
      });
    }, this.limits.cancelGraceMs);
    (timer as { unref?: () => void }).unref?.();
  }

  /** Ends a task with the outcome that another system reports. */
  async settle(
    id: string,
    state: Exclude<ExternalState, { readonly status: 'working' }>,
  ): Promise<TaskRecord | undefined> {
    const record = await this.#reader.read(id);
    if (record === undefined) return undefined;
    const outcome = externalOutcome(state, this.#toolOf(record));
    return this.change(id, [{ type: 'end', outcome, expiresAtMs: this.keptUntil(record) }]);
  }

  /** Until when an outcome that is written now can be read. */
  keptUntil(record: TaskRecord): number | null {
    const { expiresAtMs } = record;
    if (expiresAtMs === null) return null;
    return Math.max(expiresAtMs, Date.now() + (this.#toolOf(record)?.task?.keepMs ?? 900_000));
  }

  /** Its current definition, as the caller of the task sees it. */
  #toolOf(record: TaskRecord): ToolEntry | undefined {
    return this.server.catalogOf(callerOfTask(record)).tools.get(record.tool);
  }

  /** Takes responses to input requests. Those that nothing waits for are ignored. */
  answerInputs(record: TaskRecord, responses: JsonObject, peer?: Peer): Promise<void> {
    return answerInputs(this, record, responses, peer);
  }

  respond(response: JsonRpcResponse, peer: Peer): void {
    takeResponse(this, response, peer);
  }

  read(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined> {
    return this.#reader.read(id);
  }

  routesChanged(): void {
    this.followers.deliverSoon();
  }

  streamChanged(channel: CallChannel, isOpened: boolean): void {
    this.followers.streamChanged(channel, isOpened);
    this.followers.deliverSoon();
  }

  acceptedIds(call: Call, ids: readonly string[]): Promise<readonly string[]> {
    return this.#reader.acceptedIds(call, ids);
  }

  follow(call: Call, ids: readonly string[]): () => void {
    return followTasks(this.#reader, this.followers, call, ids);
  }

  sendProgress(record: TaskRecord, progress: number, total: number | undefined, message: string | undefined): void {
    this.#sendMessage(record, ['progress', progress, total ?? null, message ?? null]);
  }

  sendLog(record: TaskRecord, level: LogLevel, logger: string | undefined, data: unknown): void {
    this.#sendMessage(record, ['log', level, logger ?? null, data as Json]);
  }

  #sendMessage(record: TaskRecord, message: HandlerMessage): void {
    this.followers.handlerMessage(record.id, message);
    this.shared?.send(record, message);
  }

  async #expire(record: TaskRecord): Promise<void> {
    this.runs.get(record.id)?.stop('expired');
    const outcome: TaskOutcome = { type: 'cancelled', reason: 'The task has expired' };
    await this.change(record.id, [{ type: 'end', outcome, expiresAtMs: Date.now() }]);
  }

  /** A running task does not expire: the client gets the longer time with its next poll. */
  async #extend(): Promise<void> {
    const nowMs = Date.now();
    const writes: Promise<unknown>[] = [];
    for (const { record, entry } of this.runs.values()) {
      const keepMs = entry.task?.keepMs ?? 0;
      if (record.expiresAtMs === null || record.expiresAtMs - nowMs > keepMs / 2) continue;
      writes.push(this.write(record, [{ type: 'extend', expiresAtMs: nowMs + keepMs }]));
    }
    if (writes.length > 0) await Promise.all(writes);
  }

  async #refresh(): Promise<void> {
    this.followers.deliverAll();
    if (this.store.durable) await this.#others.refresh();
    else this.#hasStored = (await this.store.count()).kept > 0;
  }

  mayBeDue(): void {
    this.#recovery.mayBeDue();
  }

  readAgain(id: string): Promise<void> {
    return this.#others.readAgain(id);
  }

  /** Ends the tasks of this process, or gives them to others. */
  async close(): Promise<void> {
    this.runner.stopClaiming();
    this.#others.close();
    this.shared?.close();
    if (this.store.durable) {
      const longestMs = this.limits.closeGraceMs + storeGraceMs;
      await Promise.race([
        this.#recovery.handOver(),
        new Promise((resolve) => setTimeout(resolve, longestMs).unref?.()),
      ]);
    }
    for (const run of [...this.runs.values()]) run.stop('shutdown');
    this.runner.close();
  }
}
