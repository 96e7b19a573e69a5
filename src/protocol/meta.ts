// The reserved keys of `_meta`.

import { isObject, isRequestId } from './json-rpc.ts';
import type { Meta, ProgressToken } from './model.ts';

export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  relatedTask: 'io.modelcontextprotocol/related-task',
} as const;

/** On a text block that is only a summary of `structuredContent`: it does not replace it where a revision has only text. */
export const summaryKey = 'mooring/summary';

/** What reserved keys start with. They say something about one connection, so that they are not passed on to another. */
export const reservedPrefix = 'io.modelcontextprotocol/';

/** The id of the task that a message belongs to (2025-11-25, Tasks, "Associating Task-Related Messages"). */
export function relatedTaskOf({ _meta: meta }: { readonly _meta?: unknown }): string | undefined {
  const task = isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  const id = isObject(task) ? task['taskId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/**
 * The token for progress that a request asks for: a string or an integer (all revisions, Progress). Anything else could not be sent
 * back as it came, and means that no progress is sent.
 */
export function progressTokenOf({ progressToken }: { readonly progressToken?: unknown }): ProgressToken | undefined {
  return isRequestId(progressToken) ? progressToken : undefined;
}

export function hasReservedKeys(meta: Meta | undefined): boolean {
  if (meta === undefined) return false;
  for (const key of Object.keys(meta)) if (key.startsWith(reservedPrefix)) return true;
  return false;
}
