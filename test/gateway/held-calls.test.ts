// Upstreams that ask during a call, with clients that get input requests as results: the upstream is called exactly once.

import { afterEach, describe, expect, test } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { createServer, type Server, serveHttp } from '../../src/index.ts';
import type { Principal } from '../../src/protocol/exchange.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, gatewayOf, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const canElicit = { elicitation: { form: {} } };
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

/** A server of a handshake revision that asks, and counts how often it was called. */
function asking() {
  const seen = { calls: 0, answers: [] as unknown[], cancelled: 0 };
  const server = createServer({ name: 'asking', version: '1.0.0', logger: false });
  server.tool('greet', {
    input: { type: 'object', properties: { rounds: { type: 'integer' } } },
    run: async (args, ctx) => {
      const { rounds = 1 } = args as { rounds?: number };
      seen.calls++;
      ctx.signal.addEventListener('abort', () => seen.cancelled++);
      const names: unknown[] = [];
      for (let round = 1; round <= rounds; round++) {
        await ctx.progress(round, rounds);
        const answer = await ctx.elicit(`Name ${round}?`, form);
        seen.answers.push(answer);
        names.push(answer.action === 'accept' ? answer.content.name : answer.action);
      }
      return `Hello ${names.join(' and ')}`;
    },
  });
  return { server, seen };
}

function gatewayFor(server: Server, heldCalls: object = {}): Gateway {
  return gatewayOf(closers, { one: server }, { revision: '2025-11-25' }, { heldCalls });
}

const clientOf = (gateway: Gateway, principal?: Principal): TestClient =>
  new TestClient(gateway.server, { transport: 'memory', principal });

function call(client: TestClient, args: object = {}, retry: object = {}): Promise<Message> {
  return client.stateless('tools/call', { name: 'one__greet', arguments: args, ...retry }, canElicit);
}

function retryOf({ result }: Message, name: string): object {
  const keys = Object.keys(result.inputRequests);
  const answer = { action: 'accept', content: { name } };
  return { inputResponses: Object.fromEntries(keys.map((key) => [key, answer])), requestState: result.requestState };
}

const textOf = ({ result }: Message): string => result.content[0].text;

test('a client gets the question, comes back with the answer, and gets the result of the one call', async () => {
  const { server, seen } = asking();
  const client = clientOf(gatewayFor(server));
  const first = await call(client);
  expect(first.result.resultType).toBe('input_required');
  const [question] = Object.values(first.result.inputRequests) as { method: string; params: { message: string } }[];
  expect(question).toMatchObject({ method: 'elicitation/create', params: { message: '[one] Name 1?' } });
  const last = await call(client, {}, retryOf(first, 'Ada'));
  expect(textOf(last)).toBe('Hello Ada');
  expect(seen.calls).toBe(1);
});

test('several questions of one call are asked one after the other', async () => {
  const { server, seen } = asking();
  const client = clientOf(gatewayFor(server));
  const first = await call(client, { rounds: 3 });
  const second = await call(client, { rounds: 3 }, retryOf(first, 'Ada'));
  const third = await call(client, { rounds: 3 }, retryOf(second, 'Bob'));
  const last = await call(client, { rounds: 3 }, retryOf(third, 'Cy'));
  expect(textOf(last)).toBe('Hello Ada and Bob and Cy');
  expect(seen.calls).toBe(1);
});

test('the same retry sent twice, at once or later, gets the same result', async () => {
  const { server, seen } = asking();
  const client = clientOf(gatewayFor(server));
  const first = await call(client);
  const retry = retryOf(first, 'Ada');
  const both = await Promise.all([call(client, {}, retry), call(client, {}, retry)]);
  const later = await call(client, {}, retry);
  expect([...both, later].map(textOf)).toEqual(['Hello Ada', 'Hello Ada', 'Hello Ada']);
  expect(seen).toMatchObject({ calls: 1, answers: [{ action: 'accept' }] });
});

test('progress goes to the request that waits now', async () => {
  const { server } = asking();
  const client = clientOf(gatewayFor(server));
  const withToken = (token: string, retry: object = {}): Promise<Message> =>
    call(client, { rounds: 2 }, { ...retry, _meta: { progressToken: token } });
  const first = await withToken('a');
  const second = await withToken('b', retryOf(first, 'Ada'));
  expect(second.result.resultType).toBe('input_required');
  const progress = client.received.filter(({ method }) => method === 'notifications/progress');
  expect(progress.map(({ params }) => [params.progressToken, params.progress])).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
});

test('another principal cannot take over the call', async () => {
  const { server, seen } = asking();
  const gateway = gatewayFor(server);
  const first = await call(clientOf(gateway, { id: 'ada' }));
  const stolen = await call(clientOf(gateway, { id: 'eve' }), {}, retryOf(first, 'Eve'));
  expect(stolen.error?.code).toBe(-32602);
  const other = await call(clientOf(gateway, { id: 'ada' }), { rounds: 2 }, retryOf(first, 'Ada'));
  expect(other.error?.code).toBe(-32602);
  expect(textOf(await call(clientOf(gateway, { id: 'ada' }), {}, retryOf(first, 'Ada')))).toBe('Hello Ada');
  expect(seen.calls).toBe(1);
});

test('a call that no client comes back for is cancelled, and a late retry does not run it again', async () => {
  const { server, seen } = asking();
  const client = clientOf(gatewayFor(server, { expiresMs: 300 }));
  // On a busy machine the time may be over before the client has been asked.
  let first: Message;
  do first = await call(client);
  while (first.result?.inputRequests === undefined);
  const { calls } = seen;
  await expect.poll(() => seen.cancelled).toBe(calls);
  const late = await call(client, {}, retryOf(first, 'Ada'));
  expect(late.error).toMatchObject({ code: -32603, data: { reason: 'held-call-lost', mayHaveRun: true } });
  expect(seen.calls).toBe(calls);
});

test('a gateway that does not hold the call says that it may have run', async () => {
  const { server, seen } = asking();
  const key = `${'k'.repeat(8)}0123456789abcdefghijklmnopqrstuvwxyz`;
  const options = { server: { key } };
  const one = gatewayOf(closers, { one: server }, { revision: '2025-11-25' }, options);
  const two = gatewayOf(closers, { one: server }, { revision: '2025-11-25' }, options);
  const first = await call(clientOf(one));
  const lost = await call(clientOf(two), {}, retryOf(first, 'Ada'));
  expect(lost.error).toMatchObject({ code: -32603, data: { reason: 'held-call-lost', mayHaveRun: true } });
  expect(seen.calls).toBe(1);
});

test('beyond the limit of a principal the question is rejected, and the call goes on without an answer', async () => {
  const { server, seen } = asking();
  const gateway = gatewayOf(
    closers,
    { one: server },
    { revision: '2025-11-25', isolation: 'principal' },
    { heldCalls: { maxPerPrincipal: 1 } },
  );
  const ada = clientOf(gateway, { id: 'ada' });
  const first = await call(ada);
  const second = await call(ada, { rounds: 1 });
  expect(second.result).toMatchObject({ isError: true });
  expect((await call(clientOf(gateway, { id: 'bob' }))).result.resultType).toBe('input_required');
  expect(textOf(await call(ada, {}, retryOf(first, 'Ada')))).toBe('Hello Ada');
  expect(seen.calls).toBe(3);
});

test('a caller with as many held calls as it may have does not use up the limit of others', async () => {
  const { server } = asking();
  const upstreamServer = await serveHttp(server, { port: 0, graceMs: 100 });
  closers.push(() => upstreamServer.close());
  const config = upstream('one', { revision: '2025-11-25', entry: { url: upstreamServer.url } });
  const gateway = createGateway(gatewayConfig([config]), { logger: false });
  closers.push(() => gateway.close());
  const mallory = clientOf(gateway, { id: 'mallory' });
  const held = await Promise.all(Array.from({ length: 64 }, () => call(mallory)));
  expect(new Set(held.map(({ result }) => result.resultType))).toEqual(new Set(['input_required']));
  expect((await call(mallory)).result.content.at(-1).text).toContain('Name 1?');
  const ada = clientOf(gateway, { id: 'ada' });
  expect(textOf(await call(ada, {}, retryOf(await call(ada), 'Ada')))).toBe('Hello Ada');
});

test('a call that has ended does not count towards the limit', async () => {
  const { server } = asking();
  const client = clientOf(gatewayFor(server, { maxPerPrincipal: 1, max: 1 }));
  for (const name of ['Ada', 'Bob', 'Cy']) {
    expect(textOf(await call(client, {}, retryOf(await call(client), name)))).toBe(`Hello ${name}`);
  }
});

test('outcomes are kept up to a length, those of another principal too', async () => {
  const { server, seen } = asking();
  const limits = { maxKeptChars: 1_000, maxKeptCharsPerPrincipal: 500 };
  const gateway = gatewayOf(
    closers,
    { one: server },
    { revision: '2025-11-25', isolation: 'principal' },
    { heldCalls: limits },
  );
  const [ada, eve] = ['ada', 'eve'].map((id) => clientOf(gateway, { id })) as [TestClient, TestClient];
  const finish = async (client: TestClient, name: string): Promise<object> => {
    const retry = retryOf(await call(client), name);
    expect(textOf(await call(client, {}, retry))).toBe(`Hello ${name}`);
    return retry;
  };
  const first = await finish(ada, 'Ada');
  const long = await finish(eve, 'x'.repeat(600));
  const last = await finish(eve, 'Eve');
  expect(textOf(await call(ada, {}, first))).toBe('Hello Ada');
  expect(textOf(await call(eve, {}, last))).toBe('Hello Eve');
  expect((await call(eve, {}, long)).error?.data).toMatchObject({ reason: 'held-call-lost' });
  expect(seen.calls).toBe(3);
});

test('a call does not expire while a client waits for its result', async () => {
  const server = createServer({ name: 'slow', version: '1.0.0', logger: false });
  server.tool('greet', {
    run: async (_args, ctx) => {
      await ctx.elicit('Name?', form);
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return ctx.signal.aborted ? 'cancelled' : 'Hello';
    },
  });
  const client = clientOf(gatewayFor(server, { expiresMs: 600 }));
  expect(textOf(await call(client, {}, retryOf(await call(client), 'Ada')))).toBe('Hello');
});

test('a client that cancels while it waits for the result cancels the call', async () => {
  const seen = { answered: false, aborted: 0 };
  const server = createServer({ name: 'slow', version: '1.0.0', logger: false });
  server.tool('greet', {
    run: async (_args, ctx) => {
      await ctx.elicit('Name?', form);
      seen.answered = true;
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
      seen.aborted++;
      return 'too late';
    },
  });
  const client = clientOf(gatewayFor(server));
  const first = await call(client);
  const id = 'retry';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': canElicit,
  };
  void client.request('tools/call', { name: 'one__greet', arguments: {}, ...retryOf(first, 'Ada'), _meta }, id);
  await expect.poll(() => seen.answered).toBe(true);
  client.notify('notifications/cancelled', { requestId: id, _meta });
  await expect.poll(() => seen.aborted).toBe(1);
});

test.each([0, 1])(
  'of two requests that wait for a call, the one that is left gets its result (%i leaves)',
  async (leaving) => {
    let finish = (): void => {};
    const server = createServer({ name: 'slow', version: '1.0.0', logger: false });
    server.tool('greet', {
      run: async (_args, ctx) => {
        await ctx.elicit('Name?', form);
        await new Promise<void>((resolve) => {
          finish = resolve;
          ctx.signal.addEventListener('abort', () => resolve());
        });
        return ctx.signal.aborted ? 'cancelled' : 'Hello';
      },
    });
    const gateway = gatewayFor(server);
    const [one, two] = [clientOf(gateway, { id: 'ada' }), clientOf(gateway, { id: 'ada' })];
    const retry = retryOf(await call(one), 'Ada');
    const waiting = [call(one, {}, retry), call(two, {}, retry)];
    await new Promise((resolve) => setTimeout(resolve, 100));
    [one, two][leaving]?.channel.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    finish();
    expect(textOf((await waiting[1 - leaving]) as Message)).toBe('Hello');
  },
);

test('a question that comes with the result is answered with an error, not kept open', async () => {
  const { target, called } = scriptedUpstream(() => {});
  const config = upstream('one', { revision: '2025-11-25', timeoutMs: 300, maxTimeoutMs: 300 });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target });
  closers.push(() => gateway.close());
  const client = clientOf(gateway);
  await client.stateless('tools/list', {}, canElicit);
  const work = { name: 'one__work', arguments: {} };
  const first = client.stateless('tools/call', work, canElicit);
  await expect.poll(() => called()?.received.at(-1)?.method).toBe('tools/call');
  const { id } = called().received.at(-1) as { id: number };
  const params = { message: 'Name?', requestedSchema: form };
  called().send({ id: 'q1', method: 'elicitation/create', params });
  expect((await first).result.resultType).toBe('input_required');
  called().send({ id, result: { content: [{ type: 'text', text: 'done' }] } });
  expect((await called().request('q2', 'elicitation/create', params)).error).toMatchObject({ code: -32603 });
  expect(textOf(await client.stateless('tools/call', { ...work, ...retryOf(await first, 'Ada') }, canElicit))).toBe(
    'done',
  );
  // An open question would stop the time limits of all calls.
  expect(textOf(await client.stateless('tools/call', work, canElicit))).toContain('within 300 ms');
});

test('hundreds of calls wait at once, each with its own answer', { timeout: 180_000 }, async () => {
  const { server, seen } = asking();
  // An upstream serves a limited number of requests of one connection at a time, and asks only 64 questions at a time.
  const gateway = gatewayOf(
    closers,
    { one: server },
    { revision: '2025-11-25', isolation: 'call', maxProcesses: 2_000 },
    { heldCalls: { maxPerPrincipal: 1_000 } },
  );
  const count = isFullRun ? 1_000 : 300;
  const clients = Array.from({ length: count }, () => clientOf(gateway));
  const firsts = await Promise.all(clients.map((client) => call(client)));
  const lasts = await Promise.all(
    clients.map((client, n) => call(client, {}, retryOf(firsts[n] as Message, `user ${n}`))),
  );
  expect(lasts.map(textOf)).toEqual(lasts.map((_, n) => `Hello user ${n}`));
  expect(seen.calls).toBe(count);
});

describe('a server that is removed while its call is held', () => {
  const one = upstream('one', { revision: '2025-11-25' });
  const two = upstream('two', { revision: '2025-11-25' });

  /** The configuration has no server `one` any more, or another one that has no such tool. */
  async function removed(drainMs: number, changed: readonly UpstreamConfig[] = []) {
    const { server, seen } = asking();
    server.prompt('welcome', {
      get: async (_args, ctx) => {
        const answer = await ctx.elicit('Whom?', form);
        return `Welcome ${answer.action === 'accept' ? answer.content.name : 'nobody'}`;
      },
    });
    server.resourceTemplate('notes://{id}', {
      name: 'notes',
      read: async ({ id }, ctx) => {
        const answer = await ctx.elicit('Whose?', form);
        return `Note ${id} of ${answer.action === 'accept' ? answer.content.name : 'nobody'}`;
      },
    });
    const other = createServer({ name: 'other', version: '1.0.0', logger: false });
    other.tool('wave', { run: () => 'wave' });
    const gateway = createGateway(gatewayConfig([one, two]), {
      logger: false,
      target: ({ name }) => inMemory(name === 'one' ? server : other),
    });
    closers.push(() => gateway.close());
    const client = clientOf(gateway, { id: 'ada' });
    const first = await call(client);
    const prompt = await client.stateless('prompts/get', { name: 'one__welcome' }, canElicit);
    const note = await client.stateless('resources/read', { uri: 'notes://7' }, canElicit);
    await gateway.reload(gatewayConfig([...changed, two], { drainMs }));
    return { gateway, client, first, prompt, note, seen };
  }

  const tools = async (client: TestClient): Promise<string[]> =>
    (await client.stateless('tools/list')).result.tools.map(({ name }: { name: string }) => name);

  test.each([
    ['is gone', []],
    ['is another one', [upstream('one', { name: 'another', digest: 'another' })]],
  ])('the retry gets its result where the server %s', async (_what, changed) => {
    const { client, first, prompt, note, seen } = await removed(20_000, changed);
    expect(await tools(client)).toEqual([...changed.map(() => 'one__wave'), 'two__wave']);
    const retry = retryOf(first, 'Ada');
    expect(textOf(await call(client, {}, retry))).toBe('Hello Ada');
    expect(textOf(await call(client, {}, retry))).toBe('Hello Ada');
    const welcome = await client.stateless(
      'prompts/get',
      { name: 'one__welcome', ...retryOf(prompt, 'Ada') },
      canElicit,
    );
    expect(welcome.result.messages[0].content.text).toBe('Welcome Ada');
    const read = await client.stateless('resources/read', { uri: 'notes://7', ...retryOf(note, 'Ada') }, canElicit);
    expect(read.result.contents[0].text).toBe('Note 7 of Ada');
    expect(seen.calls).toBe(1);
  });

  test('the retry gets its result where each caller had lists of its own', async () => {
    const auth = { kind: 'token-exchange', issuer: 'https://login.example', clientId: 'x', clientSecret: 'y' } as const;
    const config = upstream('one', { revision: '2025-11-25', isolation: 'principal', auth });
    const { server, seen } = asking();
    const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => inMemory(server) });
    closers.push(() => gateway.close());
    const [ada, eve] = [clientOf(gateway, { id: 'ada' }), clientOf(gateway, { id: 'eve' })];
    const [first, other] = [await call(ada), await call(eve)];
    await gateway.reload(gatewayConfig([two], { drainMs: 20_000 }));
    expect((await call(eve, {}, retryOf(first, 'Eve'))).error).toBeDefined();
    expect(textOf(await call(ada, {}, retryOf(first, 'Ada')))).toBe('Hello Ada');
    expect(textOf(await call(eve, {}, retryOf(other, 'Eve')))).toBe('Hello Eve');
    expect((await call(ada)).error?.message).toContain('Unknown tool: one__greet');
    expect(seen.calls).toBe(2);
  });

  test('new calls, and those of others, get the error of a tool that does not exist', async () => {
    const { gateway, client, first } = await removed(20_000);
    const unknown = { code: -32602, message: expect.stringContaining('Unknown tool: one__greet') };
    expect((await call(client)).error).toMatchObject(unknown);
    expect((await call(client, {}, { inputResponses: {} })).error).toMatchObject(unknown);
    expect((await call(clientOf(gateway, { id: 'eve' }))).error).toMatchObject(unknown);
    const prompt = await client.stateless('prompts/get', { name: 'one__welcome' }, canElicit);
    expect(prompt.error).toMatchObject({ code: -32602 });
    const read = await client.stateless('resources/read', { uri: 'notes://7' }, canElicit);
    expect(read.error).toMatchObject({ code: -32602, data: { uri: 'notes://7' } });
    const listed = await client.stateless('resources/templates/list');
    expect(listed.result?.resourceTemplates ?? []).toEqual([]);
    expect(textOf(await call(client, {}, retryOf(first, 'Ada')))).toBe('Hello Ada');
  });

  test('a client that comes back after the time gets the error of a tool that does not exist, and the call is cancelled', async () => {
    const { client, first, seen } = await removed(100);
    await expect.poll(() => seen.cancelled).toBe(1);
    await expect
      .poll(async () => (await call(client, {}, retryOf(first, 'Ada'))).error?.message)
      .toContain('Unknown tool: one__greet');
  });

  test('clients are notified once, when the server is removed', async () => {
    const gateway = gatewayOf(closers, { one: asking().server }, { revision: '2025-11-25' });
    const first = await call(clientOf(gateway));
    const client = await TestClient.open(gateway.server);
    await gateway.reload(gatewayConfig([], { drainMs: 200 }));
    const retry = async () => call(clientOf(gateway), {}, retryOf(first, 'Ada'));
    expect(textOf(await retry())).toBe('Hello Ada');
    await expect.poll(async () => (await retry()).error).toBeDefined();
    const changes = client.received.filter(({ method }) => method === 'notifications/tools/list_changed');
    expect(changes).toHaveLength(1);
  });
});
