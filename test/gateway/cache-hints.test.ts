// How long clients of 2026-07-28 may cache what a gateway lists and reads.

import { afterEach, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import type { CacheHint } from '../../src/protocol/model.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';
import { gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);

function server(cache?: CacheHint, read?: CacheHint): Server {
  const made = createServer({ name: 'cached', version: '1.0.0', logger: false, ...(cache && { cache }) });
  made.tool('work', { run: () => 'done' });
  made.resource('demo://a', { name: 'a', read: () => 'text', ...(read && { cache: read }) });
  return made;
}

const open = (ttlMs: number): CacheHint => ({ ttlMs, cacheScope: 'public' });
const closed = (ttlMs: number): CacheHint => ({ ttlMs, cacheScope: 'private' });

test.each([
  ['of all servers', { a: server(open(60_000)), b: server(open(5_000)) }, undefined, open(5_000)],
  ['private if one is', { a: server(open(60_000)), b: server(closed(90_000)) }, undefined, closed(60_000)],
  ['at most what the gateway allows', { a: server(open(60_000)) }, open(1_000), open(1_000)],
] as const)('lists may be cached for the shortest time: %s', async (_name, servers, cache, expected) => {
  const gateway = gatewayOf(closers, servers, { revision: '2026-07-28' }, cache && { server: { cache } });
  const client = new TestClient(gateway.server);
  for (const method of ['tools/list', 'resources/list']) {
    expect((await client.stateless(method)).result).toMatchObject(expected);
  }
});

test('lists of a server of a handshake revision may not be cached', async () => {
  const gateway = gatewayOf(closers, { a: server(open(60_000)) }, { revision: '2025-11-25' });
  const client = new TestClient(gateway.server);
  expect((await client.stateless('tools/list')).result).toMatchObject(closed(0));
});

test.each([
  ['shared', open(4_000)],
  ['principal', closed(4_000)],
] as const)('what was read may be cached as its server allows, with isolation %s', async (isolation, expected) => {
  const gateway = gatewayOf(closers, { a: server(undefined, open(4_000)) }, { revision: '2026-07-28', isolation });
  const client = new TestClient(gateway.server);
  expect((await client.stateless('resources/read', { uri: 'demo://a' })).result).toMatchObject(expected);
});
