// tasks/get, tasks/update, tasks/cancel, tasks/result and tasks/list. Which revision has which of them is in dialects.ts.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { JsonObject } from '../../protocol/model.ts';
import {
  encodeTask,
  encodeTaskList,
  encodeTaskResult,
  taskNotification,
  taskStatus,
} from '../../protocol/revisions/tasks.ts';
import { type Call, type Feature, stillOpen } from '../contract.ts';
import { ownerOf } from '../tasks/clients/declared-tasks.ts';
import { inTaskTurn } from '../tasks/clients/task-turns.ts';
import type { TaskRecord } from '../tasks/store/task-store.ts';
import type { Tasks } from '../tasks/tasks.ts';

/** Tasks on one page. */
const pageSize = 100;
const purpose = 'cursor';

const encode: Feature['encode'] = (result) => result as string;

/** The features of all methods of tasks, by method. */
export function taskFeatures(tasks: Tasks): Readonly<Record<string, Feature>> {
  return {
    [methods.getTask.name]: {
      run(call) {
        const found = tasks.find(call);
        if (!(found instanceof Promise)) return tasks.views.polled(found, call.codec);
        return found.then((record) => tasks.views.polled(record, call.codec));
      },
      encode,
    },
    [methods.updateTask.name]: {
      async run(call) {
        const record = await tasks.find(call);
        await tasks.answerInputs(record, call.params['inputResponses'] as JsonObject, call.peer);
        return call.codec.empty();
      },
      encode,
    },
    [methods.cancelTask.name]: { run: (call) => cancel(tasks, call), encode },
    [methods.taskResult.name]: { duration: 'long-lived', run: (call) => waitForResult(tasks, call), encode },
    [methods.listTasks.name]: { run: (call) => list(tasks, call), encode },
  };
}

async function cancel(tasks: Tasks, call: Call): Promise<string> {
  const { codec, peer } = call;
  const record = await tasks.find(call);
  if (codec.dialect.tasks === 'server-directed') {
    await tasks.requestCancel(record, peer);
    return codec.empty();
  }
  const cancelled = record.phase === 'ended' ? undefined : await tasks.cancelNow(record, undefined, peer);
  if (cancelled !== undefined) return encodeTask(tasks.view(cancelled), codec);
  const ended = await tasks.find(call);
  throw wireErrors.taskEnded(taskStatus(tasks.view(ended), codec));
}

async function waitForResult(tasks: Tasks, call: Call): Promise<string | typeof stillOpen> {
  const record = await tasks.find(call);
  if (record.phase === 'ended') return resultOf(tasks, record, call);
  const { maxWaiting } = tasks.limits;
  if (tasks.followers.waitingFor(record.id) >= maxWaiting) throw wireErrors.tooManyWaiting(maxWaiting);
  if (call.channel.draining) throw wireErrors.closing();
  // Opens the event stream over HTTP: what the server sends on it keeps the connection open.
  call.push(taskNotification(tasks.view(record), call.codec));
  tasks.followers.addWaiting(record, call, (changed) => {
    if (changed.phase !== 'ended') return;
    try {
      call.succeed(resultOf(tasks, changed, call));
    } catch (error) {
      call.fail(error instanceof WireError ? error : wireErrors.internal(error));
    }
  });
  call.onDrain = () => call.fail(wireErrors.closing());
  return stillOpen;
}

/** What the call would have been answered with. Throws if that is an error. */
function resultOf(tasks: Tasks, record: TaskRecord, { codec }: Call): string {
  const { outcome } = tasks.view(record);
  if (outcome?.type === 'result') return encodeTaskResult(record.id, outcome, codec);
  if (outcome?.type !== 'error') throw wireErrors.taskCancelled();
  const { code, message, data } = outcome;
  throw new WireError('internal', message, { code, data });
}

async function list(tasks: Tasks, call: Call): Promise<string> {
  const owner = ownerOf(call.peer);
  // Callers without a name cannot be distinguished, so each knows only the ids it was given.
  if (owner === '') throw wireErrors.methodNotFound(call.method);
  const { sealer } = call.server;
  const context = `tasks\u0000${owner}`;
  const cursor = call.params['cursor'] as string | undefined;
  const position = cursor === undefined ? {} : await sealer.open(purpose, cursor, context);
  if (!isObject(position)) throw wireErrors.invalidCursor();
  const after = cursor === undefined ? {} : { after: position['after'] as string };
  return inTaskTurn(call, async () => {
    const page = await tasks.store.list({ owner, limit: pageSize, outline: true, ...after });
    const own = page.tasks.filter(({ service }) => service === tasks.service);
    const next = page.next === undefined ? undefined : await sealer.seal(purpose, { after: page.next }, context);
    const views = own.map((record) => tasks.view(record));
    return encodeTaskList(views, next, call.codec);
  });
}
