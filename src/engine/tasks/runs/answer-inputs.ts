// Responses of clients to the input requests of tasks.

import type { Logger } from '../../../common/logger.ts';
import { wireErrors } from '../../../protocol/errors.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import type { JsonRpcResponse } from '../../../protocol/json-rpc.ts';
import type { Json, JsonObject } from '../../../protocol/model.ts';
import { ownerOf } from '../clients/declared-tasks.ts';
import type { TaskFollowers } from '../clients/task-followers.ts';
import { isOpen } from '../store/task-record.ts';
import type { TaskChange, TaskRecord } from '../store/task-store.ts';
import { errorResponse } from './task-inputs.ts';

/** The part of a server's tasks that it uses. */
interface AnsweredTasks {
  readonly limits: { readonly maxRecordedLength: number };
  readonly followers: Pick<TaskFollowers, 'take' | 'putBack'>;
  readonly server: { readonly logger: Logger | undefined };
  read(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined>;
  change(id: string, changes: readonly TaskChange[], peer?: Peer): Promise<TaskRecord | undefined>;
}

type Responses = JsonObject;

/** Stores responses. Those that nothing waits for are ignored. */
export async function answerInputs(
  tasks: AnsweredTasks,
  record: TaskRecord,
  responses: Responses,
  peer?: Peer,
): Promise<void> {
  const wanted = record.inputs.filter((input) => isOpen(input) && Object.hasOwn(responses, input.key));
  if (wanted.length === 0) return;
  const changes = wanted.map(
    ({ key }): TaskChange => ({ type: 'answer-input', key, response: responses[key] as Json }),
  );
  const { maxRecordedLength } = tasks.limits;
  const length = JSON.stringify([record.inputs, record.steps, changes]).length;
  if (length > maxRecordedLength) {
    throw wireErrors.invalidParams(`the responses must have at most ${maxRecordedLength} characters`);
  }
  await tasks.change(record.id, changes, peer);
}

/** Takes the response to an input request that was sent as a request. Others are ignored. */
export function takeResponse(tasks: AnsweredTasks, response: JsonRpcResponse, peer: Peer): void {
  const sent = tasks.followers.take(response);
  if (sent === undefined) return;
  const { result, error } = response;
  const store = async (): Promise<void> => {
    const record = await tasks.read(sent.task);
    // A response of another caller is ignored, and the request stays open.
    if (record === undefined || record.owner !== ownerOf(peer)) return tasks.followers.putBack(response, sent);
    await answerInputs(tasks, record, { [sent.key]: error === undefined ? result : errorResponse(error) }, peer);
  };
  store().catch((failure: unknown) => {
    tasks.server.logger?.error('an input response could not be stored', { task: sent.task, error: failure });
  });
}
