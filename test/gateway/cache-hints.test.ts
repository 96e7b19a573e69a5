// How long clients of 2026-07-28 may cache what a gateway lists and reads.

import { afterEach, expect, test, vi } from 'vitest';
import type { Transport, TransportListener } from '../../src/client/index.ts';
import { createGateway } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import type { CacheHint } from '../../src/protocol/model.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';
import { gatewayConfig, gatewayOf, upstream } from './fixture.ts';

const closers = useClosers(afterEach);

afterEach(() => {
  vi.useRealTimers();
});

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

/** A server of 2026-07-28 that does not announce changes of its only list. */
function silentServer(ttlMs: number) {
  const state = { tool: 'first', lists: 0 };
  const hint = { resultType: 'complete', ttlMs, cacheScope: 'public' };
  const resultOf = (method: string): object => {
    if (method === 'server/discover') {
      return { ...hint, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    }
    state.lists++;
    return { ...hint, tools: [{ name: state.tool, inputSchema: { type: 'object' } }] };
  };
  const target = (): Transport => {
    let listener: TransportListener;
    return {
      kind: 'memory',
      address: 'silent',
      open: async (given) => {
        listener = given;
      },
      send: ({ text }) => {
        const { id, method } = JSON.parse(text) as { id?: number; method: string };
        if (id === undefined) return;
        const answer = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method) });
        queueMicrotask(() => listener.receive(answer));
      },
      close: async () => {},
    };
  };
  return { state, target };
}

test('lists that are not valid any more are read again when a client requests them, and changes are announced', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { state, target } = silentServer(60_000);
  const config = gatewayConfig([upstream('one', { revision: '2026-07-28' })]);
  const gateway = createGateway(config, { logger: false, target: () => target });
  closers.push(() => gateway.close());
  const client = await TestClient.open(gateway.server, '2025-11-25');
  const names = async (): Promise<string[]> =>
    (await client.request('tools/list')).result.tools.map(({ name }: { name: string }) => name);
  expect(await names()).toEqual(['one__first']);
  state.tool = 'second';
  vi.setSystemTime(Date.now() + 59_000);
  expect(await names()).toEqual(['one__first']);
  expect(state.lists).toBe(1);
  const before = new Set(client.received);
  vi.setSystemTime(Date.now() + 2_000);
  expect(await names()).toEqual(['one__first']);
  await client.next((each) => each.method === 'notifications/tools/list_changed' && !before.has(each));
  expect(await names()).toEqual(['one__second']);
  expect(state.lists).toBe(2);
});
