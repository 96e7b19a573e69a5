// The resources of profile `empirical`, with their own URI scheme: the searched sources, and a guide for queries.

import type { Server } from '../../engine/server.ts';
import type { HealthRegistry } from '../serving/health.ts';

const guide = `search_literature finds papers by plain words, in all sources at once.

query              what to look for
max_results        how many papers at most (default: 10)
sources            only these; custom://resource/sources lists them (default: all)
years              { "from": 2019, "to": 2024 }, or one end alone
sort               "relevance" (default) or "date"
include_abstracts  false for a shorter answer (default: true)

A source that does not answer is named in the result; the others still count.
`;

/** Registers them. `sources` are the names that `search_literature` accepts; their health is checked on each read. */
export function installResources(server: Server, sources: readonly string[], health: HealthRegistry): void {
  server.resource('custom://resource/sources', {
    name: 'Literature sources',
    description: 'The sources that search_literature asks, and how each of them is doing',
    mimeType: 'application/json',
    read: async () => {
      const parts = await health.check();
      const listed = sources.map((name) => ({
        name,
        status: parts.find((part) => part.name === name)?.status ?? 'ok',
      }));
      return JSON.stringify({ sources: listed }, undefined, 2);
    },
  });
  server.resource('custom://resource/guide', {
    name: 'Search guide',
    description: 'How to ask search_literature',
    mimeType: 'text/plain',
    read: () => guide,
  });
}
