// Options of calls that do not exist, from programs without types.

import { expect, test } from 'vitest';
import { connect } from './connect.ts';
import { ScriptedServer } from './testing/scripted-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

const wrong = { timeout: 5 };
const ref = { type: 'ref/prompt', name: 'x' };
const argument = { name: 'a', value: '' };

test.each<[string, (client: Untyped) => Promise<unknown>]>([
  ['callTool', (client) => client.callTool('x', {}, wrong)],
  ['tasks.start', (client) => client.tasks.start('x', {}, wrong)],
  ['tasks.attach', (client) => client.tasks.attach('x', wrong)],
  ['tasks.list', (client) => client.tasks.list(wrong)],
  ['listTools', (client) => client.listTools(wrong)],
  ['pageTools', (client) => client.pageTools(undefined, wrong)],
  ['listResources', (client) => client.listResources(wrong)],
  ['pageResources', (client) => client.pageResources(undefined, wrong)],
  ['listResourceTemplates', (client) => client.listResourceTemplates(wrong)],
  ['pageResourceTemplates', (client) => client.pageResourceTemplates(undefined, wrong)],
  ['readResource', (client) => client.readResource('a:b', wrong)],
  ['subscribe', (client) => client.subscribe('a:b', wrong)],
  ['watch', (client) => client.watch({ tools: true }, wrong)],
  ['listPrompts', (client) => client.listPrompts(wrong)],
  ['pagePrompts', (client) => client.pagePrompts(undefined, wrong)],
  ['getPrompt', (client) => client.getPrompt('x', {}, wrong)],
  ['skills.list', (client) => client.skills.list(wrong)],
  ['skills.get', (client) => client.skills.get('a:b', wrong)],
  ['skills.read', (client) => client.skills.read({}, undefined, wrong)],
  ['skills.directory', (client) => client.skills.directory('a:b', wrong)],
  ['complete', (client) => client.complete({ ref, argument }, wrong)],
  ['ping', (client) => client.ping(wrong)],
  ['setLogLevel', (client) => client.setLogLevel('info', wrong)],
  ['request', (client) => client.request('a/b', {}, wrong)],
])('%s rejects an option that it does not have, and sends nothing', async (method, call) => {
  const server = new ScriptedServer('handshake', {});
  const client = await connect(server.target);
  const before = server.sent.length;
  await expect(call(client)).rejects.toThrow(
    `Unknown option timeout of ${method}; did you mean timeoutMs? Use one of signal, timeoutMs, maxTimeoutMs, `,
  );
  expect(server.sent.length).toBe(before);
});

test('options of another kind of call, and of none, are rejected', async () => {
  const client: Untyped = await connect(new ScriptedServer('handshake', {}).target);
  await expect(client.callTool('x', {}, { cache: 'bypass' })).rejects.toThrow(
    'Unknown option cache of callTool; use one of',
  );
  await expect(client.callTool('x', {}, { ttlMs: 5 })).rejects.toThrow('Unknown option ttlMs of callTool');
  await expect(client.listTools({ onInvalid() {} })).rejects.toThrow('Unknown option onInvalid of listTools');
  await expect(client.callTool('x', {}, 5_000)).rejects.toThrow(
    'The options of callTool must be an object, not number',
  );
  await expect(client.callTool('x', {}, null)).rejects.toThrow('The options of callTool must be an object, not null');
  await expect(client.ping([5])).rejects.toThrow('The options of ping must be an object, not an array');
  await expect(client.close({ grace: 5 })).rejects.toThrow('Unknown option grace of close; use one of graceMs');
});

test('close as a listener of an event closes, whatever the event passes', async () => {
  for (const passed of ['SIGTERM', null, 15]) {
    const client: Untyped = await connect(new ScriptedServer('handshake', {}).target);
    await client.close(passed);
    await expect(client.ping()).rejects.toMatchObject({ code: 'closed' });
  }
});

test('an object of a class may have further members', async () => {
  const server = new ScriptedServer('handshake', { ping: () => ({}) });
  const client = await connect(server.target);
  class Options {
    readonly timeoutMs = 5_000;
    readonly purpose = 'mine';
  }
  await client.ping(new Options());
  expect(server.sent.at(-1)).toMatchObject({ method: 'ping' });
});
