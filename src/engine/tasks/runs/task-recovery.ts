// Resumes tasks without a running handler: those of processes that ended, suspended ones whose input has arrived, and
// external ones. Also hands over the tasks of this process when it ends.

import { errorRows } from '../../../protocol/errors.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import type { JsonRpcRequest } from '../../../protocol/json-rpc.ts';
import { metaKeys } from '../../../protocol/meta.ts';
import { methods } from '../../../protocol/methods.ts';
import type { Json } from '../../../protocol/model.ts';
import type { Codec } from '../../../protocol/revisions/index.ts';
import { isVisible, type ToolEntry } from '../../catalog/catalog-entry.ts';
import { Session } from '../../channels/session.ts';
import type { Call, CallServer } from '../../contract.ts';
import { toToolResult } from '../../features/tool-result.ts';
import type { TaskEvent } from '../../ports.ts';
import { taskDigest } from '../store/new-record.ts';
import { sealedReason } from '../store/sealed-store.ts';
import { callerOfTask } from '../store/task-record.ts';
import type { TaskChange, TaskOutcome, TaskRecord } from '../store/task-store.ts';
import type { ExternalState } from '../task-options.ts';
import { type RunHost, TaskRun } from './task-run.ts';

/** What a server offers to run a handler again. */
export interface RecoveryServer extends Pick<CallServer, 'catalogOf' | 'callerCatalogs' | 'logger'> {
  /** The codec of a revision by its name. */
  codecOf(revision: string): Codec | undefined;
  /** Runs a call that no request brought, with all middleware around it; `prepare` sets its task. */
  runAgain(
    message: JsonRpcRequest,
    peer: Peer,
    codec: Codec,
    session: Session | undefined,
    prepare: (call: Call) => void,
  ): void;
}

/** The tasks of the server. */
interface RecoveryTasks extends RunHost {
  readonly runs: ReadonlyMap<string, TaskRun>;
  readonly runner: { claim(): Promise<void> };
  keptUntil(record: TaskRecord): number | null;
  readonly events: { emit(event: TaskEvent): void };
}

/** How long a step may take to finish when the process is stopping. */
const stepGraceMs = 2_000;

export class TaskRecovery {
  readonly #tasks: RecoveryTasks;
  readonly #server: RecoveryServer;
  #isClaiming = false;

  constructor(tasks: RecoveryTasks, server: RecoveryServer) {
    this.#tasks = tasks;
    this.#server = server;
  }

  /** A task may be due, because another process has changed it. */
  mayBeDue(): void {
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    const timer = setTimeout(() => {
      this.#isClaiming = false;
      this.#tasks.runner.claim().catch((error: unknown) => {
        this.#server.logger?.warn('tasks could not be claimed', { error });
      });
    }, 20);
    (timer as { unref?: () => void }).unref?.();
  }

  /** Resumes a task that this process has claimed. */
  resume(record: TaskRecord): void {
    const run = this.#tasks.runs.get(record.id);
    if (run !== undefined) return run.keep(record);
    this.#resume(record).catch((error: unknown) => {
      this.#server.logger?.error('a task could not be resumed', { task: record.id, error });
    });
  }

  async #resume(record: TaskRecord): Promise<void> {
    if (record.sealed === true) return void (await this.failSealed(record));
    if (record.cancelRequestedAtMs !== undefined) return this.#end(record, { type: 'cancelled' });
    const caller = callerOfTask(record);
    await this.#server.callerCatalogs?.known(caller);
    const entry = this.#server.catalogOf(caller).tools.get(record.tool);
    // The server that has the tool cannot be reached now: the task is claimed again when its lease has ended.
    if (entry === undefined && this.#server.callerCatalogs?.isKnown(caller) === false) return;
    if (entry?.task === undefined) return this.#end(record, failure(`Tool ${record.tool} does not exist any more`));
    if (record.phase === 'external') return this.#poll(record, entry);
    if (record.attempt > 1) {
      const ended = 'the process that ran it ended';
      if (record.recover === 'fail')
        return this.#end(record, failure(`The task was interrupted: ${ended}`, 'interrupted'));
      if (record.attempt > record.maxAttempts) {
        const times = `${record.maxAttempts} times`;
        return this.#end(record, failure(`The task was interrupted ${times}: ${ended}`, 'attempts'));
      }
    }
    if ((await taskDigest(record.tool, record.arguments)) !== record.digest) {
      return this.#end(record, failure('The arguments of the task were changed or lost', 'arguments'));
    }
    const codec = this.#server.codecOf(record.context.revision);
    if (codec === undefined) {
      return this.#end(record, failure(`Revision ${record.context.revision} is not supported any more`));
    }
    if (!isVisible(entry, caller.principal)) {
      this.#server.logger?.warn('a task does not run again: its caller may not use the tool', {
        task: record.id,
        tool: record.tool,
        remedy: 'if a restriction reads claims of callers, name them in createServer({ tasks: { claims } })',
      });
      return this.#end(record, failure(`The caller may not use tool ${record.tool} any more`, 'denied'));
    }
    this.#tasks.events.emit({ type: 'recovered', task: record });
    this.#run(record, entry, codec);
  }

  #run(record: TaskRecord, entry: ToolEntry, codec: Codec): void {
    const message: JsonRpcRequest = {
      jsonrpc: '2.0',
      id: record.id,
      method: methods.callTool.name,
      params: paramsOf(record),
    };
    const { clientInfo, capabilities, logLevel, sessionKey } = record.context;
    const { principal } = callerOfTask(record);
    const peer: Peer = { transport: 'memory', ...(principal === undefined ? {} : { principal }) };
    const facts = { key: sessionKey, capabilities, ...(clientInfo === undefined ? {} : { clientInfo }) };
    const level = logLevel === undefined ? {} : { level: logLevel };
    const session =
      codec.inputRequests === 'push' ? new Session(codec, facts, { initialized: true, ...level }) : undefined;
    this.#server.runAgain(message, peer, codec, session, (call) => {
      const run = new TaskRun(this.#tasks, call, entry, record);
      call.task = run;
      this.#tasks.started(run);
    });
  }

  /** Fails a task that this server cannot decrypt. Undefined: it has ended meanwhile. */
  failSealed(record: TaskRecord): Promise<TaskRecord | undefined> {
    const [outcome, expiresAtMs] = [failure(sealedReason, 'encrypted'), this.#tasks.keptUntil(record)];
    return this.#tasks.write(record, [{ type: 'end', outcome, expiresAtMs }]);
  }

  async #end(record: TaskRecord, outcome: TaskOutcome): Promise<void> {
    await this.#tasks.write(record, [{ type: 'end', outcome, expiresAtMs: this.#tasks.keptUntil(record) }]);
  }

  /** Asks another system about its work. */
  async #poll(record: TaskRecord, entry: ToolEntry): Promise<void> {
    const ticket = record.ticket ?? null;
    let state: ExternalState = { status: 'working' };
    try {
      state = (await entry.task?.poll?.(ticket, { id: record.id })) ?? state;
    } catch (error) {
      // The other system may be unreachable for a while.
      this.#server.logger?.warn('work of another system could not be polled', { task: record.id, error });
    }
    if (state.status !== 'working') return this.#end(record, externalOutcome(state, entry));
    const changes: TaskChange[] = [];
    if (state.message !== undefined && state.message !== record.message) {
      changes.push({ type: 'set-message', message: state.message });
    }
    const poll = entry.task?.poll === undefined ? {} : { dueAtMs: Date.now() + (entry.task?.pollMs[0] ?? 1_000) };
    await this.#tasks.write(record, [...changes, { type: 'hand-over', ticket, ...poll }]);
  }

  /** The process ends: tasks that may run again are handed over to others; the rest get some time to finish. */
  async handOver(): Promise<void> {
    const runs = [...this.#tasks.runs.values()];
    const isReplay = ({ record }: TaskRun): boolean => record.recover === 'replay';
    await Promise.all(runs.filter(isReplay).map((run) => this.#release(run)));
    const left = runs.filter((run) => !isReplay(run));
    await waitUntil(() => left.every((run) => run.isOver), this.#tasks.limits.closeGraceMs);
    const outcome = failure('The task was interrupted: the process that ran it ended', 'interrupted');
    await Promise.all(left.filter((run) => !run.isOver).map((run) => run.interrupt(outcome)));
  }

  async #release(run: TaskRun): Promise<void> {
    await waitUntil(() => run.isOver || !run.isInStep, stepGraceMs);
    await run.release();
  }
}

/** Resolves when the condition holds, or the time is over. */
async function waitUntil(condition: () => boolean, maxMs: number): Promise<void> {
  const endMs = Date.now() + maxMs;
  while (!condition() && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20));
}

export function failure(message: string, reason?: string): TaskOutcome {
  const data = reason === undefined ? {} : { data: { reason } };
  return { type: 'error', code: errorRows.internal.code, message, ...data };
}

/** The outcome that another system reports. */
export function externalOutcome(
  state: Exclude<ExternalState, { readonly status: 'working' }>,
  entry: ToolEntry | undefined,
): TaskOutcome {
  if (state.status === 'failed') return failure(state.message);
  const result = toToolResult(state.result, entry?.output !== undefined, 0, entry?.definition.textCopy);
  return { type: 'result', result: JSON.parse(JSON.stringify(result)) as Json, isError: result.isError === true };
}

/** The params of the call that created the task, as far as its handler can see them. */
function paramsOf({ tool, arguments: args, context }: TaskRecord): NonNullable<JsonRpcRequest['params']> {
  const { capabilities, clientInfo, logLevel, progressToken, traceparent } = context;
  return {
    name: tool,
    arguments: args,
    _meta: {
      [metaKeys.clientCapabilities]: capabilities,
      ...(clientInfo === undefined ? {} : { [metaKeys.clientInfo]: clientInfo }),
      ...(logLevel === undefined ? {} : { [metaKeys.logLevel]: logLevel }),
      ...(progressToken === undefined ? {} : { progressToken }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
  };
}
