import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../connect.ts';
import { ScriptedServer, type Sent, scriptError } from '../testing/scripted-server.ts';
import type { Change } from './changes.ts';
import type { Subscription } from './subscriptions.ts';

const key = 'io.modelcontextprotocol/subscriptionId';
const updated = (uri: string, tag?: unknown) => ({
  method: 'notifications/resources/updated',
  params: { uri, ...(tag === undefined ? {} : { _meta: { [key]: tag } }) },
});

/** Agrees to every subscription, on either era. */
const agreeing = (era: 'handshake' | 'stateless') =>
  new ScriptedServer(era, {
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
    'subscriptions/listen': ({ id, params }, self) => {
      const { notifications } = params as { notifications: object };
      self.say({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta: { [key]: id } } });
      return undefined;
    },
  });

afterEach(() => void vi.useRealTimers());

async function take(subscription: Subscription, count: number): Promise<Change[]> {
  const changes: Change[] = [];
  for await (const change of subscription) {
    changes.push(change);
    if (changes.length === count) break;
  }
  return changes;
}

test('a session subscribes, is notified of changes and of changed parts, and unsubscribes', async () => {
  const server = agreeing('handshake');
  const client = await connect(server.target);
  const subscription = await client.subscribe('demo://a');
  for (const uri of ['demo://other', 'demo://a', 'demo://a/part']) server.say(updated(uri));
  expect(await take(subscription, 2)).toEqual([
    { kind: 'resource', uri: 'demo://a' },
    { kind: 'resource', uri: 'demo://a/part' },
  ]);
  expect(server.of('resources/unsubscribe').map(({ params }) => params?.['uri'])).toEqual(['demo://a']);
});

test('a resource with another open subscription is not unsubscribed', async () => {
  const server = agreeing('handshake');
  const client = await connect(server.target);
  const [first, second] = [await client.subscribe('demo://a'), await client.subscribe('demo://a')];
  await first.close();
  expect(server.of('resources/unsubscribe')).toEqual([]);
  await second.close();
  expect(server.of('resources/unsubscribe')).toHaveLength(1);
});

test('without sessions each subscription has a stream of its own, ended by a cancellation', async () => {
  const server = agreeing('stateless');
  const client = await connect(server.target);
  const [a, b] = [await client.subscribe('demo://a'), await client.watch({ tools: true, uris: ['demo://b'] })];
  const [first, second] = server.of('subscriptions/listen') as [Sent, Sent];
  expect(first.params?.['notifications']).toEqual({ resourceSubscriptions: ['demo://a'] });
  expect(second.params?.['notifications']).toEqual({ toolsListChanged: true, resourceSubscriptions: ['demo://b'] });
  server.say(updated('demo://a', first.id));
  server.say({ method: 'notifications/tools/list_changed', params: { _meta: { [key]: second.id } } });
  expect(await take(a, 1)).toEqual([{ kind: 'resource', uri: 'demo://a' }]);
  expect(await take(b, 1)).toEqual([{ kind: 'tools' }]);
  await vi.waitFor(() => expect(server.of('notifications/cancelled')).toHaveLength(2), 20_000);
});

test('a resource the server leaves out of its acknowledgement is an error', async () => {
  const server = new ScriptedServer('stateless', {
    'subscriptions/listen': ({ id }, self) => {
      self.say({
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: {}, _meta: { [key]: id } },
      });
      return undefined;
    },
  });
  await expect((await connect(server.target)).subscribe('demo://a')).rejects.toMatchObject({ code: 'not-offered' });
});

test('a rejected subscription rejects', async () => {
  const server = new ScriptedServer('handshake', {
    'resources/subscribe': () => scriptError(-32602, 'never heard of it'),
  });
  await expect((await connect(server.target)).subscribe('demo://a')).rejects.toThrow('never heard of it');
});

test('what happens while no one looks is told once', async () => {
  const server = agreeing('handshake');
  const subscription = await (await connect(server.target)).subscribe('demo://a');
  for (let n = 0; n < 1000; n++) server.say(updated('demo://a'));
  server.say(updated('demo://a/part'));
  expect((await take(subscription, 2)).map(({ uri }) => uri)).toEqual(['demo://a', 'demo://a/part']);
});

test('a lost connection is opened again, with a word that something may have been missed', async () => {
  for (const era of ['handshake', 'stateless'] as const) {
    const server = agreeing(era);
    const client = await connect(server.target);
    const subscription = await client.watch({ prompts: true, uris: ['demo://a'] });
    server.break();
    expect(await take(subscription, 2)).toEqual([
      { kind: 'prompts', missed: true },
      { kind: 'resource', uri: 'demo://a', missed: true },
    ]);
    expect(server.connections).toBe(2);
    await client.close();
  }
});

test('a stream the server ends is opened again', async () => {
  const server = agreeing('stateless');
  const subscription = await (await connect(server.target)).subscribe('demo://a');
  server.say({ id: server.of('subscriptions/listen')[0]?.id, result: { resultType: 'complete' } });
  expect(await take(subscription, 1)).toEqual([{ kind: 'resource', uri: 'demo://a', missed: true }]);
  expect(server.of('subscriptions/listen')).toHaveLength(2);
});

test('a server that ends every subscription at once is asked ever more rarely, until one lasts', async () => {
  vi.useFakeTimers();
  let isEnding = true;
  const server = new ScriptedServer('stateless', {
    'subscriptions/listen': ({ id, params }, self) => {
      const { notifications } = params as { notifications: object };
      self.say({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta: { [key]: id } } });
      return isEnding ? { resultType: 'complete', _meta: { [key]: id } } : undefined;
    },
  });
  const client = await connect(server.target);
  await client.subscribe('demo://a');
  const asked = () => server.of('subscriptions/listen').length;
  const within = async (ms: number): Promise<number> => {
    const before = asked();
    await vi.advanceTimersByTimeAsync(ms);
    return asked() - before;
  };
  expect(await within(60_000)).toBeLessThan(20);
  expect(await within(60_000)).toBeLessThanOrEqual(12);
  isEnding = false;
  await within(60_000);
  server.say({ id: server.of('subscriptions/listen').at(-1)?.id, result: { resultType: 'complete' } });
  expect(await within(300)).toBe(1);
  await client.close();
});

test('aborting, unsubscribing and closing the client each end the iteration', async () => {
  const abort = new AbortController();
  const ends: ((client: Awaited<ReturnType<typeof connect>>) => unknown)[] = [
    () => abort.abort(),
    (client) => client.unsubscribe('demo://a'),
    (client) => client.close(),
  ];
  for (const end of ends) {
    const client = await connect(agreeing('stateless').target);
    const subscription = await client.subscribe('demo://a', {
      signal: abort.signal.aborted ? undefined : abort.signal,
    });
    const changes = take(subscription, 1);
    await end(client);
    expect(await changes).toEqual([]);
  }
});

test('an acknowledged subscription has no time limit', async () => {
  vi.useFakeTimers();
  const server = agreeing('stateless');
  const client = await connect(server.target, { timeoutMs: 30, maxTimeoutMs: 60 });
  const subscription = await client.subscribe('demo://a');
  await vi.advanceTimersByTimeAsync(120);
  server.say(updated('demo://a', server.of('subscriptions/listen')[0]?.id));
  expect(await take(subscription, 1)).toEqual([{ kind: 'resource', uri: 'demo://a' }]);
});

test('list changes are delivered on revisions that require a subscription', async () => {
  const server = new ScriptedServer('stateless', {
    'server/discover': () => ({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, prompts: {} },
    }),
    'subscriptions/listen': ({ id, params }, self) => {
      const { notifications } = params as { notifications: object };
      self.say({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta: { [key]: id } } });
      return undefined;
    },
  });
  const heard: string[] = [];
  await connect(server.target, { onListChanged: (kind) => heard.push(kind) });
  const [listen] = server.of('subscriptions/listen') as [Sent];
  expect(listen.params?.['notifications']).toEqual({ toolsListChanged: true });
  server.say({ method: 'notifications/tools/list_changed', params: { _meta: { [key]: listen.id } } });
  expect(heard).toEqual(['tools']);
});

test('a subscription that is closed while the server hesitates rejects, and is taken back', async () => {
  let answer = (): void => {};
  const server = new ScriptedServer('handshake', {
    'resources/subscribe': ({ id }, self) => {
      answer = () => self.say({ id, result: {} });
      return undefined;
    },
    'resources/unsubscribe': () => ({}),
  });
  const client = await connect(server.target);
  const stop = new AbortController();
  const subscribing = client.subscribe('demo://a', { signal: stop.signal });
  await vi.waitFor(() => expect(server.of('resources/subscribe')).toHaveLength(1), 20_000);
  stop.abort();
  answer();
  await expect(subscribing).rejects.toMatchObject({ code: 'cancelled' });
  await vi.waitFor(() => expect(server.of('resources/unsubscribe')).toHaveLength(1), 20_000);
});

test('who subscribes while the last one leaves is heard after the farewell', async () => {
  let farewell = (): void => {};
  const server = new ScriptedServer('handshake', {
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': ({ id }, self) => {
      farewell = () => self.say({ id, result: {} });
      return undefined;
    },
  });
  const client = await connect(server.target);
  const first = await client.subscribe('demo://a');
  const leaving = first.close();
  await vi.waitFor(() => expect(server.of('resources/unsubscribe')).toHaveLength(1), 20_000);
  const second = client.subscribe('demo://a');
  await client.subscribe('demo://b');
  expect(server.of('resources/subscribe').map(({ params }) => params?.['uri'])).toEqual(['demo://a', 'demo://b']);
  farewell();
  await Promise.all([leaving, second]);
  expect(server.of('resources/subscribe')).toHaveLength(3);
});
