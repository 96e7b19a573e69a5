// One run of a handler that may become a task, or has become one: creates the record, answers the request with the task,
// and writes the outcome. The runs of a process are in tasks.ts.

import type { FailureLog } from '../../../common/failure-log.ts';
import { UserError } from '../../../common/user-error.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import type { LogLevel, ToolResult } from '../../../protocol/model.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import type { Call, CallTask, RecordedInput, TaskTimes } from '../../contract.ts';
import type { InputRequest } from '../../input-requests/input-request.ts';
import { errorOutcome, isFailure, resultOutcome } from '../store/task-outcome.ts';
import type { TaskChange, TaskOutcome, TaskRecord } from '../store/task-store.ts';
import { logMessage } from '../task-events.ts';
import type { FacadeRun, ResolvedTaskOptions, TaskLimits } from '../task-options.ts';
import { ExternalWork } from './external-work.ts';
import { pauseBefore } from './pause.ts';
import { StatusMessage } from './status-message.ts';
import { TaskInputRequester } from './task-inputs.ts';
import { CallProgress } from './task-progress.ts';
import type { TaskStarts } from './task-starts.ts';
import { WaitingRequester } from './waiting-requester.ts';

/** The part of a server's tasks that a run uses. */
export interface RunHost {
  readonly limits: TaskLimits;
  /** Writes a new record for a call. Throws if there are too many tasks, or the store fails. */
  create(call: Call, entry: ToolEntry, times: TaskTimes, recorded: RecordedInput | undefined): Promise<Created>;
  /** Logs that tasks cannot be created. */
  readonly creations: FailureLog;
  /** Answers the request with the task; `isFacade`: with a text that contains its id. */
  answer(call: Call, record: TaskRecord, isFacade: boolean): void;
  /** The run holds this record from now on. */
  started(run: TaskRun): void;
  /** The run no longer holds the record. */
  stopped(run: TaskRun): void;
  /** Another process has taken the task over, or may do so. */
  leaseLost(record: TaskRecord): void;
  /** Writes changes of a running task, and announces them. Undefined: another process was faster, or the task has ended. */
  write(record: TaskRecord, changes: readonly TaskChange[]): Promise<TaskRecord | undefined>;
  /** Sends progress or a log message to the client of a task, where the revision has that. */
  sendProgress(record: TaskRecord, progress: number, total: number | undefined, message: string | undefined): void;
  sendLog(record: TaskRecord, level: LogLevel, logger: string | undefined, data: unknown): void;
  /** When handlers start. */
  readonly starts: TaskStarts;
}

export type Created = { readonly created: TaskRecord } | { readonly existing: TaskRecord };

/** Why a run is stopped; the reason of its signal. */
export type RunStopReason = 'cancelled' | 'expired' | 'lease-lost' | 'shutdown' | 'suspended';

/** How often a slow call is checked that cannot become a task yet, because it waits for input. */
const adoptionRetryMs = 100;

export class TaskRun implements CallTask {
  readonly #host: RunHost;
  readonly #call: Call;
  readonly entry: ToolEntry;
  readonly #options: ResolvedTaskOptions;
  /** `now`: becomes a task before the handler starts. `later`: may become one while it runs. `again`: is one already. */
  readonly #start: 'now' | 'later' | 'again';
  #times: TaskTimes;
  readonly #facade: FacadeRun | undefined;
  readonly #message = new StatusMessage((message) => this.#writeMessage(message));
  readonly #progress: CallProgress;
  #record: TaskRecord | undefined;
  #creating: Promise<boolean> | undefined;
  #inputs: TaskInputRequester | undefined;
  #stopped: RunStopReason | undefined;
  #isOver = false;
  #suspension: ReturnType<typeof setTimeout> | undefined;
  #slow: ReturnType<typeof setTimeout> | undefined;

  constructor(
    host: RunHost,
    call: Call,
    entry: ToolEntry,
    start: 'now' | 'later' | TaskRecord,
    { ttlMs, facade }: { readonly ttlMs?: number | undefined; readonly facade?: FacadeRun } = {},
  ) {
    this.#host = host;
    this.#call = call;
    this.entry = entry;
    this.#options = entry.task as ResolvedTaskOptions;
    this.#start = typeof start === 'string' ? start : 'again';
    this.#times = { ttlMs };
    this.#facade = facade;
    this.#progress = new CallProgress(call);
    if (typeof start === 'string') return;
    this.#record = start;
    this.#inputs = new TaskInputRequester(call, this.#inputTask(), undefined);
    call.inputRequester = this.#inputs;
  }

  get id(): string | undefined {
    return this.#record?.id;
  }
  get attempt(): number {
    return this.#record?.attempt ?? 1;
  }
  /** The latest known record. */
  get record(): TaskRecord {
    return this.#record as TaskRecord;
  }
  get signal(): AbortSignal {
    return this.#call.signal;
  }
  get modelAnswers(): boolean {
    return this.#record?.context.modelAnswers ?? this.#facade?.modelAnswers ?? false;
  }

  /** Whose limits it counts against. */
  get peer(): Peer {
    return this.#call.peer;
  }

  /** A client without tasks waits for the result. */
  get isInline(): boolean {
    return this.#facade !== undefined && this.#record === undefined;
  }
  get isOver(): boolean {
    return this.#isOver;
  }
  get isInStep(): boolean {
    return this.#inputs?.isInStep === true;
  }

  run(handler: () => ToolResult | Promise<ToolResult>): ToolResult | Promise<ToolResult> {
    if (this.#start === 'again') return this.#runAgain(handler);
    return this.#start === 'now' ? this.#runAsTask(handler) : this.#runWithClient(handler);
  }

  async #runAgain(handler: () => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    await pauseBefore(this.attempt, this.signal);
    if (this.#stopped !== undefined) throw this.signal.reason;
    return this.#host.starts.run(this.entry, this.peer, this.signal, handler);
  }

  async #runAsTask(handler: () => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    const isTask = await this.#becomeTask();
    // The request was answered with a task that existed, or nothing waits for the response.
    if (isTask && this.#record === undefined) return { content: [] };
    return this.#host.starts.run(this.entry, this.peer, this.signal, handler);
  }

  async #runWithClient(handler: () => ToolResult | Promise<ToolResult>): Promise<ToolResult> {
    const { start, support, afterMs } = this.#options;
    if (this.#facade !== undefined) {
      this.#progress.keepAlive();
      this.#adoptAfter(this.#facade.afterMs);
    } else if (start === 'when-slow' || support === 'required') this.#adoptAfter(afterMs);
    try {
      return await handler();
    } finally {
      clearTimeout(this.#slow);
      this.#progress.stop();
      // If the task is already being created, the client gets it, even if the handler has finished.
      await this.#creating;
    }
  }

  #adoptAfter(ms: number): void {
    this.#slow = setTimeout(() => {
      if (this.#call.settled || this.#creating !== undefined) return;
      if (this.#call.waiting > 0) return this.#adoptAfter(adoptionRetryMs);
      this.#becomeTask().catch((error: unknown) => {
        // It stays a call that the client waits for.
        this.#call.server.logger?.warn('a call could not become a task', { tool: this.entry.key, error });
      });
    }, ms);
    (this.#slow as { unref?: () => void }).unref?.();
  }

  async detach(times?: TaskTimes): Promise<void> {
    // A client without tasks gets an id only if the call is slow.
    if (this.#record !== undefined || this.#facade !== undefined || this.#call.settled) return;
    this.#times = { ...this.#times, ...times };
    await this.#becomeTask();
  }

  /** A model that is to answer can only do so when it has the id of the task. */
  async prepareInput(requests: readonly InputRequest[]): Promise<void> {
    if (this.#record !== undefined || !this.modelAnswers || this.#call.settled) return;
    if (requests.some(({ kind }) => kind === 'elicit')) await this.#becomeTask();
  }

  /** False: the task could not be created, and the client waits for the result. */
  #becomeTask(): Promise<boolean> {
    return (this.#creating ??= this.#create());
  }

  async #create(): Promise<boolean> {
    const call = this.#call;
    const before = call.inputRequester;
    // What the handler requests from now on waits for the task.
    call.inputRequester = new WaitingRequester(call, () => this.#creating as Promise<boolean>);
    let created: Created;
    try {
      created = await this.#host.create(call, this.entry, this.#times, before?.recorded());
    } catch (error) {
      call.inputRequester = before;
      if (this.#start === 'now' && this.#options.support === 'required') throw error;
      this.#host.creations.failed(error, { tool: this.entry.key });
      return false;
    }
    this.#host.creations.succeeded();
    if ('existing' in created) {
      this.#host.answer(call, created.existing, this.#facade !== undefined);
      return true;
    }
    this.#record = created.created;
    this.#progress.stop();
    this.#inputs = new TaskInputRequester(call, this.#inputTask(), before?.recorded());
    call.inputRequester = this.#inputs;
    this.#host.started(this);
    if (call.settled) {
      // The client cancelled, or left, before it got the task: nothing can ask for it.
      await this.end({ type: 'cancelled', reason: 'The client left before it got the task' });
      this.stop('cancelled');
      throw this.signal.reason;
    }
    this.#host.answer(call, this.#record, this.#facade !== undefined);
    call.forgetConnection();
    return true;
  }

  #inputTask(): ConstructorParameters<typeof TaskInputRequester>[1] {
    const run = this;
    return {
      get record() {
        return run.record;
      },
      limits: this.#host.limits,
      replays: this.#options.recover === 'replay',
      modelAnswers: this.modelAnswers,
      change: (changes) => this.#change(changes),
      idle: (isIdle) => this.#scheduleSuspension(isIdle),
    };
  }

  async #change(changes: readonly TaskChange[]): Promise<void> {
    // A handler that ignores its signal continues, and must not write what another process now runs.
    if (this.#isOver) throw this.signal.reason;
    const written = await this.#host.write(this.record, changes);
    if (written !== undefined) return;
    this.stop('lease-lost');
    throw this.signal.reason;
  }

  /** A newer state of the record, from any process. */
  update(record: TaskRecord): void {
    if (record.version <= this.record.version || this.#isOver) return;
    const { fence } = this.record;
    this.#record = record;
    if (record.phase === 'ended') return this.stop(record.outcome?.type === 'cancelled' ? 'cancelled' : 'lease-lost');
    if (record.fence !== fence) return this.stop('lease-lost');
    if (record.cancelRequestedAtMs !== undefined) this.requestStop();
    this.#inputs?.update(record);
  }

  /** The lease ended for a moment, and this process was the first to claim the task: the handler continues. */
  keep(record: TaskRecord): void {
    this.#record = record;
  }

  /** Signals the handler that its task was cancelled. What it returns now is still the outcome. */
  requestStop(): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = 'cancelled';
    this.#call.abort('cancelled');
  }

  /** Ends the run without an outcome. */
  stop(reason: RunStopReason): void {
    if (this.#isOver) return;
    this.#finish();
    if (reason === 'lease-lost') this.#host.leaseLost(this.record);
    if (this.#stopped === undefined) {
      this.#stopped = reason;
      this.#call.abort(reason);
    }
  }

  #finish(): void {
    this.#isOver = true;
    this.#message.stop();
    clearTimeout(this.#suspension);
    this.#host.stopped(this);
  }

  progress(progress: number, total: number | undefined, message: string | undefined): void {
    if (this.#record === undefined) return this.#progress.send(progress, total, message);
    if (this.#isOver) return;
    const end = Number.isFinite(total) ? total : undefined;
    this.#message.set(message ?? (end === undefined ? String(progress) : `${progress}/${end}`));
    if (this.#progress.advance(progress)) this.#host.sendProgress(this.#record, progress, end, message);
  }

  setMessage(message: string): void {
    if (this.#record !== undefined && !this.#isOver) this.#message.set(message);
  }

  #writeMessage(message: string): void {
    if (this.record.message === message || this.#isOver) return;
    this.#change([{ type: 'set-message', message }]).catch(() => {
      // The next message, or the outcome, is written instead.
    });
  }

  log(level: LogLevel, logger: string | undefined, data: unknown): void {
    if (this.#isOver) return;
    logMessage(this.#call.server.logger, this.record, level, data);
    this.#host.sendLog(this.record, level, logger, data);
  }

  ended(result: unknown): void {
    if (this.#isOver) return;
    if (result instanceof ExternalWork) return this.#handOver(result);
    // A handler that fails after its signal was aborted has stopped as requested.
    if (this.#stopped === 'cancelled' && isFailure(result)) return void this.end({ type: 'cancelled' });
    const { outcome, length } = resultOutcome(this.#call, result, this.#host.limits.maxOutcomeBytes);
    void this.end(outcome, length);
  }

  failed(error: WireError): void {
    if (this.#isOver) return;
    void this.end(this.#stopped === 'cancelled' ? { type: 'cancelled' } : errorOutcome(this.#call, error));
  }

  /** Writes the outcome. If another was first, this one is dropped: a task has one outcome. `length`: its characters, about. */
  async end(outcome: TaskOutcome, length = 0): Promise<void> {
    const { record } = this;
    this.#finish();
    const leastMs = Date.now() + this.#options.keepMs;
    const expiresAtMs = record.expiresAtMs === null ? null : Math.max(record.expiresAtMs, leastMs);
    try {
      const write = () => this.#host.write(record, [{ type: 'end', outcome, expiresAtMs }]);
      const written = await this.#host.starts.store(this.peer, length, write);
      if (written !== undefined) this.#record = written;
    } catch (error) {
      if (error instanceof UserError && outcome.type === 'result') {
        return this.end(errorOutcome(this.#call, wireErrors.resultNotStored(error.message)));
      }
      // Its lease will end; the task then fails as interrupted, or runs again.
      this.#call.server.logger?.error('the outcome of a task could not be stored', { task: record.id, error });
    }
  }

  #handOver({ ticket }: ExternalWork): void {
    const { poll, pollMs } = this.#options;
    const due = poll === undefined ? {} : { dueAtMs: Date.now() + pollMs[0] };
    this.#finish();
    this.#host.write(this.record, [{ type: 'hand-over', ticket, ...due }]).catch((error: unknown) => {
      this.#call.server.logger?.error('work of another system could not be stored', { task: this.id, error });
    });
  }

  #scheduleSuspension(isIdle: boolean): void {
    clearTimeout(this.#suspension);
    if (!isIdle || this.#options.recover !== 'replay' || this.#options.suspend === false) return;
    this.#suspension = setTimeout(() => void this.suspend(), this.#host.limits.suspendAfterMs);
    (this.#suspension as { unref?: () => void }).unref?.();
  }

  /** Drops the handler while it waits for input. It runs again when the responses are there. */
  async suspend(): Promise<void> {
    const inputs = this.#inputs;
    if (inputs === undefined || !inputs.isIdle || this.#isOver) return;
    inputs.close();
    this.stop('suspended');
    await this.#handBack({ type: 'suspend', dueAtMs: inputs.deadlineMs });
  }

  /** Ends the task with this outcome, whatever its handler does. */
  async interrupt(outcome: TaskOutcome): Promise<void> {
    await this.end(outcome);
    this.#call.abort('shutdown');
  }

  /** Gives the task to another process. */
  async release(): Promise<void> {
    if (this.#isOver) return;
    this.#inputs?.close();
    this.stop('shutdown');
    await this.#handBack({ type: 'release', dueAtMs: Date.now() });
  }

  async #handBack(change: TaskChange): Promise<void> {
    try {
      await this.#host.write(this.record, [change]);
    } catch (error) {
      // Its lease will end anyway.
      this.#call.server.logger?.warn('a task could not be handed back', { task: this.id, error });
    }
  }
}
