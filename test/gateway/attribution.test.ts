// What an upstream sends during calls reaches only the caller whose call caused it. If that is not certain, no caller gets it.

import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { createGateway } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, gatewayOf, upstream } from './fixture.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
// All schedules take 20 seconds on an idle machine.
if (isFullRun) vi.setConfig({ testTimeout: 300_000 });
const canElicit = { elicitation: { form: {} } };
const form = { type: 'object', properties: { name: { type: 'string' } } } as const;

/** A server whose calls go on when the test says so. */
function stepping() {
  const server = createServer({ name: 'stepping', version: '1.0.0', logger: false });
  const steps = new Map<string, () => void>();
  server.tool('ask', {
    input: { type: 'object', properties: { id: { type: 'string' } } },
    run: async (args, ctx) => {
      const { id } = args as { id: string };
      await new Promise<void>((resolve) => steps.set(id, resolve));
      try {
        ctx.log('warning', `log of ${id}`);
        const answer = await ctx.elicit(`question of ${id}`, form);
        return `${id}: ${answer.action === 'accept' ? answer.content.name : answer.action}`;
      } catch (error) {
        return `${id}: rejected (${(error as Error).message})`;
      }
    },
  });
  return { server, steps };
}

/** A client that answers every question with its own name. */
async function answering(server: Server, name: string): Promise<TestClient> {
  const client = await TestClient.open(server, '2025-11-25', canElicit, {
    transport: 'memory',
    principal: { id: name },
  });
  const answered = new Set<unknown>();
  const answer = async (): Promise<void> => {
    const { id } = await client.next((each) => each.method === 'elicitation/create' && !answered.has(each.id));
    answered.add(id);
    client.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } });
    await answer();
  };
  void answer();
  return client;
}

const textOf = ({ result }: Message): string => result.content[0].text;

const schedule = fc.array(fc.record({ caller: fc.constantFrom('ada', 'bob'), act: fc.constantFrom('start', 'step') }), {
  minLength: 2,
  maxLength: 12,
});

test('no question and no log message reaches another caller, however calls of two principals interleave', async () => {
  const { server, steps } = stepping();
  const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
  const clients = { ada: await answering(gateway.server, 'ada'), bob: await answering(gateway.server, 'bob') };
  await clients.ada.request('tools/list');
  let count = 0;
  await fc.assert(
    fc.asyncProperty(schedule, async (acts) => {
      const open: string[] = [];
      const results: Promise<readonly [string, string]>[] = [];
      const start = (caller: 'ada' | 'bob'): void => {
        const id = `${caller}-${++count}`;
        open.push(id);
        results.push(clients[caller].call('one__ask', { id }).then((message) => [caller, textOf(message)] as const));
      };
      const step = async (caller: string): Promise<void> => {
        const at = open.findIndex((id) => id.startsWith(caller));
        if (at === -1) return;
        const [id] = open.splice(at, 1) as [string];
        while (!steps.has(id)) await new Promise((resolve) => setImmediate(resolve));
        steps.get(id)?.();
      };
      for (const { caller, act } of acts) {
        if (act === 'start') start(caller as 'ada' | 'bob');
        else await step(caller);
      }
      while (open.length > 0) await step((open[0] as string).slice(0, 3));
      for (const [caller, text] of await Promise.all(results)) {
        expect(text).toMatch(new RegExp(`^${caller}-\\d+: (${caller}|rejected .*)$`));
      }
      for (const [name, client] of Object.entries(clients)) {
        const heard = client.received.filter(({ method }) => method !== undefined).map(({ params }) => params);
        const other = name === 'ada' ? 'bob' : 'ada';
        expect(JSON.stringify(heard)).not.toContain(`of ${other}-`);
        client.received.length = 0;
      }
    }),
    { numRuns: isFullRun ? 10_000 : 300 },
  );
});

test('a question is rejected while calls of two callers are in flight, and the status says so', async () => {
  const { server, steps } = stepping();
  const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
  const ada = await answering(gateway.server, 'ada');
  const bob = await answering(gateway.server, 'bob');
  const first = ada.call('one__ask', { id: 'ada-1' });
  const second = bob.call('one__ask', { id: 'bob-1' });
  await expect.poll(() => steps.size).toBe(2);
  steps.get('ada-1')?.();
  expect(textOf(await first)).toContain('ada-1: rejected');
  steps.get('bob-1')?.();
  expect(textOf(await second)).toBe('bob-1: bob');
  expect(gateway.status()[0]).toMatchObject({ ambiguousInput: true });
});

test('a question for a call that was just cancelled does not reach another caller', async () => {
  const { target, called } = scriptedUpstream(() => {});
  const config = upstream('one', { revision: '2025-11-25' });
  const gateway = createGateway(gatewayConfig([config]), { logger: false, target: () => target });
  closers.push(() => gateway.close());
  const ada = await answering(gateway.server, 'ada');
  const bob = await answering(gateway.server, 'bob');
  await ada.request('tools/list');
  const calls = (): number => called()?.received.filter(({ method }) => method === 'tools/call').length ?? 0;
  ada.send({ jsonrpc: '2.0', id: 'cancelled', method: 'tools/call', params: { name: 'one__work' } });
  await expect.poll(calls).toBe(1);
  const waiting = bob.call('one__work');
  await expect.poll(calls).toBe(2);
  ada.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'cancelled' } });
  await called().next(({ method }) => method === 'notifications/cancelled');
  const params = { message: 'question of ada', requestedSchema: form };
  expect((await called().request('q', 'elicitation/create', params)).error).toMatchObject({ code: -32603 });
  expect(JSON.stringify(bob.received)).not.toContain('question of ada');
  called().send({
    id: called().received.findLast(({ method }) => method === 'tools/call')?.id,
    result: { content: [] },
  });
  await waiting;
});

test('a log message that names a task of no call in flight reaches no caller', async () => {
  const { target, called } = scriptedUpstream(() => {});
  const gateway = createGateway(gatewayConfig([upstream('one', { revision: '2025-11-25' })]), {
    logger: false,
    target: () => target,
  });
  closers.push(() => gateway.close());
  const bob = await answering(gateway.server, 'bob');
  await bob.request('tools/list');
  const call = bob.call('one__work');
  await expect.poll(() => called()?.received.at(-1)?.method).toBe('tools/call');
  const related = { 'io.modelcontextprotocol/related-task': { taskId: 'of-ada' } };
  const log = (data: string, _meta?: object): void =>
    called().send({ method: 'notifications/message', params: { level: 'error', data, ...(_meta && { _meta }) } });
  log('of ada', related);
  log('of bob');
  await bob.next(({ params }) => params?.data === 'of bob');
  expect(JSON.stringify(bob.received)).not.toContain('of ada');
  called().send({ id: called().received.at(-1)?.id, result: { content: [] } });
  await call;
});

test.each(['principal', 'session', 'call'] as const)(
  'with isolation %s, callers do not get in each other’s way',
  async (isolation) => {
    const { server, steps } = stepping();
    const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25', isolation });
    const ada = await answering(gateway.server, 'ada');
    const bob = await answering(gateway.server, 'bob');
    const calls = [ada.call('one__ask', { id: 'ada-1' }), bob.call('one__ask', { id: 'bob-1' })];
    await expect.poll(() => steps.size).toBe(2);
    for (const step of steps.values()) step();
    expect((await Promise.all(calls)).map(textOf)).toEqual(['ada-1: ada', 'bob-1: bob']);
  },
);

test('the clients of one user share a connection, and each is asked for what it supports itself', async () => {
  const { server, steps } = stepping();
  const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25', isolation: 'principal' });
  const silent = await TestClient.open(
    gateway.server,
    '2025-11-25',
    {},
    { transport: 'memory', principal: { id: 'ada' } },
  );
  const asked = await answering(gateway.server, 'ada');
  const call = async (client: TestClient, id: string): Promise<string> => {
    const answer = client.call('one__ask', { id });
    await expect.poll(() => steps.has(id)).toBe(true);
    steps.get(id)?.();
    return textOf(await answer);
  };
  expect(await call(silent, 'first')).toContain('first: rejected');
  expect(await call(asked, 'second')).toBe('second: ada');
});
