// How upstreams with the tasks extension behave: they decide call by call, and reject clients that do not declare it if a
// call needs it.

import { ClientError } from '../../client/index.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { tasksExtension } from '../../protocol/revisions/index.ts';
import type { UpstreamFacts } from '../contract.ts';

/** Whether the upstream, not its client, decides which calls are tasks. */
export function decidesOnTasks(facts: UpstreamFacts | undefined): boolean {
  return declaresTasks(facts?.capabilities);
}

/** Whether a call was rejected because it only runs as a task. */
export function requiresTask(error: unknown): boolean {
  if (!(error instanceof ClientError) || error.serverError?.code !== -32021) return false;
  const { data } = error.serverError;
  return isObject(data) && isObject(data['requiredCapabilities']) && declaresTasks(data['requiredCapabilities']);
}

function declaresTasks(capabilities: JsonObject | undefined): boolean {
  const extensions = capabilities?.['extensions'];
  return isObject(extensions) && extensions[tasksExtension] !== undefined;
}
