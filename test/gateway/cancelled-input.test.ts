// An upstream that cancels its input request during a call: the client is not asked any longer, and the call goes on.

import { afterEach, expect, test } from 'vitest';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, upstream } from './fixture.ts';
import { scriptedUpstream, type UpstreamSide } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const canElicit = { elicitation: { form: {} }, sampling: {} };
const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
const form = (message: string) => ({ message, requestedSchema });

/** A gateway in front of a server that answers calls when the test says so. */
function start(given: Partial<UpstreamConfig> = {}): {
  readonly gateway: Gateway;
  readonly called: () => UpstreamSide;
} {
  const { target, called } = scriptedUpstream(() => {});
  const gateway = createGateway(gatewayConfig([upstream('one', { revision: '2025-11-25', ...given })]), {
    logger: false,
    target: () => target,
  });
  closers.push(() => gateway.close());
  return { gateway, called };
}

async function whenCalled(called: () => UpstreamSide | undefined): Promise<UpstreamSide> {
  await expect.poll(() => called()?.received.at(-1)?.method).toBe('tools/call');
  return called() as UpstreamSide;
}

function cancel(side: UpstreamSide, requestId: string): void {
  side.send({ method: 'notifications/cancelled', params: { requestId, reason: 'not needed' } });
}

function finish(side: UpstreamSide, text: string): void {
  const id = side.received.findLast(({ method }) => method === 'tools/call')?.id;
  side.send({ id, result: { content: [{ type: 'text', text }] } });
}

const textOf = ({ result }: Message): string => result.content[0].text;

test.each(['2025-06-18', '2025-11-25'])(
  'a client of %s is notified that it is not asked any longer',
  async (revision) => {
    const { gateway, called } = start();
    const client = await TestClient.open(gateway.server, revision, canElicit);
    const call = client.call('one__work');
    const side = await whenCalled(called);
    side.send({ id: 'q1', method: 'elicitation/create', params: form('Name?') });
    const { id } = await client.next(({ method }) => method === 'elicitation/create');
    cancel(side, 'q1');
    const { params } = await client.next(({ method }) => method === 'notifications/cancelled');
    expect(params).toMatchObject({ requestId: id });
    // The client may have answered before it was notified.
    client.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ada' } } });
    finish(side, 'done without it');
    expect(textOf(await call)).toBe('done without it');
    expect(side.received.filter(({ id: each }) => each === 'q1')).toEqual([]);
  },
);

test('only the input request that was cancelled is', async () => {
  const { gateway, called } = start();
  const client = await TestClient.open(gateway.server, '2025-11-25', canElicit);
  const call = client.call('one__work');
  const side = await whenCalled(called);
  side.send({ id: 'q1', method: 'elicitation/create', params: form('First?') });
  const kept = side.request('q2', 'elicitation/create', form('Second?'));
  const { id } = await client.next(({ params }) => params?.message === '[one] Second?');
  cancel(side, 'q1');
  await client.next(({ method }) => method === 'notifications/cancelled');
  client.send({ jsonrpc: '2.0', id, result: { action: 'decline' } });
  expect((await kept).result).toEqual({ action: 'decline' });
  finish(side, 'done');
  expect(textOf(await call)).toBe('done');
  expect(client.received.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1);
});

test('in a task the same input request can be sent again', async () => {
  const { gateway, called } = start({
    override: { work: { taskSupport: 'optional', hideArguments: [], defaults: {} } },
  });
  const client = await TestClient.open(gateway.server, '2025-11-25', canElicit);
  await client.request('tools/list');
  const { result } = await client.request('tools/call', { name: 'one__work', task: {} });
  const outcome = client.request('tasks/result', { taskId: result.task.taskId });
  const side = await whenCalled(called);
  side.send({ id: 'q1', method: 'elicitation/create', params: form('Name?') });
  const { id } = await client.next(({ method }) => method === 'elicitation/create');
  cancel(side, 'q1');
  expect((await client.next(({ method }) => method === 'notifications/cancelled')).params.requestId).toBe(id);
  const again = side.request('q2', 'elicitation/create', form('Name?'));
  const repeated = await client.next(({ id: each, method }) => method === 'elicitation/create' && each !== id);
  client.send({ jsonrpc: '2.0', id: repeated.id, result: { action: 'decline' } });
  expect((await again).result).toEqual({ action: 'decline' });
  finish(side, 'done');
  expect(textOf(await outcome)).toBe('done');
});

/** A call of a client that gets input requests as results. */
function stateless(client: TestClient, retry: object = {}): Promise<Message> {
  return client.stateless('tools/call', { name: 'one__work', arguments: {}, ...retry }, canElicit);
}

function answerTo({ result }: Message): object {
  const keys = Object.keys(result.inputRequests);
  const answer = { action: 'accept', content: { name: 'Ada' } };
  return { inputResponses: Object.fromEntries(keys.map((key) => [key, answer])), requestState: result.requestState };
}

const messagesOf = ({ result }: Message): unknown =>
  Object.values(result.inputRequests as Record<string, { params: { message: string } }>).map(
    ({ params }) => params.message,
  );

test('a held call goes on without it, and the answer of the client is not needed', async () => {
  const { gateway, called } = start();
  const client = new TestClient(gateway.server);
  const asked = stateless(client);
  const side = await whenCalled(called);
  side.send({ id: 'q1', method: 'elicitation/create', params: form('Name?') });
  const first = await asked;
  expect(messagesOf(first)).toEqual(['[one] Name?']);
  cancel(side, 'q1');
  const retry = stateless(client, answerTo(first));
  finish(side, 'done without it');
  expect(textOf(await retry)).toBe('done without it');
  expect(side.received.filter(({ id }) => id === 'q1')).toEqual([]);
});

test('a held call asks for what the server wants instead', async () => {
  const { gateway, called } = start();
  const client = new TestClient(gateway.server);
  const asked = stateless(client);
  const side = await whenCalled(called);
  side.send({ id: 'q1', method: 'elicitation/create', params: form('First?') });
  const first = await asked;
  cancel(side, 'q1');
  const instead = side.request('q2', 'elicitation/create', form('Second?'));
  const second = await stateless(client, answerTo(first));
  expect(messagesOf(second)).toEqual(['[one] Second?']);
  const retry = stateless(client, answerTo(second));
  expect((await instead).result).toEqual({ action: 'accept', content: { name: 'Ada' } });
  finish(side, 'done');
  expect(textOf(await retry)).toBe('done');
});
