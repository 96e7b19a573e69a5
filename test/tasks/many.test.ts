// Many tasks, and requests about tasks that make no sense.

import { afterEach, expect, test } from 'vitest';
import { createServer } from '../../src/engine/server.ts';
import type { ServerOptions } from '../../src/engine/server-options.ts';
import { Database } from '../../src/stores/sqlite/database.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { SqliteTasks } from '../../src/stores/sqlite/tasks.ts';
import { isFullRun } from '../support/full.ts';
import { taskRecord } from '../support/task-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';

const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const peerOf = (id: string) => ({ transport: 'memory', principal: { id } }) as const;

const many = isFullRun ? 10_000 : 1_000;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serverWith(options: Partial<ServerOptions> = {}, data = openDataFolder(temporaryFolder())) {
  const opened = await data;
  closing.push(() => opened.close());
  const server = createServer({
    name: 'many',
    version: '1.0.0',
    logger: false,
    ...options,
    tasks: { store: opened.tasks, ...options.tasks, limits: { closeGraceMs: 0, ...options.tasks?.limits } },
  });
  closing.push(() => server.close());
  const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
  for (const recover of ['fail', 'replay'] as const) {
    server.tool(recover, {
      description: 'Waits for a name',
      task: { support: 'required', recover },
      run: async (_args, ctx) => {
        const answer = await ctx.elicit('Name?', form, { key: 'name' });
        return answer.action === 'accept' ? `Hello ${(answer.content as { name: string }).name}` : answer.action;
      },
    });
  }
  return { server, tasks: opened.tasks };
}

async function call(client: TestClient, tool: string): Promise<string> {
  const { result, error } = await client.stateless('tools/call', { name: tool, arguments: {} }, capabilities);
  expect(error).toBeUndefined();
  return result.taskId;
}

const get = (client: TestClient, taskId: unknown) => client.stateless('tasks/get', { taskId } as object, capabilities);

async function until(client: TestClient, taskId: string, status: string) {
  for (;;) {
    const message = await get(client, taskId);
    if (message.result?.status === status) return message.result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const answer = (client: TestClient, taskId: string, inputResponses: object) =>
  client.stateless('tasks/update', { taskId, inputResponses }, capabilities);

test('thousands of tasks that wait: no handler in memory, pages, and a sweep that lets other work run', {
  timeout: 300_000,
}, async () => {
  const limits = { maxActivePerCaller: 20_000, maxActive: 20_000, suspendAfterMs: 1 };
  const { server, tasks } = await serverWith({ tasks: { limits } });
  const client = new TestClient(server, peerOf('ada'));
  const ids: string[] = [];
  for (let n = 0; n < many / 100; n++) {
    ids.push(...(await Promise.all(Array.from({ length: 100 }, () => call(client, 'replay')))));
    client.received.length = 0;
  }
  // Each handler is dropped once its input request is stored.
  for (;;) {
    const { tasks: running } = await tasks.list({ phase: 'running', limit: 1 });
    if (running.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await tasks.count()).toEqual({ active: many, kept: many });
  const session = await TestClient.open(server, '2025-11-25', {}, peerOf('ada'));
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const { result } = await session.request('tasks/list', cursor === undefined ? {} : { cursor });
    expect(result.tasks.length).toBeLessThanOrEqual(100);
    listed.push(...result.tasks.map((task: { taskId: string }) => task.taskId));
    cursor = result.nextCursor;
    session.received.length = 0;
  } while (cursor !== undefined);
  expect(listed.sort()).toEqual(ids.sort());
  // One of them goes on as if it were alone.
  const [one = ''] = ids;
  await answer(client, one, { name: { action: 'accept', content: { name: 'Ada' } } });
  expect((await until(client, one, 'completed')).result.content[0].text).toBe('Hello Ada');
  // All of them expire, and are deleted between other work. The server would sweep, too.
  await server.close();
  await Promise.all(
    ids.map((id) => tasks.change(id, {}, [{ type: 'end', outcome: { type: 'cancelled' }, expiresAtMs: 1 }])),
  );
  let turns = 0;
  let isSweeping = true;
  const count = (): void => {
    turns++;
    if (isSweeping) setImmediate(count);
  };
  count();
  expect((await tasks.sweep(20_000)).deleted).toBe(many - 1);
  isSweeping = false;
  expect(turns).toBeGreaterThan(many / 500);
});

test('a caller with too many tasks is limited, and others are not', async () => {
  const { server } = await serverWith({ tasks: { limits: { maxActivePerCaller: 3 } } });
  const [ada, eve] = [new TestClient(server, peerOf('ada')), new TestClient(server, peerOf('eve'))];
  for (let n = 0; n < 3; n++) await call(ada, 'fail');
  const { error } = await ada.stateless('tools/call', { name: 'fail', arguments: {} }, capabilities);
  expect(error?.message).toMatch(/tasks/);
  await call(eve, 'fail');
});

test('ids that are unknown, expired, of another caller or malformed get the same answer', async () => {
  const { server, tasks } = await serverWith();
  const [ada, eve] = [new TestClient(server, peerOf('ada')), new TestClient(server, peerOf('eve'))];
  const own = await call(ada, 'fail');
  const expired = taskRecord({ service: 'many', owner: '\u0000eve', expiresAtMs: Date.now() - 1 });
  const otherService = taskRecord({ service: 'other', owner: '\u0000eve' });
  for (const record of [expired, otherService]) await tasks.create(record);
  const errors = new Set<string>();
  for (const id of [own, expired.id, otherService.id, 'A'.repeat(32), '', 'x', `${own}\u0000`, "'; drop table tasks"]) {
    for (const [method, more] of [
      ['tasks/get', {}],
      ['tasks/update', { inputResponses: {} }],
      ['tasks/cancel', {}],
    ] as const) {
      const { error } = await eve.stateless(method, { taskId: id, ...more }, capabilities);
      errors.add(JSON.stringify(error));
    }
  }
  expect(errors.size).toBe(1);
  expect([...errors][0]).toContain('-32602');
  for (const id of [undefined, 7, null, {}, ['x']]) expect((await get(eve, id)).error).toMatchObject({ code: -32602 });
});

test('responses to unknown keys, twice, or of the wrong form do not disturb a task', async () => {
  const { server } = await serverWith();
  const client = new TestClient(server, peerOf('ada'));
  const id = await call(client, 'fail');
  await until(client, id, 'input_required');
  expect((await answer(client, id, { unknown: { action: 'accept' } })).error).toBeUndefined();
  expect((await get(client, id)).result.status).toBe('input_required');
  // The wrong form: asked again under another key.
  await answer(client, id, { name: { action: 'accept', content: { name: 7 } } });
  const again = await until(client, id, 'input_required');
  const keys = Object.keys(again.inputRequests);
  expect(keys).toHaveLength(1);
  expect(keys).not.toContain('name');
  const [first, second] = [
    { action: 'accept', content: { name: 'Ada' } },
    { action: 'accept', content: { name: 'Eve' } },
  ];
  await Promise.all([
    answer(client, id, { [keys[0] as string]: first }),
    answer(client, id, { [keys[0] as string]: second }),
  ]);
  expect((await until(client, id, 'completed')).result.content[0].text).toBe('Hello Ada');
});

test('a client that never responds: the input request ends at its deadline, and so does the task', async () => {
  const { server } = await serverWith({ limits: { inputTimeoutMs: 50 } });
  const client = new TestClient(server, peerOf('ada'));
  const id = await call(client, 'fail');
  const { result } = await until(client, id, 'completed');
  expect(result).toMatchObject({ isError: true });
});

test('a ttl out of range is brought into it', async () => {
  const { server } = await serverWith();
  const session = await TestClient.open(server, '2025-11-25', { elicitation: {} }, peerOf('ada'));
  const ttlOf = async (ttl: unknown): Promise<unknown> => {
    const { result, error } = await session.request('tools/call', { name: 'fail', arguments: {}, task: { ttl } });
    return error?.code ?? result.task.ttl;
  };
  expect(await ttlOf(1)).toBe(60_000);
  expect(await ttlOf(1e15)).toBe(7 * 24 * 3_600_000);
  for (const invalid of [-1, 'soon', Number.NaN]) expect([60_000, 3_600_000, -32602]).toContain(await ttlOf(invalid));
});

test.each(['full', 'read-only'])('a store that is %s: a clear error, and nothing hangs', async (how) => {
  const folder = temporaryFolder();
  const database = await Database.open(folder);
  const tasks = new SqliteTasks(database, how === 'full' ? { maxTasks: 0 } : {});
  if (how === 'read-only') database.statement('pragma query_only = 1').get();
  const { server } = await serverWith(
    {},
    Promise.resolve({ tasks, close: () => database.close() } as unknown as Awaited<ReturnType<typeof openDataFolder>>),
  );
  const client = new TestClient(server, peerOf('ada'));
  const { error } = await client.stateless('tools/call', { name: 'fail', arguments: {} }, capabilities);
  expect(error).toMatchObject({ code: -32603 });
  expect(error?.message).toMatch(/[Tt]asks/);
  // Paths of the machine are not for clients.
  expect(JSON.stringify(error)).not.toContain(folder);
});

test('a task costs two commits: one at its creation, one at its end', async () => {
  const database = await Database.open(temporaryFolder());
  const { server } = await serverWith(
    {},
    Promise.resolve({
      tasks: new SqliteTasks(database),
      close: () => database.close(),
    } as unknown as Awaited<ReturnType<typeof openDataFolder>>),
  );
  server.tool('quick', { description: 'Ends at once', task: { support: 'required' }, run: () => 'done' });
  let commits = 0;
  database.onChange(() => commits++);
  const client = new TestClient(server, peerOf('ada'));
  await until(client, await call(client, 'quick'), 'completed');
  expect(commits).toBeLessThanOrEqual(2);
});
