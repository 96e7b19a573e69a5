// How tools run as tasks: the options of a tool and of a server, their defaults, and their checks at registration. Loaded at
// start, so it imports nothing else of tasks/.

import { assertKnownOptions, resolveLimits } from '../../common/known-options.ts';
import type { Principal } from '../../protocol/exchange.ts';
import type { Json, ToolResult } from '../../protocol/model.ts';
import type { TaskStore } from './store/task-store.ts';

/** Whether clients may, or must, let a tool run as a task. */
export type TaskSupport = 'forbidden' | 'optional' | 'required';

/**
 * When a call becomes a task, where the server may choose. `immediately`: before the handler starts. `when-slow`: when it has
 * run for `afterMs`. `on-detach`: when it calls `ctx.detach()`. `external`: the handler only starts work in another system.
 */
export type TaskStart = 'immediately' | 'when-slow' | 'on-detach' | 'external';

/** What `poll` found out about work in another system. */
export type ExternalState =
  | { readonly status: 'working'; readonly message?: string }
  | { readonly status: 'completed'; readonly result: string | ToolResult }
  | { readonly status: 'failed'; readonly message: string };

/** How a tool runs as a task. */
export interface TaskOptions {
  /** Default `optional`, or `required` for tools that cannot be called inline. */
  readonly support?: TaskSupport;
  /** Default: `when-slow` for `optional`, `immediately` for `required` or with `dedupe`. */
  readonly start?: TaskStart;
  /** How long a call runs before `when-slow` makes it a task. Default 500. */
  readonly afterMs?: number;
  /** How long the task is stored, from its creation on; longer if it runs longer. Default one hour. */
  readonly ttlMs?: number;
  /** How long its outcome can be read at least, after it has ended. Default 15 minutes. */
  readonly keepMs?: number;
  /** The polling interval for clients: the first one, and the longest while nothing changes. Default 1 to 15 s. */
  readonly pollMs?: readonly [first: number, longest: number];
  /**
   * What happens when the process that runs it ends. `fail` (default): the task fails, and its handler never runs twice.
   * `replay`: the handler runs again from the top; finished steps and input responses are reused.
   */
  readonly recover?: 'fail' | 'replay';
  /** How often the handler may start, with `replay`. Default 3. */
  readonly attempts?: number;
  /**
   * Whether the handler of a `replay` task is dropped from memory while it waits for input. Default true; false for a handler
   * that is connected to something which would not survive that.
   */
  readonly suspend?: boolean;
  /**
   * Returns a key: while a task of the same caller, tool and key has not ended, a second call gets that task. Undefined: no
   * key. It helps against clients that repeat a call whose response was lost.
   */
  dedupe?(args: never, principal: Principal | undefined): string | undefined;
  /** Whether clients without tasks may call it and wait. Default true; false for `external`. */
  readonly inline?: boolean;
  /** How many tasks of this tool run at a time in one process; more wait. Default: no limit. */
  readonly concurrency?: number;
  /**
   * Whether a client without tasks gets an id instead of waiting for a slow call; see `FacadeOptions`. `afterMs`: how long it
   * waits. Default: as the server has it.
   */
  readonly facade?: boolean | { readonly afterMs?: number };
  /** Asks the other system about work, every first `pollMs`. Without it, that system calls `server.tasks.settle`. */
  poll?(ticket: Json, task: { readonly id: string }): ExternalState | Promise<ExternalState>;
}

/** The options of a tool with all defaults. */
export interface ResolvedTaskOptions extends TaskOptions {
  readonly support: 'optional' | 'required';
  readonly start: TaskStart;
  readonly afterMs: number;
  readonly ttlMs: number;
  readonly keepMs: number;
  readonly pollMs: readonly [first: number, longest: number];
  readonly recover: 'fail' | 'replay';
  readonly attempts: number;
  readonly inline: boolean;
  readonly concurrency: number;
}

/** Limits for the tasks of a server. */
export interface TaskLimits {
  /** Tasks of one caller that have not ended; stops one caller from using up the limit of all. */
  readonly maxActivePerCaller: number;
  /** Tasks of all callers that have not ended; stops callers from starting work without limit. */
  readonly maxActive: number;
  /** Tasks that are stored, ended ones included; stops them from filling the store. */
  readonly maxStored: number;
  /** Bytes of an outcome as JSON; a larger one fails the task. Stops results from filling the store. */
  readonly maxOutcomeBytes: number;
  /** Input requests of one task without a response; stops a handler from filling what every poll returns. */
  readonly maxOpenInputs: number;
  /** Input requests of one task in all; stops a client with invalid responses from being asked forever. */
  readonly maxInputs: number;
  /** Steps of one task; stops a handler from filling the store. */
  readonly maxSteps: number;
  /** Characters of input responses and steps of one task, as JSON; stops responses from filling the store. */
  readonly maxRecordedLength: number;
  /** Requests that wait for the result of one task; stops a caller from holding connections without limit. */
  readonly maxWaiting: number;
  /** The longest time that a client may request for storing a task; 0: tasks may be stored forever. */
  readonly maxTtlMs: number;
  /** How long a handler may take to end after its task was cancelled. */
  readonly cancelGraceMs: number;
  /** For how long a process holds the right to run a task without renewing it. */
  readonly leaseMs: number;
  /** After this time of waiting for input, the handler of a `replay` task is dropped from memory. */
  readonly suspendAfterMs: number;
  /** How long running tasks may continue after the server was asked to close. */
  readonly closeGraceMs: number;
}

export const defaultTaskLimits: TaskLimits = {
  maxActivePerCaller: 100,
  maxActive: 10_000,
  maxStored: 100_000,
  maxOutcomeBytes: 8 * 1024 * 1024,
  maxOpenInputs: 32,
  maxInputs: 256,
  maxSteps: 1_000,
  maxRecordedLength: 4 * 1024 * 1024,
  maxWaiting: 8,
  maxTtlMs: 7 * 24 * 60 * 60_000,
  cancelGraceMs: 10_000,
  leaseMs: 30_000,
  suspendAfterMs: 60_000,
  closeGraceMs: 10_000,
};

/**
 * Ordinary tools for clients without tasks: a call that takes longer than `afterMs` is answered with a text that contains the
 * id of a task, and the model asks for the result with `task_status` or ends the task with `task_cancel`.
 */
export interface FacadeOptions {
  /** How long such a client waits for the result before it gets an id. Below the time limit of clients. Default 45,000. */
  readonly afterMs?: number;
  /**
   * Whether the model may answer the forms that a task asks for, with `task_answer`. It then answers instead of the user.
   * Default false: users are asked, where the client supports it.
   */
  readonly questions?: boolean;
}

/** The options for the tasks of a server. */
export interface TasksOptions {
  /** Tools for clients without tasks. Default: none, such clients wait for the result. */
  readonly facade?: boolean | FacadeOptions;
  /** Where tasks are stored. Default: in memory, so they end with the process. */
  readonly store?: TaskStore;
  /** Changes to the default limits. */
  readonly limits?: Partial<TaskLimits>;
  /** Separates the tasks of several servers that share a store. Default: the name of the server. */
  readonly service?: string;
  /**
   * Claims of callers that are stored with their tasks, by name: those that your restrictions, middleware or handlers read.
   * A handler that runs again after a restart has only these. Default: none.
   */
  readonly claims?: readonly string[];
}

const starts: readonly TaskStart[] = ['immediately', 'when-slow', 'on-detach', 'external'];
const supports: readonly TaskSupport[] = ['forbidden', 'optional', 'required'];

const ofTools: Record<keyof TaskOptions, true> = {
  support: true,
  start: true,
  afterMs: true,
  ttlMs: true,
  keepMs: true,
  pollMs: true,
  recover: true,
  attempts: true,
  suspend: true,
  dedupe: true,
  inline: true,
  concurrency: true,
  facade: true,
  poll: true,
};
const ofServers: Record<keyof TasksOptions, true> = {
  facade: true,
  store: true,
  limits: true,
  service: true,
  claims: true,
};

/** Checks the `task` of a tool and fills in defaults. Undefined: the tool never runs as a task. */
export function resolveTaskOptions(
  where: string,
  given: TaskSupport | TaskOptions | undefined,
): ResolvedTaskOptions | undefined {
  return given === undefined ? undefined : resolveGiven(where, given);
}

// A function of its own: a server whose tools have no task does not compile it.
function resolveGiven(where: string, given: TaskSupport | TaskOptions): ResolvedTaskOptions | undefined {
  const options: TaskOptions = typeof given === 'string' ? { support: given } : given;
  const fail = (problem: string): never => {
    throw new TypeError(`${where}, task: ${problem}`);
  };
  if (typeof options !== 'object' || options === null) return fail('must be "optional", "required" or an object');
  assertKnownOptions(`task of ${where}`, options, ofTools);
  const needsTask = options.start === 'external' || options.inline === false;
  const { support = needsTask ? 'required' : 'optional', recover = 'fail' } = options;
  if (!supports.includes(support)) fail(`support must be one of ${supports.join(', ')}, not ${show(support)}`);
  if (support === 'forbidden') return undefined;
  const isImmediate = support === 'required' || options.dedupe !== undefined;
  const { start = isImmediate ? 'immediately' : 'when-slow' } = options;
  if (!starts.includes(start)) fail(`start must be one of ${starts.join(', ')}, not ${show(start)}`);
  if (recover !== 'fail' && recover !== 'replay') fail(`recover must be "fail" or "replay", not ${show(recover)}`);
  const { afterMs = 500, ttlMs = 3_600_000, keepMs = 900_000, attempts = 3, pollMs = [1_000, 15_000] } = options;
  const { concurrency = Number.POSITIVE_INFINITY, inline = start !== 'external' } = options;
  for (const [name, value] of Object.entries({ afterMs, ttlMs, keepMs, attempts, concurrency })) {
    if (typeof value !== 'number' || !(value > 0)) fail(`${name} must be a number above 0, not ${show(value)}`);
  }
  const [first = 0, longest = 0] = Array.isArray(pollMs) ? pollMs : [];
  if (!(Number.isInteger(first) && Number.isInteger(longest) && first > 0 && longest >= first)) {
    fail(`pollMs must be two integers above 0, the second at least as large as the first, not ${show(pollMs)}`);
  }
  if (options.dedupe !== undefined && start !== 'immediately' && start !== 'external') {
    fail('dedupe needs start "immediately" or "external": a handler that runs already cannot become another task');
  }
  const facadeMs = typeof options.facade === 'object' ? options.facade.afterMs : undefined;
  if (facadeMs !== undefined) checkFacadeMs(facadeMs, fail);
  if (options.poll !== undefined && start !== 'external') fail('poll needs start "external"');
  if (support === 'optional' && !inline) fail('a tool that cannot be called inline needs support "required"');
  if (start === 'external' && inline) fail('a tool with start "external" cannot be called inline');
  return { ...options, support, start, afterMs, ttlMs, keepMs, pollMs, recover, attempts, inline, concurrency };
}

const defaultFacadeMs = 45_000;

/** How long a client without tasks waits for a tool; undefined: until it has ended. */
export function facadeMsOf({ facade: own }: ResolvedTaskOptions, { facade: shared }: TasksOptions): number | undefined {
  if (!(own ?? shared)) return undefined;
  const ownMs = typeof own === 'object' ? own.afterMs : undefined;
  return ownMs ?? (typeof shared === 'object' ? shared.afterMs : undefined) ?? defaultFacadeMs;
}

/** How a call of a client without tasks becomes one. */
export interface FacadeRun {
  /** How long the client waits. */
  readonly afterMs: number;
  /** The client cannot ask its user, and its model may answer instead. */
  readonly modelAnswers: boolean;
}

/** Whether models may answer the input requests of tasks. */
export function modelsAnswer({ facade }: TasksOptions): boolean {
  return typeof facade === 'object' && facade.questions === true;
}

export const resolveTaskLimits = ({ limits = {} }: TasksOptions): TaskLimits =>
  resolveLimits(defaultTaskLimits, limits, ['cancelGraceMs', 'closeGraceMs', 'suspendAfterMs']);

/** Checks the options of a server. */
export function checkTasksOptions(options: TasksOptions): void {
  assertKnownOptions('tasks of createServer', options, ofServers);
  const { facade } = options;
  resolveTaskLimits(options);
  const fail = (problem: string): never => {
    throw new TypeError(`createServer, tasks: ${problem}`);
  };
  if (typeof facade === 'object' && facade.afterMs !== undefined) checkFacadeMs(facade.afterMs, fail);
}

function checkFacadeMs(value: unknown, fail: (problem: string) => never): void {
  if (typeof value !== 'number' || !(value > 0)) fail(`facade.afterMs must be a number above 0, not ${show(value)}`);
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
}
