// Which tools of upstreams may run as tasks of the gateway. A task of the gateway drives the task of its upstream, whichever
// dialect that has; clients without tasks wait for the result.

import type { TaskOptions } from '../../engine/tasks/task-options.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Tool } from '../../protocol/model.ts';
import type { UpstreamLists } from '../contract.ts';
import { decidesOnTasks } from '../relays/task-rules.ts';

/** Undefined: never. */
export function taskSupport(lists: UpstreamLists | undefined, { execution }: Tool): TaskOptions | undefined {
  if (decidesOnTasks(lists)) return whenUpstreamDoes;
  const { tasks } = lists?.capabilities ?? {};
  if (!isObject(tasks) || execution === undefined) return undefined;
  if (execution.taskSupport === 'required') return required;
  return execution.taskSupport === 'optional' ? whenUpstreamDoes : undefined;
}

/**
 * If this process ends, the next one goes on with the task of the upstream. A process that has to start this often to see the
 * end of a task will not see it.
 */
const recovery: TaskOptions = { recover: 'replay', attempts: 100, suspend: false };
const whenUpstreamDoes: TaskOptions = { ...recovery, support: 'optional', start: 'on-detach' };
const required: TaskOptions = { ...recovery, support: 'required', start: 'immediately' };
