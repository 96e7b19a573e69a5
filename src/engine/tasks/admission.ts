// How a call of a tool runs: as a task, as a possible task, or while its client waits. The tool, the revision and what the client
// declared decide it.

import { wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { ToolResult } from '../../protocol/model.ts';
import { declaresTasks } from '../../protocol/revisions/index.ts';
import { requiredForTasks } from '../../protocol/revisions/tasks.ts';
import type { ToolEntry } from '../catalog/catalog-entry.ts';
import { supports } from '../channels/client-support.ts';
import type { Call } from '../contract.ts';
import { toolFailure } from '../features/tool-outcome.ts';
import { InlineRun } from './runs/inline-run.ts';
import { type RunHost, TaskRun } from './runs/task-run.ts';
import { facadeMsOf, modelsAnswer, type TasksOptions } from './task-options.ts';

/** Sets the `task` of a call, unless it runs like a call of any other tool. Returns the result of a call that cannot run. */
export function admit(host: RunHost, options: TasksOptions, call: Call, entry: ToolEntry): ToolResult | undefined {
  const dialect = call.server.offers('tasks') ? call.codec.dialect.tasks : 'not offered';
  const given = call.params['task'];
  if (dialect === 'requested' && given !== undefined) {
    if (entry.task === undefined) throw wireErrors.taskForbidden(entry.key);
    call.task = new TaskRun(host, call, entry, 'now', { ttlMs: ttlOf(given) });
    return undefined;
  }
  if (entry.task === undefined) return undefined;
  if (dialect === 'server-directed' && declaresTasks(call.capabilities)) {
    const { start } = entry.task;
    call.task = new TaskRun(host, call, entry, start === 'immediately' || start === 'external' ? 'now' : 'later');
    return undefined;
  }
  const afterMs = facadeMsOf(entry.task, options);
  if (afterMs !== undefined) {
    const { start, dedupe, inline } = entry.task;
    // Without a task, these cannot run, or could run twice.
    const isTask = start === 'external' || dedupe !== undefined || !inline;
    const modelAnswers = modelsAnswer(options) && !supports(call, 'elicitation.form');
    call.task = new TaskRun(host, call, entry, isTask ? 'now' : 'later', { facade: { afterMs, modelAnswers } });
    return undefined;
  }
  if (dialect === 'not offered') return undefined;
  if (entry.task.support === 'required') {
    if (dialect === 'requested') throw wireErrors.taskRequired(entry.key);
    if (dialect === 'server-directed') throw wireErrors.missingCapability(requiredForTasks);
    if (!entry.task.inline) {
      const why = `Tool ${entry.key} only runs as a task, and revision ${call.codec.date} has no tasks`;
      return toolFailure(call, why, 'handler');
    }
  }
  call.task = new InlineRun(call);
  return undefined;
}

/** The time that a client wants its task to be stored. */
function ttlOf(given: unknown): number | undefined {
  const ttl = isObject(given) ? given['ttl'] : null;
  if (ttl === undefined) return undefined;
  if (typeof ttl === 'number' && Number.isFinite(ttl) && ttl >= 0) return ttl;
  throw wireErrors.invalidParams('"task" must be an object, and its "ttl" a number of milliseconds');
}
