import { expect, test } from 'vitest';
import type { Client, ReadOptions } from '../../client/index.ts';
import { readLists } from './read-lists.ts';

/** A client of a server whose prompts are for everyone, and whose tools say nothing about it. */
const client = {
  listTools: async () => [{ name: 'admin', inputSchema: { type: 'object' } }],
  async listPrompts({ onCacheHint }: ReadOptions) {
    onCacheHint?.({ ttlMs: 5_000, cacheScope: 'public' });
    return [{ name: 'greeting' }];
  },
  listResources: async () => [],
  listResourceTemplates: async () => [],
  capabilities: {},
  offers: () => false,
} as unknown as Client;

test.each([
  [true, 'private'],
  [false, 'public'],
])('a list that says nothing about who may see it: private by default %s, all lists are %s', async (is, cacheScope) => {
  const { lists } = await readLists(client, {}, { before: undefined, isPrivateByDefault: is });
  expect(lists.cache).toEqual({ ttlMs: 5_000, cacheScope });
});
