// Ordinary tools for clients without tasks: their definitions, and how the list of tools differs for such clients. Loaded at
// start, so what the tools do is in facade.ts.

import type { JsonObject, Tool, ToolResult } from '../../../protocol/model.ts';
import { declaresTasks, eitherSchema } from '../../../protocol/revisions/index.ts';
import { callOf } from '../../calls/call-context.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import type { ListVariant } from '../../catalog/lists.ts';
import type { Context } from '../../context.ts';
import type { Call } from '../../contract.ts';
import type { ToolDefinition } from '../../definitions.ts';
import { facadeMsOf, modelsAnswer, type TasksOptions } from '../task-options.ts';

export type FacadeTool = 'task_status' | 'task_answer' | 'task_cancel';

/** The longest wait of `task_status`: below the time limit of most clients, which is a minute. */
export const maxWaitMs = 40_000;
export const defaultWaitMs = 10_000;
/** More than the longest wait, so that the response comes before the limit. */
const timeoutMs = 60_000;

const taskId = { type: 'string', description: 'Id of the task, as it was returned by the tool' } as const;
const key = { type: 'string', description: 'Key of the question, as task_status returned it' } as const;

const descriptions: Readonly<Record<FacadeTool, Omit<ToolDefinition, 'run' | 'timeoutMs'>>> = {
  task_status: {
    description:
      'Get the result of a task: of a tool that returned a task id because it takes long. Waits a while, then reports whether it is still working.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        taskId,
        waitMs: {
          type: 'integer',
          minimum: 0,
          maximum: maxWaitMs,
          description: `How long to wait for the result, in milliseconds (default: ${defaultWaitMs})`,
        },
      },
      required: ['taskId'],
    },
  },
  task_answer: {
    description: 'Answer a question of a task, as task_status shows it.',
    input: {
      type: 'object',
      properties: {
        taskId,
        key,
        answer: { type: 'object', description: 'The answer; it must match the schema of the question' },
        action: {
          type: 'string',
          enum: ['accept', 'decline', 'cancel'],
          description: 'Whether the question is answered (default: accept)',
        },
      },
      required: ['taskId', 'key'],
    },
  },
  task_cancel: {
    description: 'Cancel a task whose result is not needed any more.',
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: { type: 'object', properties: { taskId }, required: ['taskId'] },
  },
};

function definitionOf(name: FacadeTool): ToolDefinition {
  const run = async (args: unknown, ctx: Context): Promise<ToolResult> => {
    const call = callOf(ctx);
    // The server of the call: this tool may be mounted on another one.
    const tasks = await call.server.tasks?.load();
    if (tasks === undefined) throw new TypeError('This server has no tasks');
    return tasks.callFacade(name, call, args as JsonObject);
  };
  return { ...descriptions[name], timeoutMs, run };
}

/** The definitions that are registered on any server. */
const own = new WeakSet<ToolDefinition>();

/** Registers them; `task_answer` only if models may answer. */
export function addFacadeTools(catalog: Pick<Catalog, 'addTool'>, options: TasksOptions): void {
  for (const name of Object.keys(descriptions) as FacadeTool[]) {
    if (name === 'task_answer' && !modelsAnswer(options)) continue;
    const definition = definitionOf(name);
    own.add(definition);
    catalog.addTool(name, definition);
  }
}

/** Whether the client of a call does not declare tasks. */
function lacksTasks({ codec, capabilities }: Pick<Call, 'codec' | 'capabilities'>): boolean {
  return codec.dialect.tasks !== 'server-directed' || !declaresTasks(capabilities);
}

/** The list of tools for each kind of client. */
export interface FacadeLists {
  variantFor(call: Pick<Call, 'codec' | 'capabilities'>): ListVariant<'tools'>;
}

export function facadeLists(options: TasksOptions): FacadeLists {
  const plain = (entry: ToolEntry): Tool | undefined => (own.has(entry.definition) ? undefined : entry.describe());
  const withTasks: ListVariant<'tools'> = { name: 'tasks', describe: plain };
  const withoutTasks: ListVariant<'tools'> = {
    name: 'facade',
    describe: (entry) =>
      entry.task === undefined || facadeMsOf(entry.task, options) === undefined
        ? entry.describe()
        : withHandle(entry.describe()),
  };
  return { variantFor: (call) => (lacksTasks(call) ? withoutTasks : withTasks) };
}

/** The structured content that a slow call returns instead of its result. */
const handleSchema = {
  type: 'object',
  properties: { taskId: { type: 'string' }, status: { type: 'string', enum: ['working', 'input_required'] } },
  required: ['taskId', 'status'],
} as const;

/** Clients validate results, so the schema must also allow the id of a task. No client needs tasks to call the tool. */
function withHandle(tool: Tool): Tool {
  const { outputSchema, execution } = tool;
  return {
    ...tool,
    ...(outputSchema === undefined ? {} : { outputSchema: eitherSchema(outputSchema, handleSchema) }),
    ...(execution === undefined ? {} : { execution: { ...execution, taskSupport: 'optional' } }),
  };
}
