// Reads everything that a server lists.

import type { Client, ReadOptions } from '../../client/index.ts';
import type { CacheHint } from '../../protocol/model.ts';
import type { UpstreamLists } from '../contract.ts';

/** Reads all pages of all lists in parallel. A server that does not offer a list has an empty one. */
export async function readLists(client: Client, given: ReadOptions): Promise<UpstreamLists> {
  let cache: CacheHint | undefined;
  const onCacheHint = (hint: CacheHint): void => {
    cache = cache === undefined ? hint : stricter(cache, hint);
  };
  const options = { ...given, onCacheHint };
  const [tools, prompts, resources, resourceTemplates] = await Promise.all([
    client.listTools(options),
    client.listPrompts(options),
    client.listResources(options),
    client.listResourceTemplates(options),
  ]);
  const { instructions, revision } = client;
  // Revisions without this capability have the method nevertheless.
  const completions = client.offers('completion/complete') ? { completions: {} } : {};
  return {
    tools,
    prompts,
    resources,
    resourceTemplates,
    capabilities: { ...client.capabilities, ...completions },
    revision,
    ...(instructions === undefined ? {} : { instructions }),
    ...(cache === undefined ? {} : { cache }),
  };
}

function stricter(one: CacheHint, other: CacheHint): CacheHint {
  const isPublic = one.cacheScope === 'public' && other.cacheScope === 'public';
  return { ttlMs: Math.min(one.ttlMs, other.ttlMs), cacheScope: isPublic ? 'public' : 'private' };
}
