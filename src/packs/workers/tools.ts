// The five tools of this pack: start_worker, list_workers, message_worker, read_worker, stop_worker.

import { cleanText } from '../../common/hygiene.ts';
import type { Context } from '../../engine/context.ts';
import { principalKey } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { SandboxError } from '../../security/sandbox/index.ts';
import { WorkerError } from './contract.ts';
import type { WorkerSupervisor } from './supervisor.ts';
import { readOutput, viewOf } from './view.ts';
import type { Worker } from './worker.ts';

const id = { type: 'string', minLength: 1, description: 'Id of the worker' } as const;

const defaultReadChars = 16 * 1024;
const mostReadChars = 256 * 1024;
const maxMessageChars = 64 * 1024;
const maxWaitMs = 30_000;
/** How often the status of a worker is looked at that prints nothing, for the task that follows it. */
const followMs = 1_000;

/** Callers learn which programs are allowed, operators how to allow others. */
function toFailure(error: SandboxError, programs: readonly string[]): string {
  if (error.code !== 'program-not-allowed')
    return error.remedy === '' ? error.message : `${error.message}. ${error.remedy}`;
  const allowed = programs.length === 0 ? 'none is allowed' : `allowed: ${programs.join(', ')}`;
  return `${error.message} (${allowed}; the operator can allow programs with --allow-command)`;
}

/** Follows a worker that is a task. Cancelling the task stops the worker. */
async function untilEnded(worker: Worker, ctx: Context): Promise<JsonObject> {
  let reports = 0;
  let reported = '';
  while (worker.isAlive && !ctx.signal.aborted) {
    const { id: own, status, restarts } = worker.record;
    const message = `Worker ${own} is ${status}${restarts === 0 ? '' : ` (restarts: ${restarts})`}`;
    if (message !== reported) await ctx.progress(++reports, undefined, message);
    reported = message;
    // Also wakes when the worker ends, and the status of one that prints nothing is looked at now and then.
    await worker.output.waitBeyond(worker.output.end, followMs, ctx.signal);
  }
  if (worker.isAlive) {
    await worker.stop();
    throw ctx.signal.reason;
  }
  return { ...viewOf(worker), lastOutput: readOutput(worker, undefined, defaultReadChars).output };
}

export function installTools(server: Server, supervisor: WorkerSupervisor, programs: readonly string[]): void {
  const mine = (wanted: string, ctx: Context): Worker => {
    const worker = supervisor.find(wanted, principalKey(ctx.principal));
    if (worker === undefined) throw new WorkerError(`Unknown worker: ${cleanText(wanted, 'line', 64)}`);
    return worker;
  };

  server.tool('start_worker', {
    description: `Start a supervised program in a sandbox (allowed: ${programs.length === 0 ? 'none; the operator has to allow programs' : programs.join(', ')})`,
    input: {
      type: 'object',
      properties: {
        program: { type: 'string', minLength: 1, description: 'Program to start; no shell is involved' },
        args: { type: 'array', items: { type: 'string' }, description: 'Its arguments' },
        name: { type: 'string', minLength: 1, maxLength: 64, description: 'A name for the worker' },
        cwd: { type: 'string', description: 'Folder to start in; workers must have access to it' },
        restart: {
          type: 'string',
          enum: ['never', 'on-failure', 'always'],
          description: 'Whether it is restarted when it ends by itself (default: never)',
        },
        message: { type: 'string', maxLength: maxMessageChars, description: 'First line of its standard input' },
      },
      required: ['program'],
    } as const,
    // A client with tasks gets the worker as a task, which ends with it. Others get its state at once.
    task: { start: 'on-detach', recover: 'fail' },
    run: async ({ program, args = [], name, cwd, restart = 'never', message }, ctx) => {
      const owner = principalKey(ctx.principal);
      try {
        const worker = await supervisor.start({
          ...{ owner, program, args: args as readonly string[], restart },
          ...(name === undefined ? {} : { name: cleanText(name, 'line', 64) }),
          ...(cwd === undefined ? {} : { cwd }),
        });
        if (ctx.signal.aborted) {
          // The caller will not learn its id.
          await worker.kill();
          throw ctx.signal.reason;
        }
        if (message !== undefined) worker.message(`${message}\n`);
        await ctx.detach();
        return ctx.task === undefined ? viewOf(worker) : await untilEnded(worker, ctx);
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        throw new WorkerError(toFailure(error, programs), { cause: error });
      }
    },
  });

  server.tool('list_workers', {
    description: 'List your workers, oldest first',
    input: { type: 'object', properties: {}, required: [] } as const,
    annotations: { readOnlyHint: true },
    run: (_args, ctx) => ({ workers: supervisor.list(principalKey(ctx.principal)).map(viewOf) }),
  });

  server.tool('message_worker', {
    description: 'Write a line to the standard input of a worker',
    input: {
      type: 'object',
      properties: { id, text: { type: 'string', maxLength: maxMessageChars, description: 'What to write' } },
      required: ['id', 'text'],
    } as const,
    run: ({ id: wanted, text }, ctx) => {
      const worker = mine(wanted, ctx);
      const { end } = worker.output;
      worker.message(`${text}\n`);
      // The position where the reply will start, for read_worker.
      return { id: wanted, status: worker.record.status, next: end };
    },
  });

  server.tool('read_worker', {
    description: 'Read the output of a worker',
    input: {
      type: 'object',
      properties: {
        id,
        from: {
          type: 'integer',
          minimum: 0,
          description: 'Where to start: "next" of an earlier result (default: the end)',
        },
        max_chars: { type: 'integer', minimum: 1, maximum: mostReadChars, description: 'Maximum length' },
        wait_ms: {
          type: 'integer',
          minimum: 0,
          maximum: maxWaitMs,
          description: 'How long to wait for new output (default: 0)',
        },
      },
      required: ['id'],
    } as const,
    annotations: { readOnlyHint: true },
    run: async ({ id: wanted, from, max_chars = defaultReadChars, wait_ms = 0 }, ctx) => {
      const worker = mine(wanted, ctx);
      if (worker.isAlive) await worker.output.waitBeyond(from ?? worker.output.end, wait_ms, ctx.signal);
      return { id: wanted, status: worker.record.status, ...readOutput(worker, from, max_chars) };
    },
  });

  server.tool('stop_worker', {
    description: 'Stop a worker and everything it started',
    input: {
      type: 'object',
      properties: { id, forget: { type: 'boolean', description: 'Also remove it from the list (default: false)' } },
      required: ['id'],
    } as const,
    annotations: { destructiveHint: true, idempotentHint: true },
    run: async ({ id: wanted, forget = false }, ctx) => {
      const worker = mine(wanted, ctx);
      await worker.stop();
      if (forget) supervisor.forget(worker);
      return viewOf(worker);
    },
  });
}
