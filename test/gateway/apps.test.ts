// MCP Apps in a view of several servers: who shows and who offers apps is declared on both sides, and URIs of pages lead to the
// server that they came from.

import { afterEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/index.ts';
import { appHostCapabilities, uiExtension } from '../../src/protocol/apps.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);
const page = 'ui://x/y';

/** A server with a page, and a tool that returns what its client has declared. */
function apps(extensions: Record<string, object> = { [uiExtension]: {} }): Server {
  const server = createServer({ name: 'apps', version: '1.0.0', logger: false, extensions });
  server.resource(page, { name: 'page', read: () => '<p>' });
  server.tool('declared', {
    _meta: { ui: { resourceUri: page, visibility: ['model'] }, 'ui/resourceUri': page },
    run: (_args, ctx) => ({
      content: [{ type: 'text', text: JSON.stringify(ctx.clientCapabilities['extensions'] ?? {}) }],
      _meta: { ui: { resourceUri: page }, note: 'kept' },
    }),
  });
  return server;
}

const plain = (): Server => {
  const server = createServer({ name: 'plain', version: '1.0.0', logger: false });
  server.tool('nothing', { run: () => 'done' });
  return server;
};

const revisions = ['2025-06-18', '2025-11-25', '2026-07-28'];
const pairs = revisions.flatMap((up) => revisions.map((down) => [up, down] as const));

describe.each(pairs)('a server at %s with a client at %s', (up, down) => {
  test.each(['shared', 'session'] as const)(
    'apps are declared on both sides of a view, isolation %s',
    async (isolation) => {
      const gateway = gatewayOf(closers, { one: apps(), two: plain() }, { revision: up, isolation });
      for (const [server, tool] of [
        [gateway.server, 'one__declared'],
        [gateway.single('one') as Server, 'declared'],
      ] as const) {
        // A server that is not known yet declares nothing of its own.
        await (await clientOf(closers, server)).listTools();
        const client = await clientOf(closers, server, { revision: down, capabilities: appHostCapabilities });
        expect(client.capabilities['extensions']).toMatchObject({ [uiExtension]: {} });
        const { content } = await client.callTool(tool);
        expect(JSON.parse((content[0] as { text: string }).text)).toMatchObject(appHostCapabilities.extensions);
      }
    },
  );
});

test('apps are declared neither for servers nor for clients without them', async () => {
  const gateway = gatewayOf(closers, { one: apps({}), two: plain() }, { isolation: 'session' });
  await (await clientOf(closers, gateway.server)).listTools();
  for (const revision of revisions) {
    const client = await clientOf(closers, gateway.server, { revision });
    expect(JSON.stringify(client.capabilities)).not.toContain(uiExtension);
    const { content } = await client.callTool('one__declared');
    expect((content[0] as { text: string }).text).not.toContain(uiExtension);
  }
});

test('the page of a tool leads to its server, in lists and in results', async () => {
  const gateway = gatewayOf(closers, { first: apps(), second: apps() });
  const client = await clientOf(closers, gateway.server);
  const tools = await client.listTools();
  const metaOf = (name: string) => tools.find((tool) => tool.name === name)?._meta;
  const qualified = 'ui://second--x/y';
  expect(metaOf('first__declared')).toEqual({
    ui: { resourceUri: page, visibility: ['model'] },
    'ui/resourceUri': page,
  });
  expect(metaOf('second__declared')).toEqual({
    ui: { resourceUri: qualified, visibility: ['model'] },
    'ui/resourceUri': qualified,
  });
  expect((await client.callTool('first__declared'))._meta).toMatchObject({ ui: { resourceUri: page }, note: 'kept' });
  expect((await client.callTool('second__declared'))._meta).toMatchObject({
    ui: { resourceUri: qualified },
    note: 'kept',
  });
});
