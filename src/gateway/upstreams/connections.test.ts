import { expect, test } from 'vitest';
import { inMemory } from '../../client/index.ts';
import { createServer } from '../../engine/server.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { UpstreamConnections } from './connections.ts';
import type { UpstreamCall } from './contract.ts';

const config = {
  slug: 'one',
  entry: { command: 'one' },
  isolation: 'session',
  maxProcesses: 1,
  idleMs: 0,
  maxTimeoutMs: 60_000,
  maxResultBytes: 1_000,
  revision: 'auto',
  asks: [],
  inheritEnv: [],
  restart: { minMs: 1, maxMs: 1, tries: 1, withinMs: 1_000 },
} as unknown as UpstreamConfig;

test('a process that gets no new calls, but has not ended its last ones, counts', async () => {
  const server = createServer({ name: 'one', version: '1', logger: false });
  const ignore = (): void => {};
  const events = new Proxy({}, { get: () => ignore }) as ConstructorParameters<typeof UpstreamConnections>[2];
  const client = { name: 'test', version: '1' };
  const connections = new UpstreamConnections(
    config,
    { client, logger: undefined, target: () => inMemory(server) },
    events,
  );
  const first = await connections.get('first', undefined);
  const call = { sessionClient: undefined, sentAtMs: 0 } as UpstreamCall;
  first.begin(call);
  connections.retire(first);
  expect(() => connections.get('second', undefined)).toThrow('all 1 processes are in use');
  first.end(call);
  expect((await connections.get('second', undefined)).key).toBe('second');
  await connections.close();
});
