// Mistakes with the context that TypeScript reports and JavaScript does not: the call fails with what to write instead,
// whatever the client supports.

import { afterEach, expect, test, vi } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { createServer, elicit, inputRequired } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';

const closers = useClosers(afterEach);
const revisions = ['2025-11-25', '2026-07-28'];

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

async function open(register: (server: Untyped) => void, revision = '2025-11-25') {
  const error = vi.fn();
  const server = createServer({ name: 'untyped', version: '1.0.0', logger: { ...silentLogger, error } });
  register(server);
  const client = await connect(inMemory(server), {
    revision,
    handlers: { sample: async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } }) },
  });
  closers.push(() => client.close());
  const logged = () => error.mock.calls.map(([, fields]) => fields.error.message);
  return { client, logged };
}

const hello = { role: 'user', content: { type: 'text', text: 'Hello' } };

test.each<[string, (ctx: Untyped) => unknown, string]>([
  [
    'a percentage',
    (ctx) => ctx.progress('50%'),
    'ctx.progress needs a number first, not "50%": ctx.progress(done, total',
  ],
  [
    'the progress of another library',
    (ctx) => ctx.progress({ progress: 1, total: 2 }),
    'a number first, not an object',
  ],
  ['a message as total', (ctx) => ctx.progress(1, 'halfway'), 'a number or undefined second, not "halfway"'],
  ['a log without level', (ctx) => ctx.log('stored'), 'ctx.log: "stored" is not a level; use one of debug, info'],
  ['the level of another library', (ctx) => ctx.log('warn', 'low'), 'ctx.log: "warn" is not a level; use one of'],
  ['half an ability', (ctx) => ctx.can('elicit'), 'ctx.can: "elicit" is not known; use one of elicitation.form,'],
  ['a step without key', (ctx) => ctx.step(() => 1), 'ctx.step needs a key first, a string, not a function: ctx.step('],
  ['a step without function', (ctx) => ctx.step('quote', 5), 'ctx.step needs a function second, not 5: ctx.step("key"'],
  [
    'a misspelt option of a form',
    (ctx) => ctx.elicit('Sure?', { type: 'object', properties: {} }, { kye: 'sure' }),
    'Unknown option kye of ctx.elicit; did you mean key? Use one of key, signal',
  ],
  ['a time limit for roots', (ctx) => ctx.roots({ timeoutMs: 5 }), 'Unknown option timeoutMs of ctx.roots'],
  ['a misspelt option of a step', (ctx) => ctx.step('a', () => 1, { onse: true }), 'Unknown option onse of ctx.step'],
  [
    'a key of an input request to be returned',
    () => elicit('Sure?', { type: 'object', properties: {} }, { key: 'sure' } as Untyped),
    'Unknown option key of elicit; use one of optional',
  ],
  ['no URL', (ctx) => ctx.elicitUrl('Sign in'), 'elicitUrl needs a message and an absolute URL: elicitUrl("Sign in", '],
  ['a URL without scheme', (ctx) => ctx.elicitUrl('Sign in', 'a.example'), 'the URL is "a.example"'],
  ['a text to sample', (ctx) => ctx.sample('Hello'), 'sample needs a list of messages: sample({ messages: [{ role'],
  ['a text as messages', (ctx) => ctx.sample({ messages: 'Hello' }), 'sample needs a list of messages'],
  [
    'a text as content',
    (ctx) => ctx.sample({ messages: [hello, { role: 'user', content: 'Hello' }], maxTokens: 9 }),
    'sample, messages[1]: needs the role "user" or "assistant", and a content such as text("…")',
  ],
  ['no limit', (ctx) => ctx.sample({ messages: [hello] }), 'sample needs maxTokens, a number'],
  [
    'no input requests',
    () => inputRequired(undefined as never),
    'inputRequired needs at least one input request: input',
  ],
  ['a text as input request', () => inputRequired({ a: 'x' as never }), 'inputRequired, a: must be made by elicit,'],
])('%s', async (_, run, message) => {
  const { client } = await open((server) => {
    server.tool('t', { run: async (_args: unknown, ctx: unknown) => (await run(ctx)) ?? 'no error' });
  });
  const { isError, content } = await client.callTool('t');
  expect(content).toMatchObject([{ text: expect.stringContaining(message) }]);
  expect(isError).toBe(true);
});

test.each(revisions)('%s: a step whose key is used again has the first result', async (revision) => {
  const { client } = await open((server) => {
    server.tool('t', {
      run: async (_args: unknown, ctx: Untyped) => `${await ctx.step('k', () => 1)}, ${await ctx.step('k', () => 2)}`,
    });
  }, revision);
  expect((await client.callTool('t')).content).toMatchObject([{ text: '1, 1' }]);
});

test.each<[string, () => unknown]>([
  ['a string', () => 'main'],
  ['numbers', async () => [1, 2]],
  ['nothing', () => undefined],
])('a completer that returns %s has failed, and the log says what it must return', async (_, complete) => {
  const { client, logged } = await open((server) => {
    server.prompt('review', { args: { branch: { complete } }, get: () => 'Review' });
  });
  const ref = { type: 'ref/prompt', name: 'review' } as const;
  await expect(client.complete({ ref, argument: { name: 'branch', value: '' } })).rejects.toThrow('Internal error');
  expect(logged()).toEqual(['complete of "branch" must return a list of strings, or { values, total }']);
});

test.each<[string, () => unknown, string]>([
  ['URIs', () => ['note://1'], 'item 0 needs a "uri" and a "name": { uri: "note://1", name: "First note" }'],
  ['an item without a name', async () => [{ uri: 'note://1', name: 'a' }, { uri: 'note://2' }], 'item 1 needs a "uri"'],
  ['nothing', () => undefined, 'must return a list of { uri, name }'],
])('a template that lists %s has failed, and the log says which item', async (_, list, message) => {
  const { client, logged } = await open((server) => {
    server.resourceTemplate('note://{id}', { name: 'Note', read: () => 'x', list });
  });
  await expect(client.listResources()).rejects.toThrow('Internal error');
  expect(logged()).toEqual([expect.stringContaining(`Resource template note://{id}, list: ${message}`)]);
});
