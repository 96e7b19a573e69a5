// Tools that have changed since they were accepted do not run with `pin: "block"`, however the connection was opened.

import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { Pins } from '../../src/gateway/pins/index.ts';
import type { ToolResult } from '../../src/protocol/model.ts';
import { useClosers } from '../support/closers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';
import { type HttpUpstream, httpUpstream, toolOf } from './http-upstream.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);

const pinFile = (): string => join(temporaryFolder(), 'pins.json');

function gatewayTo({ url }: HttpUpstream, given: Partial<UpstreamConfig> = {}): Gateway {
  const server = upstream('one', { entry: { url }, revision: '2025-06-18', pin: 'block', ...given });
  const gateway = createGateway(gatewayConfig([server]), { logger: false, pins: new Pins({ file: pinFile() }) });
  closers.push(() => gateway.close());
  return gateway;
}

const changed = (result: ToolResult): boolean =>
  result.isError === true && JSON.stringify(result.content).includes('has changed since it was accepted');

test('a tool that changed with the session of its server does not run, also for calls that come later', async () => {
  const server = await httpUpstream(closers);
  const client = await clientOf(closers, gatewayTo(server).server);
  expect((await client.callTool('one__work')).isError).toBeUndefined();
  server.forgetSessions();
  server.tools = [toolOf('second version')];
  const results = await Promise.all([client.callTool('one__work'), client.callTool('one__work')]);
  expect([...results, await client.callTool('one__work')].map(changed)).toEqual([true, true, true]);
  expect(server.calls).toBe(1);
});

test('a tool that changed while its server was restarted does not run', async () => {
  const server = await httpUpstream(closers);
  const client = await clientOf(closers, gatewayTo(server).server);
  await client.callTool('one__work');
  await server.stop();
  expect((await client.callTool('one__work')).isError).toBe(true);
  server.tools = [toolOf('second version')];
  await server.start();
  expect(changed(await client.callTool('one__work'))).toBe(true);
  expect(server.calls).toBe(1);
});

test('a call whose session was lost is sent again if its tool is the same, and its lists are read in between', async () => {
  const server = await httpUpstream(closers);
  const client = await clientOf(closers, gatewayTo(server).server);
  await client.callTool('one__work');
  server.forgetSessions();
  server.requests.length = 0;
  expect((await client.callTool('one__work')).content).toEqual([{ type: 'text', text: 'done' }]);
  expect(server.requests.filter((method) => !method.startsWith('notifications/'))).toEqual([
    'initialize',
    'tools/list',
    'tools/call',
  ]);
});

test('every call waits until the tools of its connection were compared', async () => {
  let list: () => void = () => {};
  const { target, sides } = scriptedUpstream(undefined, ({ id }, side) => {
    list = () => side.send({ id, result: { tools: [toolOf('second version')] } });
  });
  const server = upstream('one', { revision: '2025-11-25', pin: 'block' });
  const lists = { tools: [toolOf('first version')], prompts: [], resources: [], resourceTemplates: [] };
  const cache = { read: () => ({ lists: lists as never, atMs: 0 }), write: () => {} };
  const pins = new Pins({ file: pinFile() });
  const gateway = createGateway(gatewayConfig([server]), { logger: false, pins, cache, target: () => target });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  const first = client.callTool('one__work');
  await expect.poll(() => sides[0]?.received.some(({ method }) => method === 'tools/list')).toBe(true);
  const second = client.callTool('one__work');
  await expect.poll(() => gateway.status()[0]?.inFlight).toBe(2);
  list();
  expect([await first, await second].map(changed)).toEqual([true, true]);
  expect(sides.flatMap(({ received }) => received.map(({ method }) => method))).not.toContain('tools/call');
});

test('with a connection for each call, only the tools are read before it', async () => {
  const server = await httpUpstream(closers);
  const client = await clientOf(closers, gatewayTo(server, { isolation: 'call' }).server);
  await client.callTool('one__work');
  server.requests.length = 0;
  await client.callTool('one__work');
  const requests = server.requests.filter((method) => !method.startsWith('notifications/'));
  expect(requests).toEqual(['initialize', 'tools/list', 'tools/call']);
  server.tools = [toolOf('second version')];
  expect(changed(await client.callTool('one__work'))).toBe(true);
});
