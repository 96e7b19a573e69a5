// Calls from the console, as the page makes them: on both eras, with input requests, progress, cancelling and comparing.

import { afterEach, expect, test } from 'vitest';
import type {
  CallComparison,
  CallStarted,
  CallUpdate,
  ConsoleState,
  Lists,
  TaskRow,
  Validated,
} from '../../src/console/api.ts';
import { createConsole } from '../../src/console/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { ConsoleClient } from './console-client.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

function toolServer(): Server {
  const server = createServer({ name: 'tried', version: '3.1.0', logger: false, instructions: 'Use the tools.' });
  server.tool('add', {
    input: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } }, required: ['a', 'b'] },
    output: { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] },
    run: ({ a, b }: { a: number; b: number }) => ({ sum: a + b }),
  });
  server.tool('greet', {
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Your name?', form);
      return answer.action === 'accept' ? `Hello ${answer.content['name']}` : answer.action;
    },
  });
  server.tool('think', {
    run: async (_args, ctx) => {
      const { content } = await ctx.sample({
        messages: [{ role: 'user', content: { type: 'text', text: 'Think' } }],
        maxTokens: 10,
      });
      return JSON.stringify(content);
    },
  });
  server.tool('folders', { run: async (_args, ctx) => JSON.stringify(await ctx.roots()) });
  server.tool('whoami', { run: (_args, ctx) => ctx.principal?.id ?? 'anonymous' });
  server.tool('waits', {
    run: async (_args, ctx) => {
      await ctx.progress(1, 3, 'started');
      ctx.log('warning', 'still waiting');
      await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
    },
  });
  server.resource('note://one', { name: 'one', read: () => 'first note' });
  server.prompt('hello', {
    args: {
      who: { complete: (value) => ['Ada', 'Alan', 'Grace'].filter((name) => name.startsWith(value)) },
      city: { required: false, complete: (_value, { who }) => [`home of ${who}`] },
    },
    get: ({ who }) => `Say hello to ${who}`,
  });
  return server;
}

async function started(options: Parameters<typeof createConsole>[1] = {}) {
  const server = toolServer();
  const console = createConsole(server, options);
  const { link } = await console.listen();
  const client = new ConsoleClient(link);
  const feed = await client.feed();
  open.push(console, feed);
  const call = async (name: string, args: object = {}, revision?: string): Promise<string> => {
    const params = { name, arguments: args };
    return (await client.post<CallStarted>('calls', { method: 'tools/call', params, revision })).call;
  };
  return { server, client, feed, call };
}

const revisions = ['2024-11-05', '2025-11-25', '2026-07-28'] as const;
const withInput = ['2025-11-25', '2026-07-28'] as const;
const textOf = ({ resultText = '{}' }: CallUpdate): string => JSON.parse(resultText).content?.[0]?.text;

test('the state names the server, its revisions and what can be done', async () => {
  const { client } = await started();
  expect(await client.get<ConsoleState>('state')).toMatchObject({
    server: { name: 'tried', version: '3.1.0' },
    mode: 'embedded',
    rights: ['view', 'try'],
    revisions: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'],
    raw: false,
    screens: ['overview', 'timeline', 'tools', 'resources', 'prompts', 'sessions', 'metrics', 'about'],
  });
});

test.for(revisions)(
  '%s: the lists are those of the revision, and calls run as the principal console',
  async (revision) => {
    const { client, feed, call } = await started();
    const lists = await client.get<Lists>(`lists?revision=${revision}`);
    expect(lists).toMatchObject({ revision, instructions: 'Use the tools.', notes: [] });
    expect(lists.tools.map(({ name }) => name)).toContain('add');
    const add = lists.tools.find(({ name }) => name === 'add');
    expect('outputSchema' in (add ?? {})).toBe(revision !== '2024-11-05');
    const done = await feed.call(await call('whoami', {}, revision), 'done', 'failed');
    expect(textOf(done)).toBe('console');
    expect(done.durationMs).toBeGreaterThanOrEqual(0);
  },
);

test('resources and prompts are read the same way, and arguments are completed', async () => {
  const { client, feed } = await started();
  const read = await client.post<CallStarted>('calls', { method: 'resources/read', params: { uri: 'note://one' } });
  expect((await feed.call(read.call, 'done', 'failed')).resultText).toContain('first note');
  const get = await client.post<CallStarted>('calls', {
    method: 'prompts/get',
    params: { name: 'hello', arguments: { who: 'Ada' } },
  });
  expect((await feed.call(get.call, 'done', 'failed')).resultText).toContain('Say hello to Ada');
  const request = { ref: { type: 'ref/prompt', name: 'hello' }, argument: { name: 'who', value: 'A' } };
  expect(await client.post('complete', request)).toEqual({ values: ['Ada', 'Alan'] });
  // A completion may depend on what was entered before.
  const second = { ...request, argument: { name: 'city', value: '' }, context: { who: 'Ada' } };
  expect(await client.post('complete', second)).toEqual({ values: ['home of Ada'] });
});

test.for(withInput)('%s: an elicitation waits for the page and takes its answer', async (revision) => {
  const { client, feed, call } = await started();
  const id = await call('greet', {}, revision);
  const { inputs = [] } = await feed.call(id, 'input-required');
  expect(inputs).toMatchObject([
    { method: 'elicitation/create', params: { message: 'Your name?', requestedSchema: { required: ['name'] } } },
  ]);
  const [input] = inputs;
  await client.post(`calls/${id}/input`, { key: input?.key, result: { action: 'accept', content: { name: 'Ada' } } });
  expect(textOf(await feed.call(id, 'done', 'failed'))).toBe('Hello Ada');
  await expect(client.post(`calls/${id}/input`, { key: input?.key, declined: true })).rejects.toThrow('404');
});

test.for(withInput)('%s: sampling and roots are answered, too, and input can be declined', async (revision) => {
  const { client, feed, call } = await started();
  const answer = async (name: string, reply: object): Promise<CallUpdate> => {
    const id = await call(name, {}, revision);
    const { inputs = [] } = await feed.call(id, 'input-required');
    await client.post(`calls/${id}/input`, { key: inputs[0]?.key, ...reply });
    return feed.call(id, 'done', 'failed');
  };
  const message = { role: 'assistant', content: { type: 'text', text: 'thought' }, model: 'me', stopReason: 'endTurn' };
  expect(textOf(await answer('think', { result: message }))).toContain('thought');
  const roots = [{ uri: 'file:///work', name: 'work' }];
  expect(textOf(await answer('folders', { result: { roots } }))).toContain('file:///work');
  expect(textOf(await answer('greet', { result: { action: 'decline' } }))).toBe('decline');
  const declined = await answer('greet', { declined: true });
  expect(`${declined.error?.message} ${declined.resultText}`).toMatch(/declined/);
});

test('progress and log messages are shown, a running call can be cancelled, and its entries are named', async () => {
  const { client, feed, call } = await started();
  const id = await call('waits', {}, '2025-11-25');
  const running = await feed.until(({ calls }) => {
    const update = calls.get(id);
    return update?.logs !== undefined && update.progress !== undefined && update;
  });
  expect(running).toMatchObject({
    status: 'running',
    progress: { progress: 1, total: 3, message: 'started' },
    logs: [{ level: 'warning', data: 'still waiting' }],
  });
  await client.post(`calls/${id}/cancel`, {});
  const cancelled = await feed.call(id, 'cancelled');
  const entries = await feed.until(({ entries: all }) => {
    const own = all.filter(({ number }) => cancelled.entries?.includes(number));
    return own.length === cancelled.entries?.length && own;
  });
  expect(entries[0]).toMatchObject({ kind: 'request', method: 'tools/call', name: 'waits' });
  expect(entries.length).toBeGreaterThan(1);
});

test('a page that joins later gets the last update of each call', async () => {
  const { client, feed, call } = await started();
  const id = await call('whoami');
  await feed.call(id, 'done');
  const later = await client.feed();
  open.push(later);
  expect(textOf(await later.call(id, 'done'))).toBe('console');
});

test('arguments can be sent as text, which must be an object', async () => {
  const { server, client, feed } = await started();
  const big = '12345678901234567890';
  server.tool('exact', { input: { type: 'object' }, run: () => 'received' });
  const { call } = await client.post<CallStarted>('calls', {
    method: 'tools/call',
    params: { name: 'exact' },
    argumentsText: `{"id":${big}}`,
  });
  expect(textOf(await feed.call(call, 'done', 'failed'))).toBe('received');
  await expect(
    client.post('calls', { method: 'tools/call', params: { name: 'exact' }, argumentsText: '[1]' }),
  ).rejects.toThrow('400');
});

test('arguments are validated by the validators of the server, without a call', async () => {
  const { client } = await started();
  const validate = (body: object) => client.post<Validated>('validate', body);
  expect(await validate({ tool: 'add', argumentsText: '{"a":1,"b":2}' })).toEqual({ issues: [] });
  const { issues } = await validate({ tool: 'add', argumentsText: '{"a":"x"}' });
  expect(issues.map(({ path }) => path).sort()).toEqual(['/a', '/b']);
  expect((await validate({ tool: 'add', argumentsText: '{' })).issues[0]?.message).toContain('not JSON');
  expect((await validate({ schema: form, argumentsText: '{}' })).issues).toMatchObject([{ path: '/name' }]);
  await expect(validate({ tool: 'nothing', argumentsText: '{}' })).rejects.toThrow('404');
});

test('a result that does not match its output schema is shown with what is wrong', async () => {
  const { server, feed, call } = await started();
  server.tool('wrong', {
    output: { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] },
    run: () => ({ sum: 1 }),
  });
  server.around((request, next) => {
    const result = next();
    return request.name === 'wrong' ? { content: [], structuredContent: { sum: 'one' } } : result;
  });
  const done = await feed.call(await call('wrong', {}, '2025-11-25'), 'done', 'failed');
  expect(`${done.outputIssues} ${done.error?.message}`).toMatch(/sum|output/i);
});

test('a failing call says why', async () => {
  const { feed, call } = await started();
  const failed = await feed.call(await call('nothing'), 'failed', 'done');
  expect(failed).toMatchObject({ status: 'failed', error: { code: -32602 } });
});

test('the same call on every revision can be compared', async () => {
  const { client } = await started();
  const params = { name: 'add', arguments: { a: 1, b: 2 } };
  const { results } = await client.post<CallComparison>('compare', { method: 'tools/call', params });
  expect(results.map(({ revision }) => revision)).toHaveLength(5);
  for (const { revision, resultText, error } of results) {
    expect(error).toBeUndefined();
    const { structuredContent } = JSON.parse(resultText as string);
    expect(structuredContent).toEqual(revision < '2025-06-18' ? undefined : { sum: 3 });
  }
});

test('what each revision is told when it connects is shown side by side', async () => {
  const { client } = await started({ settings: () => [{ name: 'profile', value: 'test', from: 'flag' }] });
  const about = await client.get<{ settings: unknown[]; descriptions: { revision: string; text: string }[] }>('about');
  expect(about.settings).toEqual([{ name: 'profile', value: 'test', from: 'flag' }]);
  expect(about.descriptions.map(({ revision }) => revision)).toHaveLength(5);
  for (const { text } of about.descriptions) expect(JSON.parse(text)).toHaveProperty('capabilities');
});

test.for(withInput)(
  '%s: a call that runs as a task is on the list of tasks, and can be cancelled there',
  async (revision) => {
    const { server, client, feed, call } = await started({ operate: true });
    expect((await client.get<ConsoleState>('state')).screens).not.toContain('tasks');
    open.push(server);
    server.tool('long', {
      task: 'required',
      run: async (_args, ctx) => {
        await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
      },
    });
    expect((await client.get<ConsoleState>('state')).screens).toContain('tasks');
    const id = await call('long', {}, revision);
    const { taskId } = await feed.until(({ calls }) => {
      const update = calls.get(id);
      return update?.taskId !== undefined && update;
    });
    const task = async (): Promise<TaskRow | undefined> =>
      (await client.get<{ tasks: TaskRow[] }>('tasks')).tasks.find((row) => row.id === taskId);
    expect(await task()).toMatchObject({ tool: 'long', status: 'working', owner: 'console', steps: [], inputs: [] });
    await client.post('operate/cancel-task', { id: taskId });
    expect(await task()).toMatchObject({ status: 'cancelled' });
    expect((await feed.call(id, 'failed', 'done', 'cancelled')).status).toBe('failed');
    await expect(client.post('operate/cancel-task', { id: taskId })).rejects.toThrow('404');
  },
);
