// mooring task: shows, waits for, answers, cancels and lists calls that run on a server as tasks.

import { nearest } from '../../app/text/nearest.ts';
import { UsageError } from '../../app/usage-error.ts';
import { type Client, ClientError, type InputHandlers, type TaskHandle } from '../../client/index.ts';
import { connectionFlags, connectionHelp, pairs, targetHelp, withServer } from '../client/connection.ts';
import { terminalInputHandlers } from '../client/input-requests.ts';
import { printResult } from '../client/print-content.ts';
import { SavedFiles } from '../client/saved-files.ts';
import { showStatusIn, showTask, showTasks } from '../client/task-status.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { noProgress, type ProgressBar, startProgress } from '../ui/progress.ts';

const help = `Usage: mooring task <action> <server> [id] [options]

Works with calls that run on a server as tasks, such as those of "mooring call --detach".

  mooring task get <server> <id>     show the status, and the input the task waits for
  mooring task wait <server> <id>    wait for the result and print it; Ctrl-C stops only the wait
  mooring task answer <server> <id>  answer the input the task waits for, without waiting for the result
  mooring task cancel <server> <id>  ask the server to stop the task
  mooring task list <server>         list your tasks, if the server supports it

Options:
  --answer name=value wait, answer: answer a field the server asks for, instead of prompting you; repeatable
  --save DIR          wait: folder for images and other files (default: a new temporary folder)

${targetHelp}
${connectionHelp}
Exit code: 0 success, 1 the tool reported an error, the task failed or was cancelled, or there is no such task,
2 usage error, 130 interrupted.
`;

interface TaskCommand {
  readonly client: Client;
  readonly signal: AbortSignal;
  readonly out: Output;
  readonly json: boolean;
  readonly files: SavedFiles;
  setBar(bar: ProgressBar): void;
}

const actions: Readonly<Record<string, (task: TaskHandle, command: TaskCommand) => Promise<number>>> = {
  get: async (task, command) => report(task, command),
  wait,
  answer,
  cancel,
};
const verbs = [...Object.keys(actions), 'list'];
/** Only revisions with a handshake have a list of tasks. */
const listingRevision = 'handshake';

const options = {
  ...connectionFlags,
  answer: { type: 'string', multiple: true },
  save: { type: 'string' },
} as const;

export const run = command({ name: 'task', help, options }, async ({ values, positionals, out }) => {
  const { verb, target, id } = readWords(positionals);
  const json = values.json === true;
  let bar: ProgressBar = noProgress;
  const answers = values.answer === undefined ? undefined : pairs(values.answer, '--answer');
  const handlers: InputHandlers = ['wait', 'answer'].includes(verb) ? terminalInputHandlers(answers, () => bar) : {};
  if (verb === 'answer' && Object.keys(handlers).length === 0)
    throw new UsageError('Answer with --answer name=value, or run the command in a terminal');
  const work = async (client: Client, signal: AbortSignal): Promise<number> => {
    const files = new SavedFiles(values.save);
    const setBar = (next: ProgressBar): void => {
      bar = next;
    };
    const command: TaskCommand = { client, signal, out, json, files, setBar };
    const action = actions[verb];
    if (action === undefined || id === undefined) return list(command);
    return action(await client.tasks.attach(id, { signal }), command).finally(() => bar.close());
  };
  const revision = values.revision ?? (verb === 'list' ? listingRevision : undefined);
  const code = await withServer(target, { ...values, revision }, out, work, handlers);
  if (verb === 'wait' && code === 130)
    out.info('\nThe task continues. Wait again, or stop it with "mooring task cancel".\n');
  return code;
});

function readWords(positionals: readonly string[]): { verb: string; target: string; id: string | undefined } {
  const [verb, target, id, ...more] = positionals;
  if (verb === undefined) throw new UsageError(`Usage: mooring task <${verbs.join('|')}> <server> [id]`);
  if (!verbs.includes(verb)) {
    const meant = nearest(verb, verbs);
    const hint = meant === undefined ? `use one of ${verbs.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
    throw new UsageError(`Unknown action ${JSON.stringify(verb)}; ${hint}`);
  }
  const isList = verb === 'list';
  if (target === undefined || more.length > 0 || (id === undefined) !== isList)
    throw new UsageError(`Usage: mooring task ${verb} <server>${isList ? '' : ' <id>'}`);
  return { verb, target, id };
}

/** Prints the state of a task. */
function report({ info }: TaskHandle, { out, json }: TaskCommand): number {
  if (info === undefined) return 0;
  if (json) out.json(info);
  else showTask(info, out);
  if (info.status === 'input_required' && !json)
    out.info('The task waits for input: "mooring task answer" answers it.\n');
  return 0;
}

async function wait(task: TaskHandle, command: TaskCommand): Promise<number> {
  const bar = startProgress(task.info?.status ?? '');
  command.setBar(bar);
  showStatusIn(() => bar, task);
  const result = await task.wait({ signal: command.signal }).catch((error: unknown) => {
    throw hinted(error);
  });
  bar.close();
  return printResult(result, command);
}

async function answer(task: TaskHandle, command: TaskCommand): Promise<number> {
  if (task.status !== 'input_required') {
    report(task, command);
    if (!command.json) command.out.info('mooring: the task does not wait for input\n');
    return 1;
  }
  await task.answerInput({ signal: command.signal });
  return report(task, command);
}

async function cancel(task: TaskHandle, command: TaskCommand): Promise<number> {
  await task.cancel();
  await task.poll();
  report(task, command);
  if (command.json || task.status === 'cancelled') return 0;
  const hasEnded = task.status === 'completed' || task.status === 'failed';
  command.out.info(hasEnded ? 'The task has already ended.\n' : 'The server was asked to stop the task.\n');
  return 0;
}

async function list({ client, signal, out, json }: TaskCommand): Promise<number> {
  const tasks = await client.tasks.list({ signal });
  if (json) out.json(tasks);
  else if (tasks.length === 0) out.info('There are no tasks.\n');
  else showTasks(tasks, out);
  return 0;
}

function hinted(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.code !== 'input-unavailable') return error;
  return new Error('The task waits for input. Run the command in a terminal, or answer with --answer name=value', {
    cause: error,
  });
}
