// Profile `reference`: what the document says about methods, tools, resources and prompts, on a data folder of its own.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { referenceProfile } from '../../../src/app/profiles/reference.ts';
import type { Server } from '../../../src/engine/server.ts';
import { assemble } from '../../support/settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Message, TestClient } from '../../support/test-client.ts';

let folder = '';
let server: Server;

beforeEach(async () => {
  folder = temporaryFolder();
  ({ server } = await assemble(referenceProfile, { dataDir: folder }));
});
afterEach(async () => {
  await server.close();
});

const open = (): Promise<TestClient> => TestClient.open(server, '2024-11-05');
const text = ({ result }: Message): string => result.content[0].text;

test('S1-15 S1-16: initialize answers exactly as the document shows, whatever the client declares', async () => {
  const { result } = await new TestClient(server).request('initialize', {
    protocolVersion: '2024-11-05',
    capabilities: { tools: {}, resources: {} },
    clientInfo: { name: 'my-client', version: '1.0.0' },
  });
  expect(result).toEqual({
    protocolVersion: '2024-11-05',
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
    },
    serverInfo: { name: 'mcp-server', version: '1.0.0' },
  });
});

test('S1-14: nothing but initialize is served before it', async () => {
  const client = new TestClient(server);
  for (const method of ['tools/list', 'tools/call', 'resources/list', 'prompts/list']) {
    expect((await client.request(method, { name: 'increment_counter' })).error?.code).toBe(-32600);
  }
});

test('S1-17 S1-18: the notification has two names, and no answer', async () => {
  const client = new TestClient(server);
  await client.request('initialize', {});
  client.received.length = 0;
  client.notify('initialized', {});
  client.notify('notifications/initialized');
  await client.request('ping', {}, 'p');
  expect(client.received.map((each) => each.id)).toEqual(['p']);
});

test('S1-8 S1-19: ping, and the shape of answers', async () => {
  expect(await (await open()).request('ping', {}, 2)).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
});

test('S1-20 S1-21 S1-22: tools/list has every tool of the document, the first two as shown', async () => {
  const { result } = await (await open()).request('tools/list', {});
  const tools = result.tools as { name: string; description: string; inputSchema: object }[];
  expect(tools.map((tool) => tool.name)).toEqual([
    'get_current_time',
    'calculate',
    'increment_counter',
    'add_note',
    'get_notes',
    'long_running_task',
  ]);
  for (const tool of tools) expect(Object.keys(tool).sort()).toEqual(['description', 'inputSchema', 'name']);
  expect(tools[0]).toEqual({
    name: 'get_current_time',
    description: 'Get the current time',
    inputSchema: { type: 'object', properties: {}, required: [] },
  });
  expect(tools[1]).toEqual({
    name: 'calculate',
    description: 'Perform arithmetic operations',
    inputSchema: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: ['add', 'subtract', 'multiply', 'divide'] },
        a: { type: 'number' },
        b: { type: 'number' },
      },
      required: ['operation', 'a', 'b'],
    },
  });
});

test('S1-21: get_current_time returns the time, of a place if one is named', async () => {
  const client = await open();
  const before = Date.now();
  const { result } = await client.call('get_current_time', {});
  expect(result.content).toHaveLength(1);
  const time = Date.parse(result.content[0].text);
  expect(time).toBeGreaterThanOrEqual(Math.floor(before / 1000) * 1000);
  expect(time).toBeLessThanOrEqual(Date.now());
  expect(text(await client.call('get_current_time', { timezone: 'Asia/Kathmandu' }))).toMatch(/\+05:45$/);
  expect(text(await client.call('get_current_time', { timezone: 'UTC' }))).toMatch(/\+00:00$/);
  expect((await client.call('get_current_time', { timezone: 'Mars/Base' })).result).toEqual({
    content: [{ type: 'text', text: 'Error: Unknown time zone "Mars/Base"; use an IANA name such as Europe/Warsaw' }],
    isError: true,
  });
});

test('S1-23 S1-30: arithmetic in words and signs, without isError', async () => {
  const client = await open();
  expect((await client.call('calculate', { operation: 'add', a: 5, b: 3 })).result).toEqual({
    content: [{ type: 'text', text: '5 + 3 = 8' }],
  });
  for (const [operation, a, b, expected] of [
    ['subtract', 5, 3, '5 - 3 = 2'],
    ['multiply', 6, 7, '6 * 7 = 42'],
    ['divide', 9, 4, '9 / 4 = 2.25'],
    ['add', -1.5, 0.25, '-1.5 + 0.25 = -1.25'],
    ['divide', 0, 5, '0 / 5 = 0'],
  ] as const) {
    expect(text(await client.call('calculate', { operation, a, b }))).toBe(expected);
  }
});

test('S1-24: a division by zero is a result that says so', async () => {
  const client = await open();
  for (const b of [0, -0]) {
    expect((await client.call('calculate', { operation: 'divide', a: 1, b })).result).toEqual({
      content: [{ type: 'text', text: 'Error: Division by zero' }],
      isError: true,
    });
  }
  expect((await client.call('calculate', { operation: 'multiply', a: 1e308, b: 10 })).result.isError).toBe(true);
});

test('S1-12 S1-25: missing and wrong parameters are invalid params', async () => {
  const client = await open();
  for (const args of [
    {},
    { operation: 'add', a: 1 },
    { operation: 'power', a: 1, b: 2 },
    { operation: 'add', a: '1', b: 2 },
    { operation: 'add', a: null, b: 2 },
  ]) {
    expect((await client.call('calculate', args)).error?.code).toBe(-32602);
  }
  expect((await client.request('tools/call', { arguments: {} })).error?.code).toBe(-32602);
});

test('S1-6 S1-26 S1-33: the counter goes up by one or by an amount, and is a resource', async () => {
  const client = await open();
  const counter = async (): Promise<object> =>
    (await client.request('resources/read', { uri: 'server://counter' })).result.contents;
  expect(await counter()).toEqual([{ uri: 'server://counter', mimeType: 'text/plain', text: '0' }]);
  expect(text(await client.call('increment_counter', {}))).toContain('1');
  expect(text(await client.call('increment_counter'))).toContain('2');
  expect(text(await client.call('increment_counter', { amount: 40 }))).toContain('42');
  expect(await counter()).toEqual([{ uri: 'server://counter', mimeType: 'text/plain', text: '42' }]);
  for (const amount of [1.5, '1', null]) {
    expect((await client.call('increment_counter', { amount })).error?.code).toBe(-32602);
  }
});

test('S1-27 S1-28: notes are stored and returned, by tag and up to a limit', async () => {
  const client = await open();
  expect(text(await client.call('add_note', { content: 'milk', tags: ['shop', 'home'] }))).toBe('Note 1 added');
  await client.call('add_note', { content: 'bread', tags: ['shop'] });
  await client.call('add_note', { content: 'call Ada' });
  const notes = async (args?: object): Promise<{ id: string; content: string; tags: string[] }[]> =>
    JSON.parse(text(await client.call('get_notes', args))).notes;
  expect((await notes()).map((note) => note.content)).toEqual(['call Ada', 'bread', 'milk']);
  expect((await notes({ tags: ['shop'] })).map((note) => note.id)).toEqual(['2', '1']);
  expect((await notes({ limit: 1 })).map((note) => note.content)).toEqual(['call Ada']);
  expect((await notes({ tags: ['home'], limit: 5 }))[0]).toMatchObject({ content: 'milk', tags: ['shop', 'home'] });
  expect(JSON.parse(text(await client.call('get_notes', { limit: 1 })))).toMatchObject({ count: 1, total: 3 });
  for (const args of [{}, { content: 5 }, { content: 'x', tags: 'shop' }, { content: 'x', tags: [5] }]) {
    expect((await client.call('add_note', args)).error?.code).toBe(-32602);
  }
  for (const args of [{ limit: 0 }, { limit: 'all' }, { tags: 'shop' }]) {
    expect((await client.call('get_notes', args)).error?.code).toBe(-32602);
  }
});

test('S1-29 S1-43: a long task reports each step to the token of its caller, and can be cancelled', async () => {
  const client = await open();
  const answer = await client.request('tools/call', {
    name: 'long_running_task',
    arguments: { delay: 0.001 },
    _meta: { progressToken: 'task-1' },
  });
  expect(text(answer)).toBe('Completed 5 steps');
  const steps = client.received.filter((each) => each.method === 'notifications/progress');
  expect(steps.map((each) => each.params)).toEqual(
    [1, 2, 3, 4, 5].map((progress) => ({ progressToken: 'task-1', progress, total: 5 })),
  );
  client.received.length = 0;
  client.send({
    jsonrpc: '2.0',
    id: 'long',
    method: 'tools/call',
    params: { name: 'long_running_task', arguments: { steps: 1000, delay: 0.01 }, _meta: { progressToken: 't' } },
  });
  await client.next((each) => each.method === 'notifications/progress');
  client.notify('notifications/cancelled', { requestId: 'long' });
  await client.request('ping');
  const told = client.received.length;
  await new Promise((resolve) => setTimeout(resolve, 40));
  expect(client.received).toHaveLength(told);
  expect(client.received.some((each) => each.id === 'long')).toBe(false);
});

test('a client with tasks gets the long task as a task, with its steps as status', async () => {
  const client = new TestClient(server);
  const declared = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const params = { name: 'long_running_task', arguments: { steps: 4, delay: 0.3 } };
  const { result: created } = await client.stateless('tools/call', params, declared);
  expect(created).toMatchObject({ resultType: 'task', status: 'working' });
  const messages = new Set<string>();
  for (;;) {
    const { result } = await client.stateless('tasks/get', { taskId: created.taskId }, declared);
    if (result.statusMessage !== undefined) messages.add(result.statusMessage);
    if (result.status === 'completed') {
      expect(result.result.content).toEqual([{ type: 'text', text: 'Completed 4 steps' }]);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect([...messages].every((message) => /^Step \d of 4$/.test(message))).toBe(true);
  expect(messages.size).toBeGreaterThan(0);
  // Without the extension the same call waits.
  const waited = await client.stateless('tools/call', { ...params, arguments: { steps: 3, delay: 0.3 } });
  expect(text(waited)).toBe('Completed 3 steps');
});

test('a long task that would take more than five minutes is not begun', async () => {
  const client = await open();
  const answer = await client.call('long_running_task', { steps: 6, delay: 60 });
  expect(JSON.stringify(answer)).toContain('at most 300 are allowed');
  expect(text(await client.call('long_running_task', { steps: 1000, delay: 0 }))).toBe('Completed 1000 steps');
});

test('S1-31: resources/list shows status and counter as the document does', async () => {
  const { result } = await (await open()).request('resources/list', {});
  expect(result.resources.slice(0, 2)).toEqual([
    {
      uri: 'server://status',
      name: 'Server Status',
      description: 'Current server status',
      mimeType: 'application/json',
    },
    { uri: 'server://counter', name: 'Counter', description: 'Current counter value', mimeType: 'text/plain' },
  ]);
  expect(result.resources.map((each: { uri: string }) => each.uri)).toContain('server://notes');
});

test('S1-32: the status is JSON that says healthy and for how long', async () => {
  const { result } = await (await open()).request('resources/read', { uri: 'server://status' });
  expect(result.contents).toHaveLength(1);
  expect(result.contents[0]).toMatchObject({ uri: 'server://status', mimeType: 'application/json' });
  const status = JSON.parse(result.contents[0].text);
  expect(status).toEqual({ status: 'healthy', uptime: expect.any(Number) });
});

test('notes are resources by id, listed as a template, with ids to complete', async () => {
  const client = await open();
  for (let n = 1; n <= 12; n++) await client.call('add_note', { content: `note ${n}` });
  const { result } = await client.request('resources/templates/list');
  expect(result.resourceTemplates).toMatchObject([{ uriTemplate: 'note://{id}', name: 'Note' }]);
  const note = (await client.request('resources/read', { uri: 'note://7' })).result.contents[0];
  expect(JSON.parse(note.text)).toMatchObject({ id: '7', content: 'note 7', tags: [] });
  const all = (await client.request('resources/read', { uri: 'server://notes' })).result.contents[0];
  expect(JSON.parse(all.text)).toHaveLength(12);
  const completed = await client.request('completion/complete', {
    ref: { type: 'ref/resource', uri: 'note://{id}' },
    argument: { name: 'id', value: '1' },
  });
  expect(completed.result.completion).toEqual({ values: ['12', '11', '10', '1'], total: 4, hasMore: false });
});

test('S1-34 S1-35 S1-36: changes are announced to subscribers, until they unsubscribe', async () => {
  const client = await open();
  const updates = (): string[] =>
    client.received.filter((each) => each.method === 'notifications/resources/updated').map((each) => each.params.uri);
  expect((await client.request('resources/subscribe', { uri: 'server://counter' })).result).toEqual({});
  await client.call('add_note', { content: 'not subscribed' });
  await client.call('increment_counter');
  await client.request('ping');
  expect(updates()).toEqual(['server://counter']);
  await client.request('resources/subscribe', { uri: 'server://notes' });
  await client.call('add_note', { content: 'subscribed' });
  await client.request('ping');
  expect(updates()).toEqual(['server://counter', 'server://notes']);
  expect((await client.request('resources/unsubscribe', { uri: 'server://counter' })).result).toEqual({});
  await client.call('increment_counter');
  await client.request('ping');
  expect(updates()).toHaveLength(2);
});

test('S1-37: prompts/list shows the greeting as the document does', async () => {
  const { result } = await (await open()).request('prompts/list', {});
  expect(result.prompts[0]).toEqual({
    name: 'greeting',
    description: 'Generate a personalized greeting',
    arguments: [
      { name: 'name', description: 'Name of the person to greet', required: true },
      { name: 'style', description: 'Greeting style (formal/casual)', required: false },
    ],
  });
  expect(result.prompts[1].name).toBe('summarize_notes');
});

test('S1-38: prompts/get answers exactly as the document shows', async () => {
  const client = await open();
  const greeting = (args: object): Promise<Message> =>
    client.request('prompts/get', { name: 'greeting', arguments: args });
  expect((await greeting({ name: 'Alice', style: 'formal' })).result).toEqual({
    messages: [{ role: 'user', content: { type: 'text', text: 'Please greet Alice in a formal style.' } }],
  });
  expect((await greeting({ name: 'Alice' })).result.messages[0].content.text).toContain('Alice');
});

test('S1-39: a missing argument and an unknown prompt are invalid params', async () => {
  const client = await open();
  for (const params of [
    { name: 'greeting' },
    { name: 'greeting', arguments: { style: 'formal' } },
    { name: 'missing' },
  ]) {
    expect((await client.request('prompts/get', params)).error?.code).toBe(-32602);
  }
});

test('styles of a greeting are completed, notes are put into the prompt that summarizes them', async () => {
  const client = await open();
  const complete = async (value: string): Promise<string[]> =>
    (
      await client.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'greeting' },
        argument: { name: 'style', value },
      })
    ).result.completion.values;
  expect(await complete('')).toEqual(['formal', 'casual']);
  expect(await complete('F')).toEqual(['formal']);
  const summary = async (args?: object): Promise<string> =>
    (await client.request('prompts/get', { name: 'summarize_notes', ...(args && { arguments: args }) })).result
      .messages[0].content.text;
  expect(await summary()).toBe('There are no notes to summarize.');
  await client.call('add_note', { content: 'buy milk', tags: ['shop'] });
  await client.call('add_note', { content: 'call Ada' });
  expect(await summary()).toMatch(/2\. call Ada\n1\. \[shop\] buy milk$/);
  expect(await summary({ tag: 'shop' })).not.toContain('Ada');
  await client.call('add_note', { content: 'x'.repeat(100_001), tags: ['long'] });
  expect(await summary({ tag: 'long' })).toMatch(/^The newest note has more than 100000 characters/);
});

test('S1-46 S1-47: an unknown tool and an unknown resource are invalid params', async () => {
  const client = await open();
  expect((await client.call('missing', {})).error?.code).toBe(-32602);
  for (const uri of ['server://missing', 'note://999', 'note://../1', 'note://01']) {
    expect((await client.request('resources/read', { uri })).error?.code).toBe(-32602);
  }
});

test('S1-9 S1-10 S1-11: parse error, invalid request, method not found', async () => {
  const client = await open();
  client.channel.receiveText('{');
  expect((await client.next((each) => each.error !== undefined)).error?.code).toBe(-32700);
  client.received.length = 0;
  client.channel.receiveText('{"id":1}');
  expect((await client.next((each) => each.error !== undefined)).error?.code).toBe(-32600);
  expect((await client.request('no/such/method')).error?.code).toBe(-32601);
});

test('S1-13: a fault of our own is an internal error without its reasons', async () => {
  server.resource('server://broken', {
    name: 'Broken',
    read: () => {
      throw new Error('secret reasons');
    },
  });
  const { error } = await (await open()).request('resources/read', { uri: 'server://broken' });
  expect(error?.code).toBe(-32603);
  expect(JSON.stringify(error)).not.toContain('secret');
});

test('S1-48: lists that change are announced', async () => {
  const client = await open();
  const tool = server.tool('late', { run: () => 'x' });
  const resource = server.resource('server://late', { name: 'Late', read: () => 'x' });
  const prompt = server.prompt('late', { get: () => 'x' });
  for (const kind of ['tools', 'resources', 'prompts']) {
    await client.next((each) => each.method === `notifications/${kind}/list_changed`);
  }
  client.received.length = 0;
  for (const each of [tool, resource, prompt]) each.remove();
  for (const kind of ['tools', 'resources', 'prompts']) {
    await client.next((each) => each.method === `notifications/${kind}/list_changed`);
  }
});

test('S1-53: list methods and ping take {} or no params at all', async () => {
  const client = await open();
  for (const method of ['tools/list', 'resources/list', 'prompts/list', 'ping', 'resources/templates/list']) {
    for (const params of [{}, undefined]) {
      expect((await client.request(method, params)).result, method).toBeDefined();
    }
  }
});

test('S1-6: what was stored is there after a restart', async () => {
  const client = await open();
  await client.call('increment_counter', { amount: 7 });
  await client.call('add_note', { content: 'kept' });
  await server.close();
  ({ server } = await assemble(referenceProfile, { dataDir: folder }));
  const again = await open();
  expect((await again.request('resources/read', { uri: 'server://counter' })).result.contents[0].text).toBe('7');
  expect(text(await again.call('get_notes'))).toContain('kept');
});

test('what one caller keeps, another does not see', async () => {
  const as = (id: string): Promise<TestClient> =>
    TestClient.open(server, '2024-11-05', {}, { transport: 'memory', principal: { id, issuer: 'test' } });
  const [ada, eve] = [await as('ada'), await as('eve')];
  for (const each of [ada, eve]) await each.request('resources/subscribe', { uri: 'server://notes' });
  await ada.call('add_note', { content: 'of Ada' });
  await ada.call('increment_counter', { amount: 3 });
  expect(text(await eve.call('get_notes'))).toBe('{"notes":[],"count":0,"total":0}');
  expect((await eve.request('resources/read', { uri: 'server://counter' })).result.contents[0].text).toBe('0');
  expect((await eve.request('resources/read', { uri: 'note://1' })).error?.code).toBe(-32602);
  expect(text(await ada.call('get_notes'))).toContain('of Ada');
  // Nor when it happens.
  const told = (each: TestClient): boolean => each.received.some(({ method }) => method?.endsWith('updated') === true);
  expect([told(ada), told(eve)]).toEqual([true, false]);
});

test('the stateless revision is served beside it, notes and all', async () => {
  const client = new TestClient(server);
  await client.stateless('tools/call', { name: 'add_note', arguments: { content: 'alone' } });
  const { result } = await client.stateless('tools/call', { name: 'get_notes' });
  expect(JSON.parse(result.content[0].text).notes[0].content).toBe('alone');
  expect((await client.stateless('resources/read', { uri: 'note://9' })).error?.code).toBe(-32602);
});
