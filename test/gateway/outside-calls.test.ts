// Requests of an upstream while no call is in progress: they reach the session that is meant, or are rejected.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { both, EventReader, HttpTestClient } from '../support/http-client.ts';
import { TestClient } from '../support/test-client.ts';
import { gatewayConfig, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
afterEach(() => {
  vi.useRealTimers();
});

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const form = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

function start(isolation: UpstreamConfig['isolation']) {
  const { target, called } = scriptedUpstream();
  const config = upstream('one', { isolation, revision: '2025-11-25', roots: [{ uri: 'file:///configured' }] });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target });
  closers.push(() => gateway.close());
  return { gateway, called };
}

/** A session that has called a tool. `answers`: by method. */
async function session(
  gateway: Gateway,
  id: string,
  answers: Readonly<Record<string, object>> = {},
): Promise<TestClient> {
  const peer = { transport: 'memory', principal: { id } } as const;
  const client = await TestClient.open(gateway.server, '2025-11-25', everything, peer);
  const answered = new Set<unknown>();
  const answer = async (): Promise<void> => {
    const request = await client.next(
      ({ id: each, method }) => each !== undefined && method !== undefined && !answered.has(each),
    );
    answered.add(request.id);
    const result = answers[request.method ?? ''];
    if (result !== undefined) client.send({ jsonrpc: '2.0', id: request.id, result });
    await answer();
  };
  void answer();
  expect((await client.call('one__work')).result).toMatchObject({ content: [{ text: 'done' }] });
  return client;
}

describe.each(['session', 'principal'] as const)('with isolation %s', (isolation) => {
  test('the session of the connection is asked', async () => {
    const { gateway, called } = start(isolation);
    const sampled = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' };
    const ada = await session(gateway, 'ada', {
      'elicitation/create': { action: 'accept', content: { name: 'Ada' } },
      'sampling/createMessage': sampled,
      'roots/list': { roots: [{ uri: 'file:///ada' }] },
    });
    const side = called();
    const bob = await session(gateway, 'bob');
    const elicited = await side.request('q1', 'elicitation/create', form);
    expect(elicited.result).toEqual({ action: 'accept', content: { name: 'Ada' } });
    const messages = [{ role: 'user', content: { type: 'text', text: 'hello' } }];
    expect((await side.request('q2', 'sampling/createMessage', { messages, maxTokens: 9 })).result).toEqual(sampled);
    expect((await side.request('q3', 'roots/list')).result.roots).toEqual([{ uri: 'file:///ada' }]);
    expect((await side.request('q4', 'ping')).result).toEqual({});
    const asked = ada.received.filter(({ method }) => method === 'elicitation/create');
    expect(asked).toMatchObject([{ params: { message: '[one] Name?' } }]);
    expect(bob.received.filter(({ id, method }) => id !== undefined && method !== undefined)).toEqual([]);
  });

  test('a request that the upstream cancels is cancelled at the client', async () => {
    const { gateway, called } = start(isolation);
    const ada = await session(gateway, 'ada');
    called().send({ id: 'q1', method: 'elicitation/create', params: form });
    const { id } = await ada.next(({ method }) => method === 'elicitation/create');
    called().send({ method: 'notifications/cancelled', params: { requestId: 'q1' } });
    const { params } = await ada.next(({ method }) => method === 'notifications/cancelled');
    expect(params.requestId).toBe(id);
  });
});

test('a session that does not list its roots does not hold up a server', async () => {
  const { gateway, called } = start('session');
  const ada = await session(gateway, 'ada');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const answered = called().request('q1', 'roots/list');
  const asked = await ada.next(({ method }) => method === 'roots/list');
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await answered).result.roots).toEqual([{ uri: 'file:///configured' }]);
  const { params } = await ada.next(({ method }) => method === 'notifications/cancelled');
  expect(params.requestId).toBe(asked.id);
});

test('a session that is gone is not asked', async () => {
  const { gateway, called } = start('principal');
  const ada = await session(gateway, 'ada');
  ada.channel.close();
  expect((await called().request('q1', 'elicitation/create', form)).error).toMatchObject({ code: -32601 });
  expect((await called().request('q2', 'roots/list')).result.roots).toEqual([{ uri: 'file:///configured' }]);
});

test('with two sessions of one user on the connection, none is asked, and the status says so', async () => {
  const { gateway, called } = start('principal');
  const sessions = [await session(gateway, 'ada'), await session(gateway, 'ada')];
  expect((await called().request('q1', 'elicitation/create', form)).error).toMatchObject({ code: -32603 });
  expect((await called().request('q2', 'roots/list')).result.roots).toEqual([{ uri: 'file:///configured' }]);
  for (const { received } of sessions)
    expect(received.filter(({ id, method }) => id !== undefined && method !== undefined)).toEqual([]);
  expect(gateway.status()[0]).toMatchObject({ ambiguousInput: true });
});

test('on a connection of all callers no session is asked', async () => {
  const { gateway, called } = start('shared');
  const ada = await session(gateway, 'ada');
  expect((await called().request('q1', 'elicitation/create', form)).error).toMatchObject({ code: -32601 });
  expect(ada.received.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
});

test('over HTTP the request is sent on the stream that the client has opened', { timeout: 30_000 }, async () => {
  const { gateway, called } = start('session');
  const http = await serveHttp(gateway.server, { port: 0, graceMs: 100 });
  closers.push(() => http.close());
  const client = new HttpTestClient(http.port);
  closers.push(() => client.close());
  const id = await client.initialize({ capabilities: everything });
  const headers = { Accept: both, 'Mcp-Session-Id': id };
  await client.session(id, 'tools/call', { name: 'one__work', arguments: {} });
  const stream = new EventReader(
    await client.open({ method: 'GET', headers: { ...headers, Accept: 'text/event-stream' } }),
  );
  const answer = called().request('q1', 'elicitation/create', form);
  const [asked] = await stream.until(1);
  expect(asked).toMatchObject({ method: 'elicitation/create' });
  const result = { action: 'accept', content: { name: 'Ada' } };
  await client.send({ body: { jsonrpc: '2.0', id: asked?.id, result }, headers });
  expect((await answer).result).toEqual(result);
});
