// Clients without tasks, and the ordinary tools that are there for them: on every revision, through the wire.

import { afterEach, expect, test, vi } from 'vitest';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import { createServer, type Server, type TaskOptions, type TasksOptions } from '../../src/index.ts';
import type { Peer } from '../../src/protocol/exchange.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const handshake = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const revisions = [...handshake, '2026-07-28'];
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function serverWith(tasks: TasksOptions = { facade: { afterMs: 10 } }): Server {
  const server = createServer({ name: 'facade', version: '1.0.0', logger: false, tasks });
  servers.push(server);
  return server;
}

/** A client of one revision. */
class Client {
  readonly #client: TestClient;
  readonly #revision: string;
  readonly #capabilities: object;

  private constructor(client: TestClient, revision: string, capabilities: object) {
    this.#client = client;
    this.#revision = revision;
    this.#capabilities = capabilities;
  }

  static async open(server: Server, revision: string, capabilities: object = {}, peer?: Peer): Promise<Client> {
    if (revision === '2026-07-28') return new Client(new TestClient(server, peer), revision, capabilities);
    return new Client(await TestClient.open(server, revision, capabilities, peer), revision, capabilities);
  }

  request(method: string, params: object = {}): Promise<Message> {
    if (this.#revision === '2026-07-28') return this.#client.stateless(method, params, this.#capabilities);
    return this.#client.request(method, params);
  }

  async call(name: string, args: object = {}): Promise<Message['result']> {
    const { result, error } = await this.request('tools/call', { name, arguments: args });
    expect(error).toBeUndefined();
    return result;
  }

  async tools(): Promise<Map<string, Message['result']>> {
    const { result } = await this.request('tools/list');
    return new Map(result.tools.map((tool: { name: string }) => [tool.name, tool]));
  }

  get wire(): TestClient {
    return this.#client;
  }
}

const textOf = (result: { content: { text: string }[] }): string => result.content[0]?.text ?? '';
const idIn = (result: { content: { text: string }[] }): string =>
  /"([A-Za-z0-9_-]{32})"/.exec(textOf(result))?.[1] ?? 'no id';

/** A tool that ends when the test says so. */
function slowTool(server: Server, task: TaskOptions = {}) {
  let end: (value: string) => void = () => {};
  let signal: AbortSignal | undefined;
  const ended = new Promise<string>((resolve) => (end = resolve));
  server.tool('work', {
    task,
    run: (_args, ctx) => {
      signal = ctx.signal;
      return Promise.race([
        ended,
        new Promise<never>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
      ]);
    },
  });
  return { end: (value: string) => end(value), signal: () => signal };
}

test.each(revisions)(
  '%s: a slow call is answered with an id, and task_status waits for the result',
  async (revision) => {
    const server = serverWith();
    const { end } = slowTool(server);
    const client = await Client.open(server, revision);
    const handle = await client.call('work');
    expect(handle.isError).toBeFalsy();
    expect(textOf(handle)).toContain('task_status');
    const taskId = idIn(handle);
    // Revisions with structured content have it there, too.
    if (revision >= '2025-06-18') expect(handle.structuredContent).toEqual({ taskId, status: 'working' });
    else expect(handle).not.toHaveProperty('structuredContent');
    // Nothing of tasks is in it that these clients do not know.
    expect(JSON.stringify(handle)).not.toMatch(/related-task|resultType":"task|ttl/);
    const working = await client.call('task_status', { taskId, waitMs: 0 });
    expect(textOf(working)).toContain('still working');
    const waiting = client.call('task_status', { taskId, waitMs: 40_000 });
    end('done');
    expect(textOf(await waiting)).toBe('done');
    // The outcome stays readable.
    expect(textOf(await client.call('task_status', { taskId }))).toBe('done');
  },
);

test.each(revisions)('%s: a fast call is answered with its result', async (revision) => {
  const server = serverWith({ facade: true });
  server.tool('work', { task: 'required', run: async () => 'done' });
  expect(textOf(await (await Client.open(server, revision)).call('work'))).toBe('done');
});

test.each(revisions)('%s: task_cancel cancels a task, and says so when it had ended', async (revision) => {
  const server = serverWith();
  const { signal } = slowTool(server, { support: 'required' });
  const client = await Client.open(server, revision);
  const taskId = idIn(await client.call('work'));
  expect(textOf(await client.call('task_cancel', { taskId }))).toContain('being cancelled');
  expect(signal()?.aborted).toBe(true);
  const status = await client.call('task_status', { taskId });
  expect(status.isError).toBe(true);
  expect(textOf(status)).toContain('cancelled');
  expect(textOf(await client.call('task_cancel', { taskId }))).toContain('had already ended: cancelled');
});

test.each(revisions)('%s: failures of tools and of tasks are results that say why', async (revision) => {
  const server = serverWith();
  server.tool('fails', {
    task: 'optional',
    run: async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      throw new Error('no wind');
    },
  });
  const client = await Client.open(server, revision);
  const status = await client.call('task_status', { taskId: idIn(await client.call('fails')) });
  expect(status.isError).toBe(true);
  expect(textOf(status)).toContain('no wind');
  for (const taskId of ['', 'A'.repeat(32), "'; drop table tasks"]) {
    for (const name of ['task_status', 'task_cancel']) {
      const unknown = await client.call(name, { taskId });
      expect(unknown.isError).toBe(true);
      expect(textOf(unknown)).toContain('Task not found');
    }
  }
});

test.each(revisions)('%s: the tools are listed, and results may be an id', async (revision) => {
  const server = serverWith();
  const output = {
    type: 'object',
    properties: { frames: { $ref: '#/$defs/count' } },
    required: ['frames'],
    $defs: { count: { type: 'integer' } },
  } as const;
  server.tool('plain', { output, run: () => ({ frames: 1 }) });
  server.tool('render', { task: 'required', output, run: () => ({ frames: 1 }) });
  server.tool('count', { task: 'optional', output: { type: 'integer' }, run: () => 1 });
  const client = await Client.open(server, revision);
  const tools = await client.tools();
  expect([...tools.keys()].filter((name) => name.startsWith('task_'))).toEqual(['task_status', 'task_cancel']);
  if (revision === '2025-11-25') expect(tools.get('render').execution).toEqual({ taskSupport: 'optional' });
  if (revision < '2025-06-18') return;
  expect(tools.get('plain').outputSchema).toEqual(output);
  const { outputSchema } = tools.get('render');
  expect(outputSchema).toMatchObject({
    type: 'object',
    anyOf: [{ required: ['frames'] }, { required: ['taskId', 'status'] }],
  });
  // References move with the schema.
  expect(outputSchema.anyOf[0].properties.frames).toEqual({ $ref: '#/anyOf/0/$defs/count' });
  const counted = tools.get('count').outputSchema;
  const either = revision === '2026-07-28' ? counted : counted.properties.result;
  expect(either.anyOf).toHaveLength(2);
  if (revision !== '2026-07-28') expect(counted.type).toBe('object');
});

test.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
  '%s: an id matches the published output schema',
  async (revision) => {
    const { Ajv2020: Ajv } = await import('ajv/dist/2020.js');
    for (const output of [
      { type: 'object', properties: { frames: { type: 'integer' } }, required: ['frames'] },
      { type: 'integer' },
    ] as const) {
      const server = serverWith();
      server.tool('render', { task: 'optional', output, run: () => new Promise<never>(() => {}) });
      const client = await Client.open(server, revision);
      const { outputSchema } = (await client.tools()).get('render');
      const { structuredContent } = await client.call('render');
      const validate = new Ajv({ strict: false }).compile(outputSchema);
      expect(validate(structuredContent), JSON.stringify([outputSchema, structuredContent])).toBe(true);
    }
  },
);

test('a client with tasks gets tasks, does not see the tools, and its list is its own', async () => {
  const server = createServer({
    name: 'facade',
    version: '1.0.0',
    logger: false,
    tasks: { facade: { afterMs: 10, questions: true } },
    cache: { ttlMs: 60_000, cacheScope: 'public' },
  });
  servers.push(server);
  const { end } = slowTool(server, { start: 'immediately' });
  const [modern, plain] = [await Client.open(server, '2026-07-28', extension), await Client.open(server, '2026-07-28')];
  for (let n = 0; n < 2; n++) {
    expect([...(await modern.tools()).keys()]).toEqual(['work']);
    expect([...(await plain.tools()).keys()]).toEqual(['work', 'task_status', 'task_answer', 'task_cancel']);
  }
  // A shared cache must not mix them up.
  expect((await modern.request('tools/list')).result.cacheScope).toBe('private');
  const created = await modern.call('work');
  expect(created).toMatchObject({ resultType: 'task', status: 'working' });
  end('done');
  // 2025-11-25: a call with `task` is a task, as without the tools.
  const session = await Client.open(server, '2025-11-25');
  const { result } = await session.request('tools/call', { name: 'work', arguments: {}, task: {} });
  expect(result.task.status).toBe('working');
});

test('without the option nothing changes; one tool may have it by itself, or not', async () => {
  const off = serverWith({});
  off.tool('work', { task: 'required', run: () => 'done' });
  const client = await Client.open(off, '2025-11-25');
  expect([...(await client.tools()).keys()]).toEqual(['work']);
  expect((await client.tools()).get('work').execution).toEqual({ taskSupport: 'required' });
  expect((await client.request('tools/call', { name: 'work' })).error?.code).toBe(-32601);
  off.tool('slow', {
    task: { facade: { afterMs: 5 } },
    run: () => new Promise<never>(() => {}),
  });
  expect([...(await client.tools()).keys()]).toContain('task_status');
  expect(textOf(await client.call('slow'))).toContain('still working');
  expect((await client.request('tools/call', { name: 'work' })).error?.code).toBe(-32601);
  const on = serverWith();
  on.tool('work', { task: { support: 'required', facade: false }, run: () => 'done' });
  const other = await Client.open(on, '2026-07-28');
  expect((await other.request('tools/call', { name: 'work' })).error?.code).toBe(-32021);
  expect(() => serverWith({ facade: { afterMs: 0 } })).toThrow('afterMs must be a number above 0');
  expect(() => on.tool('bad', { task: { facade: { afterMs: -1 } }, run: () => '' })).toThrow('facade.afterMs');
});

test('a task belongs to its caller: another one finds nothing', async () => {
  const server = serverWith();
  slowTool(server);
  const peerOf = (id: string): Peer => ({ transport: 'memory', principal: { id } });
  const ada = await Client.open(server, '2025-06-18', {}, peerOf('ada'));
  const taskId = idIn(await ada.call('work'));
  const eve = await Client.open(server, '2025-06-18', {}, peerOf('eve'));
  for (const name of ['task_status', 'task_cancel']) {
    expect(textOf(await eve.call(name, { taskId }))).toContain('Task not found');
  }
  // The same caller on another connection, and by the methods of tasks.
  const again = await Client.open(server, '2024-11-05', {}, peerOf('ada'));
  expect(textOf(await again.call('task_status', { taskId, waitMs: 0 }))).toContain('still working');
  const modern = await Client.open(server, '2026-07-28', extension, peerOf('ada'));
  expect((await modern.request('tasks/get', { taskId })).result.status).toBe('working');
});

test('a handler cannot detach a call of a client without tasks by itself', async () => {
  const server = serverWith({ facade: true });
  server.tool('work', {
    task: { start: 'on-detach' },
    run: async (_args, ctx) => {
      const { mayDetach } = ctx;
      await ctx.detach();
      return `${mayDetach} ${ctx.task === undefined}`;
    },
  });
  expect(textOf(await (await Client.open(server, '2025-11-25')).call('work'))).toBe('false true');
});

test('work of another system is answered with an id at once; so is a tool that must not run twice', async () => {
  const server = serverWith({ facade: true });
  server.tool('build', { task: { start: 'external' }, run: (_args, ctx) => ctx.external('job-7') });
  let runs = 0;
  server.tool('order', {
    task: { dedupe: () => 'one' },
    run: () => {
      runs++;
      return new Promise<never>(() => {});
    },
  });
  const client = await Client.open(server, '2025-03-26');
  const taskId = idIn(await client.call('build'));
  const waiting = client.call('task_status', { taskId, waitMs: 40_000 });
  await server.tasks.settle(taskId, { status: 'completed', result: 'built' });
  expect(textOf(await waiting)).toBe('built');
  // A client that repeats a call whose answer was lost gets the same task.
  expect(idIn(await client.call('order'))).toBe(idIn(await client.call('order')));
  expect(runs).toBe(1);
});

function askingTool(server: Server, waitMs = 30): void {
  server.tool('ask', {
    task: 'optional',
    run: async (_args, ctx) => {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const answer = await ctx.elicit('What is your name?', form, { key: 'name' });
      return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action;
    },
  });
}

test.each(['2025-06-18', '2025-11-25'])('%s: the user is asked while task_status waits', async (revision) => {
  const server = serverWith();
  askingTool(server);
  const client = await Client.open(server, revision, { elicitation: {} });
  const handle = await client.call('ask');
  const waiting = client.call('task_status', { taskId: idIn(handle), waitMs: 40_000 });
  const asked = await client.wire.next(({ method }) => method === 'elicitation/create');
  expect(asked.params.message).toBe('What is your name?');
  client.wire.send({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { name: 'Ada' } } });
  expect(textOf(await waiting)).toBe('Hello Ada');
});

test.each(revisions)('%s: with questions, the model answers where its user cannot be asked', async (revision) => {
  const server = serverWith({ facade: { afterMs: 10_000, questions: true } });
  askingTool(server, 0);
  const client = await Client.open(server, revision);
  expect((await client.tools()).has('task_answer')).toBe(true);
  // The call becomes a task before its time, because only then can the model answer.
  const handle = await client.call('ask');
  const taskId = idIn(handle);
  let asked = handle;
  if (!textOf(asked).includes('What is your name?')) asked = await client.call('task_status', { taskId });
  expect(textOf(asked)).toContain('What is your name?');
  expect(textOf(asked)).toContain('task_answer');
  expect(textOf(asked)).toContain('"required":["name"]');
  for (const [args, why] of [
    [{ taskId, key: 'other', answer: { name: 'Ada' } }, 'no open question'],
    [{ taskId, key: 'name', answer: { name: 7 } }, 'does not match'],
    [{ taskId, key: 'name' }, 'does not match'],
  ] as const) {
    const rejected = await client.call('task_answer', args);
    expect(rejected.isError).toBe(true);
    expect(textOf(rejected)).toContain(why);
  }
  expect((await client.call('task_answer', { taskId, key: 'name', answer: { name: 'Ada' } })).isError).toBeFalsy();
  expect(textOf(await client.call('task_status', { taskId }))).toBe('Hello Ada');
  expect((await client.call('task_answer', { taskId, key: 'name', answer: { name: 'Eve' } })).isError).toBe(true);
});

test('with questions, a model may decline; without them it is not asked', async () => {
  const server = serverWith({ facade: { afterMs: 10_000, questions: true } });
  askingTool(server, 0);
  const client = await Client.open(server, '2025-03-26');
  const taskId = idIn(await client.call('ask'));
  await client.call('task_status', { taskId });
  await client.call('task_answer', { taskId, key: 'name', action: 'decline' });
  expect(textOf(await client.call('task_status', { taskId }))).toBe('decline');
  const other = serverWith();
  askingTool(other);
  const plain = await Client.open(other, '2025-03-26');
  const failed = await plain.call('task_status', { taskId: idIn(await plain.call('ask')) });
  expect(failed.isError).toBe(true);
  expect(textOf(failed)).toContain('elicitation.form');
});

test('a question that the model may answer survives the process', async () => {
  const store = { ...methodsOf(createMemoryTaskStore()), durable: true };
  const create = (): Server => {
    const server = serverWith({ facade: { afterMs: 10_000, questions: true }, store, limits: { suspendAfterMs: 5 } });
    server.tool('ask', {
      task: { recover: 'replay' },
      run: async (_args, ctx) => {
        const answer = await ctx.elicit('What is your name?', form, { key: 'name' });
        return answer.action === 'accept' ? `Hello ${answer.content.name}` : answer.action;
      },
    });
    return server;
  };
  const first = create();
  const client = await Client.open(first, '2024-11-05');
  const taskId = idIn(await client.call('ask'));
  while ((await store.read(taskId))?.phase !== 'suspended') await new Promise((resolve) => setTimeout(resolve, 5));
  await first.close();
  const second = create();
  await second.prepare();
  const again = await Client.open(second, '2024-11-05');
  expect(textOf(await again.call('task_status', { taskId }))).toContain('What is your name?');
  await again.call('task_answer', { taskId, key: 'name', answer: { name: 'Ada' } });
  expect(textOf(await again.call('task_status', { taskId, waitMs: 20_000 }))).toBe('Hello Ada');
});

function methodsOf(store: ReturnType<typeof createMemoryTaskStore>): typeof store {
  return {
    durable: true,
    create: (record) => store.create(record),
    read: (id) => store.read(id),
    change: (...given) => store.change(...given),
    claim: (...given) => store.claim(...given),
    renew: (...given) => store.renew(...given),
    list: (query) => store.list(query),
    count: (owner) => store.count(owner),
    sweep: (max) => store.sweep(max),
  };
}

test('a client that waits before it gets an id hears every ten seconds that the tool runs', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'Date', 'performance'] });
  try {
    const server = serverWith({ facade: true });
    slowTool(server);
    const client = await Client.open(server, '2025-06-18');
    await server.prepare();
    const answer = client.request('tools/call', { name: 'work', arguments: {}, _meta: { progressToken: 'p' } });
    await vi.advanceTimersByTimeAsync(44_000);
    const progress = client.wire.received.filter(({ method }) => method === 'notifications/progress');
    expect(progress).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(textOf((await answer).result)).toContain('still working');
    await vi.advanceTimersByTimeAsync(60_000);
    // Not after the answer.
    expect(client.wire.received.filter(({ method }) => method === 'notifications/progress')).toHaveLength(4);
  } finally {
    vi.useRealTimers();
  }
});
