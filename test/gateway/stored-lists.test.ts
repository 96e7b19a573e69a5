// Lists that a gateway knows from its cache: what was computed from them before is used, as long as it still applies.

import { expect, test } from 'vitest';
import {
  type CachedLists,
  type CatalogCache,
  createGateway,
  type GatewayOptions,
  gatewayConfig,
  type UpstreamLists,
} from '../../src/gateway/index.ts';

const listsWith = (description: string): UpstreamLists => ({
  tools: [{ name: 'read', description, inputSchema: { type: 'object' } }],
  prompts: [],
  resources: [],
  resourceTemplates: [],
});

const cacheWith = (cached: CachedLists): CatalogCache => ({ read: () => cached, write() {} });

/** What clients read of the tool. Nothing is started. */
async function shownDescription(options: GatewayOptions): Promise<string | undefined> {
  const config = await gatewayConfig({ mcpServers: { files: { command: 'no-such-program' } } });
  const gateway = createGateway(config, { logger: false, ...options });
  const [tool] = gateway.exposed({ view: '' })?.tools ?? [];
  await gateway.close();
  return tool?.item.description;
}

const hidden = listsWith('Re\u200bads');
const prepared = { cleaned: listsWith('Prepared') };

test('lists that were cleaned before are not cleaned again', async () => {
  expect(await shownDescription({ cache: cacheWith({ lists: hidden, atMs: 1, prepared }) })).toBe('Prepared');
  expect(await shownDescription({ cache: cacheWith({ lists: hidden, atMs: 1 }) })).toBe('Reads');
});

test('a program that cleans lists itself cleans those of the cache', async () => {
  const cache = cacheWith({ lists: hidden, atMs: 1, prepared });
  expect(await shownDescription({ cache, cleanLists: () => listsWith('Own') })).toBe('Own');
});

test('pins get the fingerprints that are stored with the lists', async () => {
  const given: unknown[] = [];
  const pins: GatewayOptions['pins'] = {
    check(_server, tools, fingerprints) {
      given.push(fingerprints);
      return { shown: tools, withheld: new Map([['read', 'held']]), changes: [] };
    },
  };
  const stored = { cleaned: hidden, fingerprints: ['1'] };
  expect(await shownDescription({ pins, cache: cacheWith({ lists: hidden, atMs: 1, prepared: stored }) })).toBe(
    undefined,
  );
  expect(given).toEqual([['1']]);
});
