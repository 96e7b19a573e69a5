// Requests that an upstream answers without asking back.

import { afterEach, expect, test } from 'vitest';
import { createServer } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);

function notes() {
  const server = createServer({ name: 'notes', version: '1.0.0', instructions: 'Short notes.' });
  server.tool('add', {
    description: 'Adds two numbers',
    input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    run: (args: { a: number; b: number }) => String(args.a + args.b),
  } as never);
  server.resource('notes://first', { name: 'first', read: () => 'one' });
  server.resourceTemplate('notes://{id}', {
    name: 'note',
    read: ({ id }) => `note ${id}`,
    complete: { id: (value) => ['a', 'ab'].filter((each) => each.startsWith(value)) },
  });
  server.prompt('greet', { args: { name: { required: true } }, get: ({ name }) => `Hello ${name}` });
  return server;
}

test('tools, resources and prompts of two servers are behind one', async () => {
  const gateway = gatewayOf(closers, { one: notes(), two: notes() });
  const client = await clientOf(closers, gateway.server);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['one__add', 'two__add']);
  const { content } = await client.callTool('two__add', { a: 1, b: 2 });
  expect(content).toEqual([{ type: 'text', text: '3' }]);
  expect((await client.listResources()).map(({ uri }) => uri)).toEqual(['notes://first', 'two+notes://first']);
  expect((await client.readResource('two+notes://first')).contents).toEqual([
    { uri: 'two+notes://first', text: 'one' },
  ]);
  expect((await client.readResource('notes://7')).contents).toEqual([{ uri: 'notes://7', text: 'note 7' }]);
  expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['one__greet', 'two__greet']);
  const { messages } = await client.getPrompt('one__greet', { name: 'Ada' });
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }]);
  const ref = { type: 'ref/resource', uri: 'notes://{id}' } as const;
  expect((await client.complete({ ref, argument: { name: 'id', value: 'a' } })).values).toEqual(['a', 'ab']);
  // Nothing waits for upstreams when a client connects; the next client gets what is known by then.
  const later = await clientOf(closers, gateway.server);
  expect(later.instructions).toBe('## one\nShort notes.\n\n## two\nShort notes.');
});

test('one server by itself has its own names', async () => {
  const gateway = gatewayOf(closers, { one: notes(), two: notes() });
  const client = await clientOf(closers, gateway.single('two') as never);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['add']);
  expect((await client.callTool('add', { a: 1, b: 2 })).content).toEqual([{ type: 'text', text: '3' }]);
  expect((await client.readResource('notes://first')).contents).toEqual([{ uri: 'notes://first', text: 'one' }]);
});
