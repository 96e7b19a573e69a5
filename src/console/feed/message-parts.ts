// What the feed reads from a message: its name, its id, how it ended.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { FeedEntry } from '../api.ts';
import { firstChars, lastChars } from './first-chars.ts';

/** Longer names and ids are cut: stops them from filling the memory. */
export const maxNameChars = 300;

/** Outcomes that are not failures of a server. */
export const successes: ReadonlySet<string> = new Set(['ok', 'input-required', 'unsupported']);

const internalError = -32603;

/**
 * Whether a server only says that it does not know `server/discover`, or the revision of the request: clients that support
 * several revisions find out in this way, and continue with another one.
 */
export const isUnsupported = ({ outcome, code }: FeedEntry): boolean =>
  outcome === 'rejected' && code !== internalError;

export function outcomeOf({ result, error }: JsonObject): string {
  if (error !== undefined) return 'rejected';
  if (!isObject(result)) return 'ok';
  if (result['isError'] === true) return 'failed';
  return result['resultType'] === 'input_required' ? 'input-required' : 'ok';
}

export function nameOf(params: JsonObject): string | undefined {
  const { name, uri, taskId, ref } = params;
  const found = name ?? uri ?? taskId ?? (isObject(ref) ? (ref['name'] ?? ref['uri']) : undefined);
  return typeof found === 'string' ? firstChars(found, maxNameChars) : undefined;
}

/** Long ids are cut, in requests and responses alike, so they still match. */
export const idOf = (id: unknown): unknown => (typeof id === 'string' ? firstChars(id, maxNameChars) : id);

/** States can be long; their ends differ. */
export const stateKey = (state: string): string => `${state.length} ${lastChars(state, 128)}`;
