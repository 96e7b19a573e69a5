// Reads all pages of a list with one options object: those of a relayed call identify it, and lists of the client copy theirs.

import { type CallOptions, type Client, ClientError, type ReadOptions } from '../../client/index.ts';
import type { CacheHint, JsonObject } from '../../protocol/model.ts';

/** Stop a server with an endless list. */
const maxPages = 1_000;
const maxReadMs = 60_000;

export interface PagedList {
  readonly method: string;
  readonly params?: JsonObject;
  /** The member of the result that contains the items. */
  readonly member: string;
}

export async function readPages(
  client: Client,
  { method, params, member }: PagedList,
  options: CallOptions,
  onCacheHint?: ReadOptions['onCacheHint'],
): Promise<readonly unknown[]> {
  const invalid = (why: string): ClientError => new ClientError('invalid-result', `${method}: ${why}`);
  const items: unknown[] = [];
  const seen = new Set<string>();
  const until = performance.now() + maxReadMs;
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages; pages++) {
    if (performance.now() > until) throw invalid(`its pages take more than ${maxReadMs / 1_000} s`);
    const given = cursor === undefined ? params : { ...params, cursor };
    const result = await client.request(method, given, options);
    const { [member]: page, nextCursor } = result;
    if (!Array.isArray(page)) throw invalid(`"${member}" is not an array`);
    for (const item of page) items.push(item);
    const hint = cacheHintOf(result);
    if (hint !== undefined) onCacheHint?.(hint);
    if (nextCursor === undefined || nextCursor === null) return items;
    if (typeof nextCursor !== 'string') throw invalid('"nextCursor" is not a string');
    if (seen.has(nextCursor)) throw invalid('its cursors repeat');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw invalid(`it has more than ${maxPages} pages`);
}

/** How long a result may be cached, as its server says. */
export function cacheHintOf({ ttlMs, cacheScope }: JsonObject): CacheHint | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined;
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}
