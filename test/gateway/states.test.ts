// The states of upstreams: when a server counts as usable, and how it comes back.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createGateway, type Gateway, type GatewayOptions, type UpstreamConfig } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';
import { httpUpstream } from './http-upstream.ts';

const closers = useClosers(afterEach);
const script = join(import.meta.dirname, 'servers/faulty.mjs');

afterEach(() => {
  vi.useRealTimers();
});

function gatewayWith(config: UpstreamConfig, options: GatewayOptions = {}): Gateway {
  const gateway = createGateway(gatewayConfig([config]), { logger: false, ...options });
  closers.push(() => gateway.close());
  return gateway;
}

const oneTry = { minMs: 1, maxMs: 1, tries: 1, withinMs: 60_000 };

test('a server that is down is tried again without a call, and makes the gateway ready when it is back', async () => {
  const program = join(temporaryFolder(), 'later.mjs');
  const entry = { command: process.execPath, args: [program] };
  const config = upstream('one', { entry, start: 'eager', required: true, restart: oneTry, revision: '2025-06-18' });
  const gateway = gatewayWith(config, { retryDownMs: 100 });
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('down');
  expect(gateway.isReady).toBe(false);
  copyFileSync(script, program);
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('ready');
  expect(gateway.isReady).toBe(true);
});

test('it is tried every minute, until the gateway is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  let starts = 0;
  const config = upstream('one', { start: 'eager', restart: oneTry });
  const states: string[] = [];
  const gateway = gatewayWith(config, {
    target: () => () => {
      starts++;
      throw new Error('not there');
    },
    onState: ({ state }) => states.push(state),
  });
  await vi.waitFor(() => expect(states).toContain('down'));
  const first = starts;
  await vi.advanceTimersByTimeAsync(59_000);
  expect(starts).toBe(first);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(starts).toBe(2 * first);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(starts).toBe(3 * first);
  await gateway.close();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(starts).toBe(3 * first);
});

test('more callers than maxProcesses can use a server over HTTP at a time, each with a connection of its own', async () => {
  const server = await httpUpstream(closers);
  let answer: () => void = () => {};
  server.answer = new Promise((resolve) => (answer = resolve));
  const entry = { url: server.url };
  const gateway = gatewayWith(
    upstream('one', { entry, isolation: 'session', maxProcesses: 2, revision: '2025-06-18' }),
  );
  const clients = await Promise.all(
    Array.from({ length: 3 }, () => clientOf(closers, gateway.server, { revision: '2025-11-25' })),
  );
  const calls = clients.map((client) => client.callTool('one__work'));
  await expect.poll(() => server.calls).toBe(3);
  answer();
  for (const call of calls) expect((await call).isError).toBeUndefined();
  expect(server.requests.filter((method) => method === 'initialize').length).toBeGreaterThanOrEqual(3);
});
