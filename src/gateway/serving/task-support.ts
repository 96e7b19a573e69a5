// Which tools of upstreams may run as tasks of the gateway. A task of the gateway drives the task of its upstream, whichever
// dialect that has; clients without tasks wait for the result.

import type { TaskOptions } from '../../engine/tasks/task-options.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Tool } from '../../protocol/model.ts';
import { tasksExtension } from '../../protocol/revisions/index.ts';
import type { UpstreamLists } from '../contract.ts';

/** Undefined: never. */
export function taskSupport(lists: UpstreamLists | undefined, { execution }: Tool): TaskOptions | undefined {
  const { tasks, extensions } = lists?.capabilities ?? {};
  // The server decides call by call.
  if (isObject(extensions) && extensions[tasksExtension] !== undefined) return whenUpstreamDoes;
  if (!isObject(tasks) || execution === undefined) return undefined;
  if (execution.taskSupport === 'required') return required;
  return execution.taskSupport === 'optional' ? whenUpstreamDoes : undefined;
}

const whenUpstreamDoes: TaskOptions = { support: 'optional', start: 'on-detach' };
const required: TaskOptions = { support: 'required', start: 'immediately' };
