// The states of upstreams: when a server counts as usable, and how it comes back.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createGateway, type Gateway, type GatewayOptions, type UpstreamConfig } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { gatewayConfig, upstream } from './fixture.ts';

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
