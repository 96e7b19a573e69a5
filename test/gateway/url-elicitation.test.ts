// Users are sent to a URL: the client that was asked gets to know when they have finished there, under the id that it knows.

import { afterEach, expect, test } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { createServer } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, upstream } from './fixture.ts';
import { scriptedUpstream, type UpstreamSide, type WireMessage } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const url = 'https://example.com/login';
const canVisit = { elicitation: { form: {}, url: {} } };
const isComplete = ({ method }: Message): boolean => method === 'notifications/elicitation/complete';

function start(call: (message: WireMessage, side: UpstreamSide) => void) {
  const { target, called } = scriptedUpstream(call);
  const gateway = createGateway(gatewayConfig([upstream('one', { revision: '2025-11-25' })]), {
    logger: false,
    target: () => target,
  });
  closers.push(() => gateway.close());
  return { gateway, called };
}

const done = { content: [{ type: 'text', text: 'done' }] };

/** Sends its user to a page under the id `theirs`, and ends the call when the user has agreed to open it. */
async function ask({ id }: WireMessage, side: UpstreamSide, theirs: string): Promise<void> {
  await side.request(`q-${theirs}`, 'elicitation/create', {
    mode: 'url',
    message: 'Sign in',
    url,
    elicitationId: theirs,
  });
  side.send({ id, result: done });
}

const open = (gateway: Gateway, revision?: string, id = 'ada'): Promise<TestClient> =>
  TestClient.open(gateway.server, revision, canVisit, { transport: 'memory', principal: { id } });

/** Calls the tool, and agrees to open the page. */
async function visit(client: TestClient): Promise<string> {
  const call = client.call('one__work');
  const { id, params } = await client.next(({ method }) => method === 'elicitation/create');
  expect(params).toMatchObject({ mode: 'url', url, elicitationId: expect.any(String) });
  client.send({ jsonrpc: '2.0', id, result: { action: 'accept' } });
  expect((await call).result).toMatchObject(done);
  return params.elicitationId;
}

test('the completion reaches the client that was asked, after the call, once, and no other', async () => {
  const { gateway, called } = start((message, side) => void ask(message, side, 'theirs-1'));
  const [ada, bob] = [await open(gateway), await open(gateway, undefined, 'bob')];
  await bob.request('ping');
  const id = await visit(ada);
  expect(id).not.toBe('theirs-1');
  const complete = { method: 'notifications/elicitation/complete', params: { elicitationId: 'theirs-1' } };
  called().send({ ...complete, params: { elicitationId: 'unknown' } });
  called().send(complete);
  called().send(complete);
  expect((await ada.next(isComplete)).params).toEqual({ elicitationId: id });
  // An answer after it: nothing else was sent before.
  await Promise.all([ada.request('ping'), bob.request('ping')]);
  expect(ada.received.filter(isComplete)).toHaveLength(1);
  expect(bob.received.filter(isComplete)).toEqual([]);
});

test('the completion reaches the client during the call', async () => {
  const { gateway, called } = start((_message, side) => {
    const params = { mode: 'url', message: 'Sign in', url, elicitationId: 'theirs' };
    side.send({ id: 'q', method: 'elicitation/create', params });
  });
  const client = await open(gateway);
  const call = client.call('one__work');
  const { id, params } = await client.next(({ method }) => method === 'elicitation/create');
  client.send({ jsonrpc: '2.0', id, result: { action: 'accept' } });
  await called().next((each) => each.id === 'q' && each.method === undefined);
  called().send({ method: 'notifications/elicitation/complete', params: { elicitationId: 'theirs' } });
  expect((await client.next(isComplete)).params).toEqual({ elicitationId: params.elicitationId });
  called().send({ id: called().received.find(({ method }) => method === 'tools/call')?.id, result: done });
  expect((await call).result).toMatchObject(done);
});

test('pages that an error names are completed under the ids of the error', async () => {
  const elicitations = [{ mode: 'url', message: 'Sign in', url, elicitationId: 'theirs' }];
  const { gateway, called } = start(({ id }, side) =>
    side.send({ id, error: { code: -32042, message: 'Sign in first', data: { elicitations } } }),
  );
  const client = await open(gateway);
  expect((await client.call('one__work')).error).toMatchObject({ code: -32042, data: { elicitations } });
  called().send({ method: 'notifications/elicitation/complete', params: { elicitationId: 'theirs' } });
  expect((await client.next(isComplete)).params).toEqual({ elicitationId: 'theirs' });
});

test('an upstream of 2026-07-28 has no such notification: the client gets it when the call has succeeded', async () => {
  const server = createServer({ name: 'visited', version: '1.0.0', logger: false });
  server.tool('work', {
    run: async (_args, ctx) => {
      await ctx.elicitUrl('Sign in', url);
      return 'done';
    },
  });
  const gateway = createGateway(gatewayConfig([upstream('one', { revision: '2026-07-28' })]), {
    logger: false,
    target: () => inMemory(server),
  });
  closers.push(() => gateway.close());
  const client = await open(gateway);
  const id = await visit(client);
  expect((await client.next(isComplete)).params).toEqual({ elicitationId: id });
});
