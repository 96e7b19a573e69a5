// mooring call: calls a tool, shows its progress, answers its input requests and prints its result.

import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { type Client, ClientError, type TaskHandle } from '../../client/index.ts';
import { readArguments, readJsonArguments } from '../client/arguments.ts';
import { connectionFlags, connectionHelp, pairs, targetHelp, withServer } from '../client/connection.ts';
import { detachedInputHandlers, terminalInputHandlers } from '../client/input-requests.ts';
import { requireQuotes } from '../client/positionals.ts';
import { printResult } from '../client/print-content.ts';
import { SavedFiles } from '../client/saved-files.ts';
import { showStatusIn } from '../client/task-status.ts';
import type { FormSchema } from '../client/types.ts';
import { command } from '../command.ts';
import { noProgress, type ProgressBar, startProgress } from '../ui/progress.ts';
import { pick } from './tools.ts';

const help = `Usage: mooring call <server> <tool> [--arg name=value …] [options]

Calls a tool and prints its result. Progress is shown while the tool runs. If the server asks for input,
you are prompted for it.

Arguments:
  --arg name=value    an argument, converted to the type in the tool's schema; repeatable.
                      name:=JSON passes JSON unchanged, name.inner=value sets a field of an object
  --args JSON         all arguments as one JSON object; @FILE reads a file, - reads stdin
  --answer name=value answer a field the server asks for, instead of prompting you; repeatable
  --save DIR          folder for images and other files (default: a new temporary folder)
  --no-check          call the tool even if required arguments are missing
  --detach            start the call as a task, print its id and return; continue with "mooring task".
                      With --answer, return when the task has asked for all answers, or has ended

If the server runs the call as a task, the command waits for it; Ctrl-C cancels the task.

${targetHelp}
${connectionHelp}
Exit code: 0 success, 1 the tool reported an error or the call failed, 2 usage error, 130 interrupted.
`;

const options = {
  ...connectionFlags,
  arg: { type: 'string', multiple: true },
  args: { type: 'string' },
  answer: { type: 'string', multiple: true },
  save: { type: 'string' },
  'no-check': { type: 'boolean' },
  detach: { type: 'boolean' },
} as const;

export const run = command({ name: 'call', help, options }, async ({ values, positionals, out }) => {
  const [target, name, ...more] = positionals;
  await requireQuotes({ command: 'call', after: '<tool>' }, positionals, values.config);
  if (target === undefined || name === undefined)
    throw new UsageError('Usage: mooring call <server> <tool> [--arg name=value]');
  if (more.length > 0)
    throw new UsageError(`Unexpected argument: ${more.join(' ')}. Pass arguments of the tool as --arg name=value`);
  const given = readJsonArguments(values.args);
  const answers = values.answer === undefined ? undefined : pairs(values.answer, '--answer');
  let bar: ProgressBar = noProgress;
  let task: TaskHandle | undefined;
  const used = new Set<string>();
  const unused = (): number => Object.keys(answers ?? {}).length - used.size;
  const work: Parameters<typeof withServer>[3] = async (client, signal) => {
    const tool = pick(await client.listTools({ signal }), name);
    const typed = readArguments(values.arg ?? [], tool.inputSchema as FormSchema);
    const all = { ...given, ...typed };
    if (values['no-check'] !== true) checkRequired(name, all, tool.inputSchema as FormSchema);
    const printing = { out, json: values.json === true, files: new SavedFiles(values.save) };
    if (values.detach === true) return detach(client, name, all, signal, printing, unused);
    bar = startProgress(name);
    const calling = new AbortController();
    // A task is cancelled by `onStop`, which waits for the server.
    const stop = (): void => {
      if (task === undefined) calling.abort(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    const result = await client
      .callTool(name, all, {
        signal: calling.signal,
        onProgress: (progress) => bar.report(progress),
        onTask: (created) => {
          task = created;
          showStatusIn(() => bar, created);
        },
        ...interactiveTimeout(values.timeout),
      })
      .catch((error: unknown) => {
        throw hinted(error);
      })
      .finally(() => bar.close());
    return printResult(result, printing);
  };
  const inputHandlers = values.detach === true ? detachedInputHandlers : terminalInputHandlers;
  const handlers = inputHandlers(answers, () => bar, used);
  return withServer(target, values, out, work, handlers, { onStop: () => task?.cancel() });
});

type Printing = Parameters<typeof printResult>[1];

/** Starts the call as a task and prints its id, or its result if the server returned one immediately. */
async function detach(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  printing: Printing,
  unused: () => number,
): Promise<number> {
  const { out, json } = printing;
  const started = await client.tasks.start(name, args, { signal }).catch((error: unknown) => {
    throw hinted(error);
  });
  if (started.info !== undefined) {
    if (json) out.json(started.info);
    else out.write(`${lineForTerminal(started.info.taskId, 1_000)}\n`);
    if (client.transport === 'stdio')
      out.info(
        'The server ends with this command. The task continues only if the server stores tasks and is started again.\n',
      );
    if (unused() > 0) await waitUntilAnswered(started, unused, signal);
    return 0;
  }
  const result = await started.wait();
  if (!json) out.info('The server returned the result immediately, so there is no task.\n');
  if (!json) return printResult(result, printing);
  out.json({ taskId: null, status: started.status, result });
  return result.isError === true ? 1 : 0;
}

/** Waits until the task has asked for all given answers, or has ended. */
async function waitUntilAnswered(task: TaskHandle, unused: () => number, signal: AbortSignal): Promise<void> {
  const answered = new AbortController();
  const stop = task.onChange(({ status }) => {
    if (unused() === 0 && status !== 'input_required') answered.abort();
  });
  try {
    await task.wait({ signal: AbortSignal.any([signal, answered.signal]) });
  } catch (error) {
    if (!answered.signal.aborted) throw error;
  } finally {
    stop();
  }
}

/** A call that may prompt a user waits longer: people need time to answer. */
function interactiveTimeout(timeout: string | undefined): { timeoutMs?: number } {
  return timeout === undefined && process.stdin.isTTY === true ? { timeoutMs: 600_000 } : {};
}

const missingCapability = -32021;

function hinted(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.serverError?.code !== missingCapability) return error;
  // Only forms can be answered by flags.
  const orAnswer = error.message.includes('elicitation') ? ', or answer with --answer name=value' : '';
  return new Error(`${error.message}\nThe tool asks for input. Run the command in a terminal${orAnswer}`, {
    cause: error,
  });
}

/** The server rejects the call too; this error names the flags to add. */
function checkRequired(
  name: string,
  given: Readonly<Record<string, unknown>>,
  { required = [], properties = {} }: FormSchema,
): void {
  const missing = required.filter((each) => !(each in given));
  if (missing.length === 0) return;
  const missingFlags = missing.map((each) => `--arg ${each}=…${about(properties[each])}`);
  throw new UsageError(`${name} requires more arguments:\n  ${missingFlags.join('\n  ')}`);
}

function about(field: FormSchema | undefined): string {
  return field?.description === undefined ? '' : `   ${field.description.split('\n')[0]?.slice(0, 100)}`;
}
