// Requests of an upstream while no call is in progress: they reach the session that is meant, or are rejected.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { connect, inMemory } from '../../src/client/index.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { both, EventReader, HttpTestClient } from '../support/http-client.ts';
import { TestClient } from '../support/test-client.ts';
import { gatewayConfig, upstream } from './fixture.ts';
import { scriptedUpstream, type UpstreamSide, type WireMessage } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
afterEach(() => {
  vi.useRealTimers();
});

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const form = { message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

interface Started {
  readonly singleClient?: boolean;
  readonly start?: UpstreamConfig['start'];
  /** What the upstream does when it has been initialized. */
  readonly onStart?: (side: UpstreamSide) => void;
  readonly more?: Partial<UpstreamConfig>;
  /** What it does when its tool is called. */
  readonly call?: (message: WireMessage, side: UpstreamSide) => void;
}

function start(
  isolation: UpstreamConfig['isolation'],
  { singleClient = false, start = 'lazy', onStart, call, more }: Started = {},
) {
  const { target, called, sides } = scriptedUpstream(call, undefined, onStart);
  const roots = [{ uri: 'file:///configured' }];
  const config = upstream('one', { isolation, start, revision: '2025-11-25', roots, ...more });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target, singleClient });
  closers.push(() => gateway.close());
  return { gateway, called, sides };
}

/** Answers the requests that the client gets. `answers`: by method; others stay unanswered. */
function answerWith(client: TestClient, answers: Readonly<Record<string, object>>): void {
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
}

/** A session that has called a tool. `answers`: by method. */
async function session(
  gateway: Gateway,
  id: string,
  answers: Readonly<Record<string, object>> = {},
): Promise<TestClient> {
  const peer = { transport: 'memory', principal: { id } } as const;
  const client = await TestClient.open(gateway.server, '2025-11-25', everything, peer);
  answerWith(client, answers);
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

  test('a change of roots is announced over the connection of the session', async () => {
    const { gateway, sides } = start(isolation);
    const [ada] = [await session(gateway, 'ada'), await session(gateway, 'bob')];
    ada.notify('notifications/roots/list_changed');
    const [first, second] = sides.filter(({ received }) => received.some(({ method }) => method === 'tools/call'));
    const opening = first?.received.find(({ method }) => method === 'initialize');
    expect(opening?.params).toMatchObject({ capabilities: { roots: { listChanged: true } } });
    const isAnnounced = ({ method }: WireMessage): boolean => method === 'notifications/roots/list_changed';
    await vi.waitFor(() => expect(first?.received.filter(isAnnounced)).toHaveLength(1));
    expect(second?.received.some(isAnnounced)).toBe(false);
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

test('a server that asks for roots during a call gets those of its session, not of another that can be reached', async () => {
  const call = async ({ id, params }: WireMessage, side: UpstreamSide): Promise<void> => {
    const asks = JSON.stringify(params?.['arguments']).includes('asks');
    const { result } = asks ? await side.request('during', 'roots/list') : {};
    side.send({ id, result: { content: [{ type: 'text', text: JSON.stringify(result ?? 'done') }] } });
  };
  const { gateway } = start('principal', { call });
  const ada = await TestClient.open(gateway.server, '2025-11-25', everything);
  answerWith(ada, { 'roots/list': { roots: [{ uri: 'file:///first' }] } });
  await ada.call('one__work');
  const http = await serveHttp(gateway.server, { port: 0, graceMs: 100 });
  closers.push(() => http.close());
  const client = new HttpTestClient(http.port);
  closers.push(() => client.close());
  // It has opened no stream, so it can be asked during its calls only.
  const headers = { Accept: both, 'Mcp-Session-Id': await client.initialize({ capabilities: everything }) };
  const params = { name: 'one__work', arguments: { asks: true } };
  const body = { jsonrpc: '2.0', id: 'call', method: 'tools/call', params };
  const stream = new EventReader(await client.open({ body, headers }));
  const [asked] = await stream.until(1);
  expect(asked).toMatchObject({ method: 'roots/list' });
  const roots = [{ uri: 'file:///second' }];
  await client.send({ body: { jsonrpc: '2.0', id: asked?.id, result: { roots } }, headers });
  const content = [{ text: JSON.stringify({ roots }) }];
  expect((await stream.until(2))[1]).toMatchObject({ id: 'call', result: { content } });
});

test('on a connection of all callers no session is asked', async () => {
  const { gateway, called } = start('shared');
  const ada = await session(gateway, 'ada');
  expect((await called().request('q1', 'elicitation/create', form)).error).toMatchObject({ code: -32601 });
  expect(ada.received.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
});

describe('a gateway with a single client', () => {
  const askForRoots = (side: UpstreamSide): void => side.send({ id: 'roots', method: 'roots/list' });
  const toRoots = ({ id, method }: WireMessage): boolean => id === 'roots' && method === undefined;
  const listsRoots = { 'roots/list': { roots: [{ uri: 'file:///ada' }] } };

  /** A client that lists the tools and answers what it is asked for. */
  async function singleClient(gateway: Gateway, answers: Readonly<Record<string, object>> = {}): Promise<TestClient> {
    const client = await TestClient.open(gateway.server, '2025-11-25', everything);
    answerWith(client, answers);
    return client;
  }

  test('it is asked for its roots by a server that was started for a list', async () => {
    const { gateway, sides } = start('shared', { singleClient: true, onStart: askForRoots });
    const client = await singleClient(gateway, listsRoots);
    await client.request('tools/list');
    expect((await sides[0]?.next(toRoots))?.result.roots).toEqual([{ uri: 'file:///ada' }]);
  });

  test('a server that had asked before there was a client is notified, and has the roots before its first call', async () => {
    const { gateway, sides } = start('shared', { singleClient: true, start: 'eager', onStart: askForRoots });
    await vi.waitFor(() => expect(sides).toHaveLength(1));
    const [side] = sides as [UpstreamSide];
    expect((await side.next(toRoots)).result.roots).toEqual([{ uri: 'file:///configured' }]);
    const client = await singleClient(gateway);
    const called = client.call('one__work');
    await side.next(({ method }) => method === 'notifications/roots/list_changed');
    side.send({ id: 'again', method: 'roots/list' });
    const asked = await client.next(({ method }) => method === 'roots/list');
    expect(side.received.some(({ method }) => method === 'tools/call')).toBe(false);
    client.send({ jsonrpc: '2.0', id: asked.id, result: listsRoots['roots/list'] });
    await called;
    const order = side.received.map(({ id, method }) => method ?? id);
    expect(order.indexOf('again')).toBeLessThan(order.indexOf('tools/call'));
  });

  test('a call that waits for the roots of a server that is restarted goes to the new process', async () => {
    const { gateway, sides } = start('shared', { singleClient: true, onStart: askForRoots });
    const client = await singleClient(gateway);
    await client.request('tools/list');
    const called = client.call('one__work');
    await client.next(({ method }) => method === 'roots/list');
    answerWith(client, listsRoots);
    await gateway.restart('one');
    expect((await called).result).toMatchObject({ content: [{ text: 'done' }] });
    expect(sides.map(({ received }) => received.filter(({ method }) => method === 'tools/call').length)).toEqual([
      0, 1,
    ]);
  });

  test('a server without ping has the roots before its first call, too', async () => {
    const onStart = (side: UpstreamSide): void => {
      side.rejectsPing = true;
      askForRoots(side);
    };
    const { gateway, sides } = start('shared', { singleClient: true, onStart });
    const client = await singleClient(gateway);
    await client.request('tools/list');
    const called = client.call('one__work');
    const asked = await client.next(({ method }) => method === 'roots/list');
    await new Promise((resolve) => setImmediate(resolve));
    const [side] = sides as [UpstreamSide];
    expect(side.received.some(({ method }) => method === 'tools/call')).toBe(false);
    client.send({ jsonrpc: '2.0', id: asked.id, result: listsRoots['roots/list'] });
    expect((await called).result).toMatchObject({ content: [{ text: 'done' }] });
    const order = side.received.map(({ id, method }) => method ?? id);
    expect(order.indexOf('roots')).toBeLessThan(order.indexOf('tools/call'));
  });

  test('a console is not asked in place of a client without sessions', async () => {
    const { gateway, sides } = start('shared', { singleClient: true, onStart: askForRoots });
    const client = await connect(inMemory(gateway.server), { revision: '2026-07-28', handlers: { roots: () => [] } });
    await client.callTool('one__work');
    const roots = vi.fn(() => []);
    const peer = { principal: { id: 'console' }, inputInCallsOnly: true } as const;
    const console = await connect(inMemory(gateway.server, peer), { revision: '2025-11-25', handlers: { roots } });
    closers.push(
      () => client.close(),
      () => console.close(),
    );
    await console.listTools();
    await console.callTool('one__work');
    const configured = { roots: [{ uri: 'file:///configured' }] };
    expect((await sides[0]?.request('again', 'roots/list'))?.result).toEqual(configured);
    expect(sides[0]?.received.map(({ method }) => method)).not.toContain('notifications/roots/list_changed');
    expect(roots).not.toHaveBeenCalled();
  });

  test('a change of its roots is announced to a server', async () => {
    const { gateway, sides } = start('shared', { singleClient: true });
    const client = await singleClient(gateway, listsRoots);
    await client.call('one__work');
    const [side] = sides as [UpstreamSide];
    const opening = side.received.find(({ method }) => method === 'initialize');
    expect(opening?.params).toMatchObject({ capabilities: { roots: { listChanged: true } } });
    client.send({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    await side.next(({ method }) => method === 'notifications/roots/list_changed');
  });

  test('a server that may not ask for roots does not hear of them, and its calls do not wait', async () => {
    const { gateway, sides } = start('shared', { singleClient: true, more: { asks: ['elicitation'] } });
    const client = await singleClient(gateway, listsRoots);
    await client.call('one__work');
    client.notify('notifications/roots/list_changed');
    await client.call('one__work');
    const received = sides[0]?.received.map(({ method }) => method);
    const calls = ['tools/list', 'tools/call', 'tools/call'];
    expect(received).toEqual(['initialize', 'notifications/initialized', ...calls]);
  });

  test.each(['2025-11-25', '2026-07-28'])('it is asked while a console is in use with %s', async (revision) => {
    const { gateway, sides } = start('shared', { singleClient: true, onStart: askForRoots });
    const client = await singleClient(gateway, listsRoots);
    await client.call('one__work');
    const roots = vi.fn(() => []);
    const peer = { principal: { id: 'console' }, inputInCallsOnly: true } as const;
    const console = await connect(inMemory(gateway.server, peer), { revision, handlers: { roots } });
    closers.push(() => console.close());
    await console.callTool('one__work');
    expect((await sides[0]?.request('again', 'roots/list'))?.result).toEqual(listsRoots['roots/list']);
    await client.request('tools/list');
    await gateway.restart('one');
    // The call of the console may start it.
    await console.callTool('one__work');
    expect(sides).toHaveLength(2);
    expect((await sides[1]?.next(toRoots))?.result).toEqual(listsRoots['roots/list']);
    expect(roots).not.toHaveBeenCalled();
  });

  test('it is asked what a server asks outside of calls', async () => {
    const { gateway, called } = start('shared', { singleClient: true });
    const accepted = { action: 'accept', content: { name: 'Ada' } };
    const client = await singleClient(gateway, { 'elicitation/create': accepted });
    await client.call('one__work');
    expect((await called().request('q1', 'elicitation/create', form)).result).toEqual(accepted);
  });
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
