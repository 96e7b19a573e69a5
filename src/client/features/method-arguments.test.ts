// Calls as the official SDK has them, and calls without arguments, from programs without types.

import { expect, test } from 'vitest';
import { rejectionOf } from '../../../test/support/rejection.ts';
import { connect } from '../connect.ts';
import { ClientError } from '../errors.ts';
import { ScriptedServer } from '../testing/scripted-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

const params = { name: 'x', arguments: {} };
const uri = 'file:///notes.txt';

test.each<[string, (client: Untyped) => Promise<unknown>, string]>([
  [
    'callTool',
    (client) => client.callTool(params),
    'The first argument of callTool must be the name of a tool, a string, not of type object: client.callTool("name", { … }, options)',
  ],
  ['callTool', (client) => client.callTool(), 'must be the name of a tool, a string; it is missing: client.callTool('],
  [
    'callTool',
    (client) => client.callTool('x', 'y'),
    'The second argument of callTool must be an object, not of type string: client.callTool("name", { … }, options)',
  ],
  ['tasks.start', (client) => client.tasks.start('x', ['y']), 'must be an object, not an array: client.tasks.start('],
  ['getPrompt', (client) => client.getPrompt('x', null), 'must be an object, not null: client.getPrompt('],
  ['request', (client) => client.request('a/b', null), 'must be an object, not null: client.request('],
  ['notify', async (client) => client.notify('a/b', ['y']), 'must be an object, not an array: client.notify('],
  ['tasks.start', (client) => client.tasks.start(params), 'of type object: client.tasks.start("name", { … }, options)'],
  ['getPrompt', (client) => client.getPrompt(params), 'of type object: client.getPrompt("name", { … }, options)'],
  [
    'getPrompt',
    (client) => client.getPrompt(null),
    'must be the name of a prompt, a string, not null: client.getPrompt(',
  ],
  ['readResource', (client) => client.readResource({ uri }), `of type object: client.readResource("${uri}", options)`],
  ['readResource', (client) => client.readResource(), 'must be the URI of a resource, a string; it is missing'],
  ['subscribe', (client) => client.subscribe({ uri }), `of type object: client.subscribe("${uri}", options)`],
  ['unsubscribe', (client) => client.unsubscribe({ uri }), `of type object: client.unsubscribe("${uri}")`],
  ['watch', (client) => client.watch(), 'watch needs a filter that says what to wait for: client.watch({ tools: true'],
  ['watch', (client) => client.watch({ uris: uri }), 'watch needs a filter'],
  [
    'request',
    (client) => client.request({ method: 'a/b' }),
    'of type object: client.request("method", { … }, options)',
  ],
  ['notify', async (client) => client.notify({ method: 'a/b' }), 'of type object: client.notify("method", { … })'],
  [
    'complete',
    (client) => client.complete(),
    'complete needs the prompt or template, and the argument: client.complete(',
  ],
  ['complete', (client) => client.complete('x'), 'complete needs the prompt or template'],
])('%s says what its arguments are, and sends nothing %#', async (_, call, message) => {
  const server = new ScriptedServer('handshake', {});
  const client = await connect(server.target);
  const before = server.sent.length;
  const error = await rejectionOf(call(client), ClientError);
  expect(error.code).toBe('configuration');
  expect(error.message).toContain(message);
  expect(server.sent.length).toBe(before);
});
