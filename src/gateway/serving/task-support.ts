// Which tools of upstreams may run as tasks of the gateway. A task of the gateway drives the task of its upstream, whichever
// dialect that has, or a call of an upstream without tasks; clients without tasks wait for the result.

import type { TaskOptions } from '../../engine/tasks/task-options.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Tool } from '../../protocol/model.ts';
import type { ToolOverride, ViewConfig } from '../config/gateway-config.ts';
import type { UpstreamFacts } from '../contract.ts';
import { decidesOnTasks } from '../relays/task-rules.ts';

/** What the configuration says: the override of the tool, and the view. */
export interface TaskChoice {
  readonly support: ToolOverride['taskSupport'];
  readonly tasks: ViewConfig['tasks'] | undefined;
}

/** Undefined: never. */
export function taskSupport(
  facts: UpstreamFacts | undefined,
  tool: Tool,
  { support, tasks }: TaskChoice,
): TaskOptions | undefined {
  if (support === 'forbidden') return undefined;
  const upstreams = upstreamSupport(facts, tool);
  if (upstreams !== undefined) return { ...recovery, ...options[support ?? upstreams] };
  if (tasks === 'when-slow') return { ...options[support ?? 'optional'], ...(support !== 'required' && whenSlow) };
  return support && options[support];
}

/** What the upstream says. */
function upstreamSupport(facts: UpstreamFacts | undefined, { execution }: Tool): keyof typeof options | undefined {
  if (decidesOnTasks(facts)) return 'optional';
  const { tasks } = facts?.capabilities ?? {};
  const support = execution?.taskSupport;
  return isObject(tasks) && support !== 'forbidden' ? support : undefined;
}

/**
 * If this process ends, the next one continues with the task of the upstream. A process that has to start this often to see the
 * end of a task will not see it. A call of an upstream without tasks ends with the process.
 */
const recovery: TaskOptions = { recover: 'replay', attempts: 100, suspend: false };
const whenSlow: TaskOptions = { start: 'when-slow' };
const options = {
  /** A task where the client requests it, or the upstream makes one. */
  optional: { support: 'optional', start: 'on-detach' },
  required: { support: 'required', start: 'immediately' },
} as const satisfies Readonly<Record<string, TaskOptions>>;
