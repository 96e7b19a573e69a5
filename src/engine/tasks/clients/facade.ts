// What the tools for clients without tasks do: they show, answer and cancel a task of their caller. Their definitions are in
// facade-tools.ts.

import type { Peer } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import { methods } from '../../../protocol/methods.ts';
import type { Json, JsonObject, ToolResult } from '../../../protocol/model.ts';
import { compileSchema, formatIssues, type SchemaInput } from '../../../schema/index.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import type { Call } from '../../contract.ts';
import { isOpen } from '../store/task-record.ts';
import type { TaskInput, TaskRecord } from '../store/task-store.ts';
import { defaultWaitMs, type FacadeTool, maxWaitMs } from './facade-tools.ts';
import { accepts } from './task-routes.ts';

type Args = JsonObject;

/** The part of a server's tasks that these tools use. */
export interface FacadeTasks {
  /** Whether models may answer input requests. */
  readonly modelsAnswer: boolean;
  readonly limits: { readonly maxWaiting: number };
  readonly followers: {
    addWaiting(record: TaskRecord, call: Call, onChange: (record: TaskRecord) => void): void;
    waitingFor(id: string): number;
  };
  /** A task of this caller; undefined for all others. */
  owned(id: string, peer: Peer): TaskRecord | undefined | Promise<TaskRecord | undefined>;
  requestCancel(record: TaskRecord, peer: Peer): Promise<void>;
  answerInputs(record: TaskRecord, responses: JsonObject, peer: Peer): Promise<void>;
}

/** The result of a call that continues as a task, for a client without tasks. */
export function encodeHandle(call: Call, record: TaskRecord, tasks: Pick<FacadeTasks, 'modelsAnswer'>): string {
  return call.codec.toolResult(stateResult(record, call, tasks), (call.target as ToolEntry).output?.json);
}

export async function callFacade(tasks: FacadeTasks, tool: FacadeTool, call: Call, args: Args): Promise<ToolResult> {
  const record = await tasks.owned(String(args['taskId']), call.peer);
  if (record === undefined) return failure('Task not found: the id is wrong, or the task has expired.');
  switch (tool) {
    case 'task_status':
      return stateResult(await waitFor(tasks, call, record, args['waitMs']), call, tasks);
    case 'task_answer':
      return answer(tasks, call, record, args);
    case 'task_cancel':
      return cancel(tasks, call, record);
  }
}

/** Waits until the task has ended, or needs input that its user cannot be asked for, or the time is over. */
function waitFor(tasks: FacadeTasks, call: Call, record: TaskRecord, given: unknown): TaskRecord | Promise<TaskRecord> {
  const waitMs = Math.min(typeof given === 'number' ? given : defaultWaitMs, maxWaitMs);
  if (isDecisive(record, call) || waitMs <= 0) return record;
  if (tasks.followers.waitingFor(record.id) >= tasks.limits.maxWaiting) return record;
  return new Promise((resolve) => {
    let latest = record;
    const done = (): void => {
      clearTimeout(timer);
      resolve(latest);
    };
    const timer = setTimeout(done, waitMs);
    call.signal.addEventListener('abort', done, { once: true });
    // While this call waits, input requests are sent on it, where the revision allows that.
    tasks.followers.addWaiting(record, call, (changed) => {
      latest = changed;
      if (isDecisive(changed, call)) done();
    });
  });
}

function isDecisive(record: TaskRecord, call: Call): boolean {
  return record.phase === 'ended' || record.inputs.some((input) => isOpen(input) && !canAsk(call, input));
}

/** Whether the user can be asked by a request on this call. */
function canAsk({ codec, capabilities }: Call, input: TaskInput): boolean {
  return codec.inputRequests === 'push' && accepts(capabilities, input);
}

/** A form, which a model can fill in. */
function isForm({ method, params }: TaskInput): boolean {
  return method === methods.elicit.name && isObject(params) && params['mode'] !== 'url';
}

async function answer(tasks: FacadeTasks, call: Call, record: TaskRecord, args: Args): Promise<ToolResult> {
  const { key, answer: content = {}, action = 'accept' } = args;
  const input = record.inputs.find((each) => each.key === key && isOpen(each) && isForm(each));
  if (input === undefined || !tasks.modelsAnswer) {
    return failure(`The task has no open question with the key ${JSON.stringify(key)}. Call task_status to see them.`);
  }
  if (action === 'accept') {
    const problem = await checkAnswer(input, content);
    if (problem !== undefined) return failure(`The answer does not match the schema of the question: ${problem}`);
  }
  const response = action === 'accept' ? { action, content } : { action };
  await tasks.answerInputs(record, { [input.key]: response }, call.peer);
  return text(`Answered. Call task_status with taskId ${JSON.stringify(record.id)} for the result.`);
}

/** Validates an answer here, so that the model can try again; the handler would fail. */
async function checkAnswer({ params }: TaskInput, content: unknown): Promise<string | undefined> {
  const schema = (params as { readonly requestedSchema: SchemaInput }).requestedSchema;
  const { validator } = compileSchema(schema, { direction: 'input', root: 'object', where: 'elicitation form' });
  const validation = await validator.validate(content);
  return validation.ok ? undefined : formatIssues(validation.issues);
}

async function cancel(tasks: FacadeTasks, call: Call, record: TaskRecord): Promise<ToolResult> {
  if (record.phase === 'ended') return text(`The task had already ended: ${statusOf(record)}.`);
  await tasks.requestCancel(record, call.peer);
  return text(`The task is being cancelled. Its tool may need a few seconds to stop.`);
}

/** A task as the result of a tool: its own result once it has one. */
function stateResult(record: TaskRecord, call: Call, tasks: Pick<FacadeTasks, 'modelsAnswer'>): ToolResult {
  const { id, outcome, message } = record;
  if (outcome?.type === 'result') return outcome.result as unknown as ToolResult;
  if (outcome?.type === 'error') return failure(`The task failed: ${outcome.message}`);
  if (outcome?.type === 'cancelled') return failure(outcome.reason ?? 'The task was cancelled');
  const open = record.inputs.filter(isOpen);
  const status = open.length > 0 ? 'input_required' : 'working';
  const again = `Call task_status with taskId ${JSON.stringify(id)} for the result.`;
  const lines =
    open.length > 0
      ? [...open.map((input) => questionText(record, input, call, tasks)), again]
      : [`The tool is still working${message === undefined ? '' : ` (${message})`}. ${again}`];
  const questions = open.filter((input) => isShown(input, call, tasks));
  return {
    content: [{ type: 'text', text: lines.join('\n\n') }],
    structuredContent: {
      taskId: id,
      status,
      ...(message === undefined ? {} : { statusMessage: message }),
      ...(questions.length === 0
        ? {}
        : { questions: Object.fromEntries(questions.map(({ key, params }) => [key, params as Json])) }),
    },
  };
}

/** Whether the model should answer: only if its user cannot be asked. */
function isShown(input: TaskInput, call: Call, { modelsAnswer }: Pick<FacadeTasks, 'modelsAnswer'>): boolean {
  return modelsAnswer && isForm(input) && !canAsk(call, input);
}

function questionText(
  { id }: TaskRecord,
  input: TaskInput,
  call: Call,
  tasks: Pick<FacadeTasks, 'modelsAnswer'>,
): string {
  if (canAsk(call, input)) return 'The task waits for input of the user, who is asked while task_status waits.';
  if (!isShown(input, call, tasks)) return 'The task waits for input that this client cannot give.';
  const { message, requestedSchema } = input.params as { readonly message: string; readonly requestedSchema: Json };
  const given = JSON.stringify({ taskId: id, key: input.key });
  return `The task asks: ${message}\nAnswer with task_answer: ${given}, and an "answer" that matches this schema: ${JSON.stringify(requestedSchema)}`;
}

function statusOf({ outcome }: TaskRecord): string {
  if (outcome?.type === 'result') return outcome.isError ? 'failed' : 'completed';
  return outcome?.type === 'cancelled' ? 'cancelled' : 'failed';
}

const text = (words: string): ToolResult => ({ content: [{ type: 'text', text: words }] });
const failure = (words: string): ToolResult => ({ ...text(words), isError: true });
