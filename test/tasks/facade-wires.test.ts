// The tools for clients without tasks over every transport, and with clients of others that validate results.

import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, expect, test } from 'vitest';
import { createServer, type Server, serveHttp } from '../../src/index.ts';
import { serveWires, statelessKinds, type Wire, wireKinds } from '../support/wires.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server whose tool ends when the test says so. */
function slowServer(): { readonly server: Server; finish(): void } {
  const server = createServer({ name: 'slow', version: '1.0.0', logger: false, tasks: { facade: { afterMs: 20 } } });
  closing.push(() => server.close());
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  server.tool('render', {
    description: 'Renders',
    task: 'required',
    output: { type: 'object', properties: { frames: { type: 'integer' } }, required: ['frames'] },
    run: async () => {
      await finished;
      return { frames: 24 };
    },
  });
  return { server, finish: () => finish() };
}

interface Result {
  readonly structuredContent?: Record<string, unknown>;
  readonly content: { readonly text: string }[];
}
type Call = (name: string, args: object) => Promise<Result>;

/** A slow call, and its result by `task_status`. */
async function drive(call: Call, finish: () => void): Promise<void> {
  const handle = await call('render', {});
  const taskId = /"([A-Za-z0-9_-]{32})"/.exec(handle.content[0]?.text ?? '')?.[1];
  expect(taskId).toBeDefined();
  const waiting = call('task_status', { taskId, waitMs: 30_000 });
  finish();
  expect(JSON.parse((await waiting).content[0]?.text ?? '')).toEqual({ frames: 24 });
  expect((await call('task_cancel', { taskId })).content[0]?.text).toContain('completed');
}

const kinds = [
  ...wireKinds.map((kind) => [kind, 'with a session'] as const),
  ...statelessKinds.map((kind) => [kind, 'stateless'] as const),
];

test.each(kinds)('over %s, %s', async (kind, how) => {
  const { server, finish } = slowServer();
  const wires = await serveWires(server);
  closing.push(() => wires.close());
  const wire: Wire = await wires.connect(kind);
  await drive(async (name, args) => {
    const params = { name, arguments: args };
    const { result, error } =
      how === 'stateless' ? await wire.stateless('tools/call', params) : await wire.request('tools/call', params);
    expect(error).toBeUndefined();
    return result;
  }, finish);
});

test.each(['old', 'new'])('with the %s official client, which validates results', async (line) => {
  const { server, finish } = slowServer();
  const served = await serveHttp(server, { port: 0 });
  closing.push(() => served.close());
  const identity = { name: 'other', version: '1.0.0' };
  const client = line === 'old' ? new OldClient(identity) : new NewClient(identity);
  const url = new URL(served.url);
  const transport = line === 'old' ? new OldHttp(url) : new NewHttp(url);
  await client.connect(transport as never);
  closing.push(() => client.close());
  // It compiles the output schemas that it has listed.
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['render', 'task_status', 'task_cancel']);
  const callTool = client.callTool.bind(client) as unknown as (params: object) => Promise<Result>;
  await drive((name, args) => callTool({ name, arguments: args }), finish);
});
