import { expect, test } from 'vitest';
import type { Gateway, UpstreamStatus } from '../../gateway/index.ts';
import type { Pins } from '../../gateway/pins/index.ts';
import { consoleGateway, GatewayServers, UpstreamMessages } from './console-gateway.ts';

test('the console gets everything that the gateway knows about a server', () => {
  const status: UpstreamStatus = {
    ...{ name: 'Files', slug: 'files', state: 'ready', since: '2026-01-01T00:00:00Z' },
    ...{ restarts: 0, inFlight: 0, queued: 0, connections: 1, noise: 'hello', ambiguousInput: true },
  };
  const { upstreams } = consoleGateway({
    gateway: { status: () => [status], exposed: () => undefined } as unknown as Gateway,
    config: () => ({ servers: [] }),
    pins: { list: () => ({ accepted: [], differences: [] }) } as unknown as Pins,
    as: { view: '' },
    messages: new UpstreamMessages(),
    servers: new GatewayServers(),
  });
  expect(upstreams()).toEqual([{ ...status, tools: [], pins: [] }]);
});
