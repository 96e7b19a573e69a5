// The tool `execute_command`: a program from a list, with its arguments unchanged, no shell, inside the sandbox. If the
// sandbox does not work on this machine the tool is absent, and the log says why.

import { cleanText } from '../../common/hygiene.ts';
import { type Logger, silentLogger } from '../../common/logger.ts';
import { UserError } from '../../common/user-error.ts';
import type { Context } from '../../engine/context.ts';
import type { Server } from '../../engine/server.ts';
import { FileError, type OwnFiles } from '../../security/files/tree.ts';
import {
  defaultLimits,
  type Sandbox,
  SandboxError,
  type SandboxLevel,
  type SandboxLimits,
} from '../../security/sandbox/index.ts';
import type { AllowedFolders, Workspace } from '../workspace/workspace.ts';
import { denialText, failureOf } from './command-text.ts';
import { type CommandRule, defaultPrograms, rulesFor } from './programs.ts';
import { Sandboxes } from './sandboxes.ts';

export interface CommandOptions {
  /** Names or absolute paths; default: the documented set, as far as installed. */
  readonly programs?: readonly string[];
  /** The required sandbox level. Default `kernel`; below it a program can access more than the folders. */
  readonly level?: SandboxLevel;
  readonly limits?: Partial<SandboxLimits>;
  /** The user that programs run as when this process is root; never root. */
  readonly runAs?: { readonly uid: number; readonly gid: number };
  /** The server's own files, which are hidden from programs. */
  readonly own?: OwnFiles | undefined;
  /** Wraps the sandbox for one call, so that starts of programs can be recorded. */
  readonly record?: (sandbox: Sandbox, ctx: Context) => Sandbox;
}

/** How often a running command reports progress, to clients that asked for it. */
const progressEveryMs = 500;

/** A denied argument is shown up to this length. */
const maxShownChars = 200;

/** Installs the tool. Resolves to a function that closes it, or undefined when the tool is absent. */
export async function installCommands(
  server: Server,
  workspace: Workspace,
  options: CommandOptions = {},
): Promise<(() => Promise<void>) | undefined> {
  const logger = server.logger ?? silentLogger;
  const level = options.level ?? 'kernel';
  const prepared = await prepare(workspace, options, level, logger);
  if (prepared === undefined) return undefined;
  const { rules, sandboxes } = prepared;
  const limitMs = options.limits?.timeoutMs ?? defaultLimits.timeoutMs;
  const commands = new Commands(workspace, sandboxes, rules, { ...options, level }, limitMs);
  server.tool('execute_command', {
    description: 'Execute a shell command',
    input: {
      type: 'object',
      properties: { command: { type: 'string' }, args: { type: 'array', items: { type: 'string' } } },
      required: ['command'],
    },
    timeoutMs: limitMs + 10_000,
    run: ({ command, args = [] }, ctx) => commands.execute(command, args, ctx),
  });
  return () => sandboxes.close();
}

const nameOf = (rule: CommandRule | string): string => (typeof rule === 'string' ? rule : rule.name);

function policyOf({ limits, runAs, own }: CommandOptions, level: SandboxLevel) {
  return {
    level,
    ...(limits === undefined ? {} : { limits }),
    ...(runAs === undefined ? {} : { runAs }),
    ...(own === undefined ? {} : { hidden: () => own.paths() }),
  };
}

interface PreparedCommand {
  readonly rules: readonly (CommandRule | string)[];
  readonly sandboxes: Sandboxes;
}

/** Checks the sandbox for the operator's folders. There is no fallback to a weaker one: without it there is no tool. */
async function prepare(
  workspace: Workspace,
  options: CommandOptions,
  level: SandboxLevel,
  logger: Logger,
): Promise<PreparedCommand | undefined> {
  let rules: readonly (CommandRule | string)[] =
    options.programs === undefined ? defaultPrograms : rulesFor(options.programs);
  for (;;) {
    const sandboxes = new Sandboxes({ ...policyOf(options, level), programs: rules }, workspace.all.folders, logger);
    try {
      await sandboxes.use(workspace.all.folders, async ({ describe }) => {
        logger.info('commands run in a sandbox', { sandbox: describe, programs: rules.map(nameOf).join(' ') });
      });
      return { rules, sandboxes };
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      // Programs of the documented set may be missing here; those that the operator named must exist.
      if (error.code === 'program-not-found') {
        const missing = rules.find((rule) => error.message.includes(JSON.stringify(nameOf(rule))));
        if (missing === undefined || options.programs !== undefined) throw error;
        rules = rules.filter((rule) => rule !== missing);
        if (rules.length > 0) continue;
      }
      logger.warn(`execute_command is disabled: ${error.message}`, { code: error.code, remedy: error.remedy });
      return undefined;
    }
  }
}

class Commands {
  readonly #workspace: Workspace;
  readonly #sandboxes: Sandboxes;
  readonly #rules: ReadonlyMap<string, CommandRule | string>;
  readonly #level: SandboxLevel;
  readonly #record: NonNullable<CommandOptions['record']>;
  readonly #limitMs: number;

  constructor(
    workspace: Workspace,
    sandboxes: Sandboxes,
    rules: readonly (CommandRule | string)[],
    { level, record = (sandbox) => sandbox }: CommandOptions & { readonly level: SandboxLevel },
    limitMs: number,
  ) {
    this.#workspace = workspace;
    this.#sandboxes = sandboxes;
    this.#rules = new Map(rules.map((rule) => [nameOf(rule), rule]));
    this.#level = level;
    this.#record = record;
    this.#limitMs = limitMs;
  }

  async execute(command: string, args: readonly string[], ctx: Context): Promise<string> {
    const area = await this.#workspace.of(ctx);
    try {
      const admitted = this.#level === 'kernel' ? args : await this.#checkPaths(command, args, area);
      return await this.#sandboxes.use(area.folders, (sandbox, visible) =>
        this.#run(this.#record(sandbox, ctx), visible[0], command, admitted, ctx),
      );
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      throw new UserError(denialText(error, command, [...this.#rules.keys()]), { cause: error });
    }
  }

  async #run(
    sandbox: Sandbox,
    cwd: string | undefined,
    program: string,
    args: readonly string[],
    ctx: Context,
  ): Promise<string> {
    const stopProgress = this.#showProgress(ctx);
    try {
      const { signal } = ctx;
      const result = await sandbox.run({ program, args, signal, ...(cwd === undefined ? {} : { cwd }) });
      const { exitCode, stopped, durationMs } = result;
      ctx.log('debug', { program, exitCode, stopped, durationMs: Math.round(durationMs) }, 'commands');
      const failure = failureOf(result, this.#limitMs);
      if (failure !== undefined) throw new UserError(failure);
      return cleanText(Buffer.concat([result.stdout, result.stderr]).toString());
    } finally {
      stopProgress();
    }
  }

  /** Progress is the fraction of the time limit that has passed: the real progress of a program is unknown. */
  #showProgress(ctx: Context): () => void {
    if (ctx.meta['progressToken'] === undefined) return () => {};
    const startedAt = performance.now();
    void ctx.progress(0, 1);
    const timer = setInterval(() => {
      void ctx.progress(Math.min(0.99, (performance.now() - startedAt) / this.#limitMs), 1);
    }, progressEveryMs);
    return () => clearInterval(timer);
  }

  /**
   * Without kernel isolation a program can access the whole machine, so paths in its arguments must be in the open
   * folders. This guards against errors of honest callers; for programs that the operator added, whose arguments we do
   * not know, nothing is checked.
   */
  async #checkPaths(command: string, args: readonly string[], { tree }: AllowedFolders): Promise<readonly string[]> {
    const rule = this.#rules.get(command);
    if (typeof rule !== 'object' || rule.operands !== 'paths') return args;
    const paths = args.map((argument, at) => isPath(argument, args[at - 1]));
    // Without a path the program would use its working directory, which is outside as well.
    if (!paths.includes(true) && tree === undefined) throw denied('no folder is open');
    return Promise.all(args.map((argument, at) => (paths[at] ? this.#admitPath(argument, tree) : argument)));
  }

  async #admitPath(argument: string, tree: AllowedFolders['tree']): Promise<string> {
    try {
      if (tree !== undefined) return (await tree.stat(argument)).path;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
    }
    throw denied(argument);
  }
}

/** A number after an option is its value (`head -n 5`); any other plain argument is a path. */
function isPath(argument: string, before: string | undefined): boolean {
  if (argument.startsWith('-')) return false;
  return !(before?.startsWith('-') === true && /^[+]?\d{1,12}[A-Za-z]{0,2}$/.test(argument));
}

const denied = (what: string): Error =>
  new Error(`Command failed: permission denied: ${cleanText(what, 'line', maxShownChars)}`);
