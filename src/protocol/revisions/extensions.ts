// Identifiers of the official extensions, and who declares them.

import { isObject } from '../json-rpc.ts';
import type { Capabilities } from '../model.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

/** Whether a client that sent these capabilities with its request can be answered with a task. */
export function declaresTasks(capabilities: Capabilities): boolean {
  const { extensions } = capabilities;
  return isObject(extensions) && isObject(extensions[tasksExtension]);
}
