// Attachments: what a handler stores with `ctx.attach` is read by the caller that got the link, and by no other.

import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { createMemoryExpiringStore } from '../../src/engine/expiring-store.ts';
import { createServer, type Server, type ServerOptions, text } from '../../src/index.ts';
import { clientOf, gatewayOf } from '../gateway/fixture.ts';
import { useClosers } from '../support/closers.ts';
import { hasRedis } from '../support/redis.ts';
import { openRedisReplicas } from '../support/redis-replicas.ts';
import type { CreateServer } from '../support/replicas.ts';
import { serveWires, statelessKinds, type Wire, wireKinds } from '../support/wires.ts';

const rows = 'city,°C\nOslo,7\n';
const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);

function exporter(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: 'exporter', version: '1', logger: false, attachments: true, ...options });
  server.tool('rows', {
    run: async (_args, ctx) => [
      text('1 row'),
      await ctx.attach(rows, { name: 'rows of today.csv', mimeType: 'text/csv', title: 'Rows' }),
    ],
  });
  server.tool('bytes', { run: (_args, ctx) => ctx.attach(bytes, { name: 'all.bin' }) });
  server.tool('large', {
    input: { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] },
    run: ({ size }, ctx) => ctx.attach('x'.repeat(size as number), { name: 'large.txt' }),
  });
  return server;
}

const closers = useClosers(afterEach);

const clientFor = (server: Server, revision = 'auto'): Promise<Client> => clientOf(closers, server, { revision });

/** The link in the result of a call. */
async function attached(client: Client, tool: string, args: object = {}): Promise<{ uri: string; size?: number }> {
  const { content, isError } = await client.callTool(tool, args as never);
  const link = content.find(({ type }) => type === 'resource_link');
  if (isError === true || link === undefined) throw new Error(JSON.stringify(content));
  return link as { uri: string; size?: number };
}

describe('over the wire', () => {
  const server = exporter();
  let wires: Awaited<ReturnType<typeof serveWires>>;
  beforeAll(async () => {
    wires = await serveWires(server, { ada: [], bob: [] });
  });
  afterAll(async () => {
    await wires.close();
    await server.close();
  });

  const asSession = (wire: Wire) => (method: string, params: Record<string, unknown>) => wire.request(method, params);
  const asStateless = (wire: Wire) => (method: string, params: Record<string, unknown>) =>
    wire.stateless(method, params);
  const cases = [
    ...wireKinds.map((kind) => [kind, 'session', asSession] as const),
    ...statelessKinds.map((kind) => [kind, '2026-07-28', asStateless] as const),
  ];

  test.each(cases)('%s, %s: read by its caller, in another session too', async (kind, _name, requests) => {
    const request = requests(await wires.connect(kind, 'ada'));
    const { result } = await request('tools/call', { name: 'rows', arguments: {} });
    const [note, link] = result.content;
    expect(note.text).toBe('1 row');
    expect(link).toEqual({
      type: 'resource_link',
      uri: expect.stringMatching(/^attachment:\/\/[0-9a-f]{32}\/rows%20of%20today\.csv$/),
      name: 'rows of today.csv',
      title: 'Rows',
      mimeType: 'text/csv',
      size: 16,
    });
    const other = requests(await wires.connect(kind, 'ada'));
    for (const read of [request, other]) {
      const { contents } = (await read('resources/read', { uri: link.uri })).result;
      expect(contents).toEqual([{ uri: link.uri, mimeType: 'text/csv', text: rows }]);
    }
  });

  test.each(cases)('%s, %s: another caller cannot read it, nor list it', async (kind, _name, requests) => {
    const ada = requests(await wires.connect(kind, 'ada'));
    const { uri } = (await ada('tools/call', { name: 'bytes', arguments: {} })).result.content[0];
    const bob = requests(await wires.connect(kind, 'bob'));
    const unknown = 'attachment://00000000000000000000000000000000/all.bin';
    const [{ error }, absent] = [await bob('resources/read', { uri }), await bob('resources/read', { uri: unknown })];
    expect(error?.code).toBe(absent.error?.code);
    expect(error?.message.replace(uri, '')).toBe(absent.error?.message.replace(unknown, ''));
    expect((await ada('resources/list', {})).result.resources).toEqual([]);
    expect((await ada('resources/templates/list', {})).result.resourceTemplates).toEqual([]);
    expect((await ada('resources/read', { uri })).result.contents[0].blob).toBe(Buffer.from(bytes).toString('base64'));
  });
});

test('a revision without links gets the URI as text, and can read it', async () => {
  const client = await clientFor(exporter(), '2024-11-05');
  const { content } = await client.callTool('rows');
  const [uri] = /attachment:\S+csv/.exec(JSON.stringify(content)) as RegExpExecArray;
  expect((await client.readResource(uri)).contents).toMatchObject([{ text: rows }]);
});

test('resources are declared from the start', async () => {
  expect((await clientFor(exporter())).capabilities).toHaveProperty('resources');
  expect((await clientFor(exporter({ attachments: false }))).capabilities).not.toHaveProperty('resources');
});

test('a server without attachments says what is missing', async () => {
  const { isError, content } = await (await clientFor(exporter({ attachments: false }))).callTool('bytes');
  expect(isError).toBe(true);
  expect(content).toMatchObject([{ text: expect.stringContaining('attachments: true') }]);
});

test('it expires', async () => {
  const client = await clientFor(exporter({ limits: { attachmentTtlMs: 50 } }));
  const { uri } = await attached(client, 'bytes');
  await expect
    .poll(() => client.readResource(uri, { cache: 'bypass' }).then(() => 'found', String), { timeout: 10_000 })
    .toMatch(/no resource/);
});

test('one that is too large is an error of the tool', async () => {
  const client = await clientFor(exporter({ limits: { maxAttachmentBytes: 1_000 } }));
  expect((await attached(client, 'large', { size: 1_000 })).size).toBe(1_000);
  const { isError, content } = await client.callTool('large', { size: 1_001 });
  expect([isError, content]).toMatchObject([true, [{ text: expect.stringMatching(/1001 bytes.*at most 1000/) }]]);
});

test('a caller may have so much attached, until it expires; others are not affected', async () => {
  const server = exporter({ limits: { maxAttachedBytesPerCaller: 5_000, attachmentTtlMs: 300 } });
  const wires = await serveWires(server, { ada: [], bob: [] });
  closers.push(() => wires.close());
  const call = (wire: Wire) => wire.request('tools/call', { name: 'large', arguments: { size: 2_000 } });
  const [ada, bob] = [await wires.connect('http', 'ada'), await wires.connect('http', 'bob')];
  const results = [await call(ada), await call(ada)];
  expect(results.map(({ result }) => result.isError ?? false)).toEqual([false, true]);
  expect(results[1]?.result.content[0].text).toContain('expired');
  expect((await call(bob)).result.isError ?? false).toBe(false);
  await expect.poll(async () => (await call(ada)).result.isError ?? false, { timeout: 10_000 }).toBe(false);
});

test('processes that share key and store read what another has attached; the store has it encrypted', async () => {
  const store = createMemoryExpiringStore();
  const stored: unknown[] = [];
  const set: typeof store.set = (...args) => {
    stored.push(args);
    return store.set(...args);
  };
  const key = '0123456789abcdefghijklmnopqrstuv';
  const [one, two] = [exporter({ key, store: { ...store, set } }), exporter({ key, store })];
  const { uri } = await attached(await clientFor(one), 'rows');
  expect((await (await clientFor(two)).readResource(uri)).contents).toMatchObject([{ text: rows }]);
  expect(JSON.stringify(stored)).not.toContain('Oslo');
  await expect((await clientFor(exporter({ store }))).readResource(uri)).rejects.toThrow(/no resource/);
});

test.skipIf(!hasRedis())('with Redis, the largest one, read through another process', { timeout: 30_000 }, async () => {
  const group = await openRedisReplicas();
  closers.push(() => group.close());
  const largest = randomBytes(4 * 1024 * 1024);
  const create: CreateServer = (shared) => {
    const server = exporter(shared);
    server.tool('largest', { run: (_args, ctx) => ctx.attach(largest, { name: 'largest.bin' }) });
    return server;
  };
  const [one, two] = [await group.startServer(create), await group.startServer(create)];
  const called = await one.client.modern('tools/call', { name: 'largest', arguments: {} });
  const { uri } = JSON.parse(called.text).result.content[0];
  const read = await two.client.modern('resources/read', { uri });
  expect(Buffer.from(JSON.parse(read.text).result.contents[0].blob, 'base64').equals(largest)).toBe(true);
});

test.each(['2025-11-25', '2026-07-28'])('through a gateway with several servers (%s)', async (revision) => {
  const other = createServer({ name: 'other', version: '1', logger: false });
  other.resource('note:///1', { name: 'note', read: () => 'a note' });
  const gateway = gatewayOf(closers, { exporter: exporter(), other }, { revision });
  const client = await clientOf(closers, gateway.server);
  const { uri } = await attached(client, 'exporter__rows');
  expect((await client.readResource(uri)).contents).toMatchObject([{ uri, text: rows }]);
});

test('of a mounted server, and of a task', async () => {
  const inner = exporter();
  inner.tool('slow', {
    task: { start: 'immediately' },
    run: async (_args, ctx) => ctx.attach(rows, { name: 'rows.csv' }),
  });
  const outer = createServer({ name: 'outer', version: '1', logger: false });
  outer.mount('one', inner);
  const unmount = outer.mount('two', exporter());
  const client = await clientFor(outer);
  for (const tool of ['one_rows', 'two_rows', 'one_slow']) {
    const { uri } = await attached(client, tool);
    expect((await client.readResource(uri)).contents).toMatchObject([{ text: rows }]);
  }
  unmount.remove();
  const { uri } = await attached(client, 'one_rows');
  expect((await client.readResource(uri)).contents).toMatchObject([{ text: rows }]);
});

test.each([
  ['no content', undefined, { name: 'a' }, /string or a Uint8Array/],
  ['a number', 1, { name: 'a' }, /string or a Uint8Array/],
  ['no options', 'x', undefined, /name must be a string/],
  ['an empty name', 'x', { name: '' }, /name must be a string/],
  ['a long name', 'x', { name: 'a'.repeat(256) }, /more than 255/],
  ['half a character', 'x', { name: '\ud800' }, /surrogate/],
])('wrong arguments: %s', async (_name, content, options, message) => {
  const server = exporter();
  server.tool('wrong', { run: (_args, ctx) => ctx.attach(content as never, options as never) });
  const { isError, content: said } = await (await clientFor(server)).callTool('wrong');
  expect([isError, said]).toMatchObject([true, [{ text: expect.stringMatching(message) }]]);
});
