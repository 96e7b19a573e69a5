// Tasks and the processes that run them. Several servers share one store; a process that crashes is one whose store never
// answers again.

import { afterEach, expect, test } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import {
  createMemoryTaskStore,
  createServer,
  type Server,
  type ServerOptions,
  type TaskLimits,
  type TaskStore,
} from '../../src/index.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const extension = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const accepted = { action: 'accept', content: { name: 'Ada' } };

/** Servers whose processes have not crashed. */
const servers = new Map<TaskStore, Server>();
afterEach(async () => {
  for (const server of servers.values()) await server.close();
  servers.clear();
});

/** A store that outlives servers, and a view of it for each process. */
function sharedStore() {
  const store = createMemoryTaskStore();
  return {
    store,
    process() {
      let isAlive = true;
      const view = new Proxy(store, {
        get(target, key) {
          if (key === 'durable') return true;
          const value = Reflect.get(target, key) as unknown;
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => (isAlive ? value.apply(target, args) : new Promise(() => {}));
        },
      }) as TaskStore;
      const crash = (): void => {
        isAlive = false;
        servers.delete(view);
      };
      return { view, crash };
    },
  };
}

function start(
  store: TaskStore,
  define: (server: Server) => void,
  limits: Partial<TaskLimits> = {},
  options: Partial<ServerOptions> = {},
): Server {
  const tasks = { store, limits: { leaseMs: 200, closeGraceMs: 30, ...limits }, ...options.tasks };
  const server = createServer({ name: 'tasks', version: '1', logger: false, ...options, tasks });
  define(server);
  servers.set(store, server);
  return server;
}

const call = async (server: Server, name: string): Promise<string> =>
  (await new TestClient(server).stateless('tools/call', { name }, extension)).result.taskId;

const getter = (server: Server, taskId: string): (() => Promise<Message>) => {
  const client = new TestClient(server);
  return () => client.stateless('tasks/get', { taskId }, extension);
};

async function until(status: string, get: () => Promise<Message>): Promise<Message> {
  for (let polls = 0; polls < 1_000; polls++) {
    const message = await get();
    if (message.result?.status === status) return message;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`the task never became ${status}: ${JSON.stringify(await get())}`);
}

const forever = (): Promise<never> => new Promise(() => {});

test('a task whose process crashed is interrupted, and its handler never starts again', async () => {
  const shared = sharedStore();
  let starts = 0;
  const define = (server: Server): void => {
    server.tool('work', {
      task: 'required',
      run: () => {
        starts++;
        return forever();
      },
    });
  };
  const first = shared.process();
  const taskId = await call(start(first.view, define), 'work');
  const second = start(shared.process().view, define);
  await second.prepare();
  const get = getter(second, taskId);
  expect((await get()).result.status).toBe('working');
  first.crash();
  const { result } = await until('failed', get);
  expect(result.error).toMatchObject({ code: -32603, data: { reason: 'interrupted' } });
  expect(starts).toBe(1);
});

test('with replay the handler runs again: steps and input responses are reused', async () => {
  const shared = sharedStore();
  const log: string[] = [];
  const define =
    (process: string, isBlocked: boolean) =>
    (server: Server): void => {
      server.tool('work', {
        task: { support: 'required', recover: 'replay' },
        run: async (_args, ctx) => {
          log.push(`${process} ${ctx.task?.attempt}`);
          const made = await ctx.step('made', () => `made by ${process}`);
          const answer = await ctx.elicit('Who are you?', form, { key: 'who' });
          if (isBlocked) return forever();
          return `${made} for ${answer.action === 'accept' ? answer.content.name : ''}, ${ctx.principal?.id}`;
        },
      });
    };
  const first = shared.process();
  const one = start(first.view, define('one', true));
  const peer = { transport: 'http', principal: { id: 'ada', scopes: ['all'], claims: { secret: 'x' } } } as const;
  const client = new TestClient(one, peer);
  const { taskId } = (await client.stateless('tools/call', { name: 'work' }, extension)).result;
  const get = () => client.stateless('tasks/get', { taskId }, extension);
  await until('input_required', get);
  await client.stateless('tasks/update', { taskId, inputResponses: { who: accepted } }, extension);
  await until('working', get);
  expect(JSON.stringify(await shared.store.read(taskId))).not.toContain('secret');
  const two = start(shared.process().view, define('two', false));
  await two.prepare();
  first.crash();
  const there = new TestClient(two, peer);
  const { result } = await until('completed', () => there.stateless('tasks/get', { taskId }, extension));
  expect(result.result.content[0].text).toBe('made by one for Ada, ada');
  expect(log).toEqual(['one 1', 'two 2']);
});

test('a step that must run once and was interrupted fails the task', async () => {
  const shared = sharedStore();
  let charged = 0;
  const define = (server: Server): void => {
    server.tool('work', {
      task: { support: 'required', recover: 'replay' },
      run: async (_args, ctx) => {
        await ctx.step(
          'charge',
          () => {
            charged++;
            return forever();
          },
          { once: true },
        );
      },
    });
  };
  const first = shared.process();
  const taskId = await call(start(first.view, define), 'work');
  while (charged === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  first.crash();
  const two = start(shared.process().view, define);
  await two.prepare();
  const { result } = await until('failed', getter(two, taskId));
  expect(result.error.message).toContain('outcome of step "charge" is unknown');
  expect(charged).toBe(1);
});

test('a handler that waits long for input is dropped, and runs again when the response is there', async () => {
  const shared = sharedStore();
  let starts = 0;
  let steps = 0;
  const server = start(
    shared.process().view,
    (each) => {
      each.tool('work', {
        task: { support: 'required', recover: 'replay', attempts: 1 },
        run: async (_args, ctx) => {
          starts++;
          await ctx.step('once', () => ++steps);
          const first = await ctx.elicit('Who are you?', form, { key: 'first' });
          const second = await ctx.elicit('And now?', form, { key: 'second' });
          return `${first.action} ${second.action}`;
        },
      });
    },
    { suspendAfterMs: 10 },
  );
  const taskId = await call(server, 'work');
  const get = getter(server, taskId);
  const client = new TestClient(server);
  for (const key of ['first', 'second']) {
    const suspended = async () => (await shared.store.read(taskId))?.phase === 'suspended';
    while (!(await suspended())) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(Object.keys((await get()).result.inputRequests)).toEqual([key]);
    await client.stateless('tasks/update', { taskId, inputResponses: { [key]: accepted } }, extension);
  }
  expect((await until('completed', get)).result.result.content[0].text).toBe('accept accept');
  expect([starts, steps]).toEqual([3, 1]);
});

test('a process that closes gives its replay tasks to others, and reports the rest as interrupted', async () => {
  const shared = sharedStore();
  const define =
    (isBlocked: boolean) =>
    (server: Server): void => {
      const run = () => (isBlocked ? forever() : 'done');
      server.tool('again', { task: { support: 'required', recover: 'replay' }, run });
      server.tool('never', { task: 'required', run });
    };
  const one = start(shared.process().view, define(true), { leaseMs: 60_000 });
  const two = start(shared.process().view, define(false));
  await two.prepare();
  const [again, never] = [await call(one, 'again'), await call(one, 'never')];
  await one.close();
  expect((await until('failed', getter(two, never))).result.error.data).toEqual({ reason: 'interrupted' });
  expect((await until('completed', getter(two, again))).result.result.content[0].text).toBe('done');
});

test('what clients do at one process reaches the handler in another', async () => {
  const shared = sharedStore();
  const define = (server: Server): void => {
    server.tool('ask', {
      task: 'required',
      run: async (_args, ctx) => (await ctx.elicit('Who are you?', form, { key: 'who' })).action,
    });
    server.tool('wait', {
      task: 'required',
      run: (_args, ctx) =>
        new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
    });
  };
  const one = start(shared.process().view, define);
  const two = start(shared.process().view, define);
  await two.prepare();
  const asked = await call(one, 'ask');
  await until('input_required', getter(two, asked));
  const client = new TestClient(two);
  const waiting = (await TestClient.open(two)).request('tasks/result', { taskId: asked });
  await client.stateless('tasks/update', { taskId: asked, inputResponses: { who: { action: 'decline' } } }, extension);
  expect((await waiting).result.content[0].text).toBe('decline');
  const stopped = await call(one, 'wait');
  await client.stateless('tasks/cancel', { taskId: stopped }, extension);
  await until('cancelled', getter(two, stopped));
});

test('a handler that goes on after its process lost the task writes nothing, and starts no further step', async () => {
  const shared = sharedStore();
  let goOn: () => void = () => {};
  const lost = new Promise<void>((resolve) => (goOn = resolve));
  const events: string[] = [];
  const define = (server: Server): void => {
    server.tool('work', {
      task: { support: 'required', recover: 'replay' },
      run: async (_args, ctx) => {
        ctx.signal.addEventListener('abort', () => events.push((ctx.signal.reason as Error).message));
        await lost;
        await ctx.step('late', () => events.push('ran'), { once: true }).catch(() => events.push('rejected'));
        await ctx.elicit('Name?', form, { key: 'late' }).catch(() => events.push('rejected'));
        events.push('over');
        return 'too late';
      },
    });
  };
  const taskId = await call(start(shared.process().view, define), 'work');
  await start(shared.process().view, define).prepare();
  // As if another process had claimed it.
  await shared.store.change(taskId, {}, [{ type: 'release', dueAtMs: Date.now() + 60_000 }]);
  await expect.poll(() => events).toEqual(['lease-lost']);
  goOn();
  await expect.poll(() => events.at(-1)).toBe('over');
  expect(events).toEqual(['lease-lost', 'rejected', 'rejected', 'over']);
  expect(await shared.store.read(taskId)).toMatchObject({ phase: 'queued', steps: [], inputs: [] });
});

test.each([
  { claims: ['tenant'], status: 'completed' },
  { claims: [], status: 'failed' },
])('a restriction that reads claims: with tasks.claims $claims the task is $status after a crash', async (given) => {
  const shared = sharedStore();
  const logged: string[] = [];
  const define =
    (isBlocked: boolean) =>
    (server: Server): void => {
      server.restrict((_kind, _key, principal) => principal?.claims?.['tenant'] === 'harbour');
      server.tool('work', {
        task: { support: 'required', recover: 'replay' },
        run: (_args, ctx) => (isBlocked ? forever() : JSON.stringify(ctx.principal)),
      });
    };
  const { claims } = given;
  const logger = { ...silentLogger, warn: (text: string) => void logged.push(text) };
  const principal = { id: 'ada', claims: { tenant: 'harbour', email: 'ada@example.org' } };
  const client = (server: Server) => new TestClient(server, { transport: 'http', principal });
  const first = shared.process();
  const server = start(first.view, define(true), {}, { tasks: { claims } });
  const { result } = await client(server).stateless('tools/call', { name: 'work' }, extension);
  first.crash();
  const second = start(shared.process().view, define(false), {}, { logger, tasks: { claims } });
  await second.prepare();
  const reader = client(second);
  const get = () => reader.stateless('tasks/get', { taskId: result.taskId }, extension);
  const ended = (await until(given.status, get)).result;
  if (given.status === 'completed') {
    expect(JSON.parse(ended.result.content[0].text)).toEqual({ id: 'ada', claims: { tenant: 'harbour' } });
    // Other claims are not stored.
    expect(JSON.stringify(await shared.store.read(result.taskId))).not.toContain('example.org');
  } else {
    expect(ended.error).toMatchObject({
      message: expect.stringContaining('may not use tool work'),
      data: { reason: 'denied' },
    });
    expect(logged.some((line) => line.includes('its caller may not use the tool'))).toBe(true);
  }
});

test('arguments that were changed in the store are not run', async () => {
  const shared = sharedStore();
  const define = (server: Server): void => {
    server.tool('work', { task: { support: 'required', recover: 'replay' }, run: forever });
  };
  const first = shared.process();
  const taskId = await call(start(first.view, define), 'work');
  first.crash();
  const { store } = shared;
  const changed = { ...shared.process().view } as TaskStore;
  Object.assign(changed, {
    durable: true,
    read: (id: string) => store.read(id),
    change: store.change.bind(store),
    renew: store.renew.bind(store),
    count: store.count.bind(store),
    sweep: store.sweep.bind(store),
    claim: async (...args: Parameters<TaskStore['claim']>) =>
      (await store.claim(...args)).map((record) => ({ ...record, arguments: { other: true } })),
  });
  const two = start(changed, define);
  await two.prepare();
  const { result } = await until('failed', getter(two, taskId));
  expect(result.error.data).toEqual({ reason: 'arguments' });
});
