// Resources that clients follow through a gateway: as long as one of them does, and whatever happens to the upstream meanwhile.

import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Client,
  ClientError,
  inMemory,
  type Subscription,
  type TransportListener,
} from '../../src/client/index.ts';
import { createGateway, type Gateway, type UpstreamConfig } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';
import { type Fields, scripted } from './answers.ts';
import { clientOf, gatewayConfig, gatewayOf, upstream } from './fixture.ts';

const closers = useClosers(afterEach);
const uri = 'note:///1';
const script = join(import.meta.dirname, 'servers/resources.mjs');

const started = (revision: string, given: Partial<UpstreamConfig> = {}): UpstreamConfig =>
  upstream('notes', { entry: { command: process.execPath, args: [script] }, revision, ...given });

function gatewayWith(config: UpstreamConfig): Gateway {
  const gateway = createGateway(gatewayConfig([config]), { logger: false });
  closers.push(() => gateway.close());
  return gateway;
}

/** A server in memory with the resource. `touch` announces a change of it. */
function notes(): Server {
  const server = createServer({ name: 'notes', version: '1.0.0', logger: false });
  server.resource(uri, { name: 'one', read: () => 'text' });
  server.tool('touch', {
    run: () => {
      server.resourceUpdated(uri);
      return 'touched';
    },
  });
  return server;
}

const follow = (client: Client): Promise<Subscription> =>
  client.mustListen ? client.watch({ uris: [uri] }) : client.subscribe(uri);

/** Calls `touch` until the change arrives: a subscription that is made again is not announced. */
async function expectChange(client: Client, subscription: Subscription, prefix = 'notes__'): Promise<void> {
  const changed = subscription[Symbol.asyncIterator]().next();
  let isOver = false;
  const over = changed.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await client.callTool(`${prefix}touch`);
    await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
  expect((await changed).value).toMatchObject({ uri });
}

const pairs = ['2025-11-25', '2026-07-28'].flatMap((down) => ['2025-11-25', '2026-07-28'].map((up) => [down, up]));

describe.each(pairs)('a client of %s and a server of %s', (down, up) => {
  test('a resource is followed again when the server has ended, was restarted, or has a new entry', async () => {
    const gateway = gatewayWith(started(up));
    const client = await clientOf(closers, gateway.server, { revision: down });
    const subscription = await follow(client);
    await expectChange(client, subscription);
    await client.callTool('notes__crash').catch(() => {});
    await expectChange(client, subscription);
    await gateway.restart('notes');
    await expectChange(client, subscription);
    await gateway.reload(gatewayConfig([started(up, { timeoutMs: 20_000 })]));
    await expectChange(client, subscription);
  });

  test('one view that does not follow it any more does not end it for another', async () => {
    const gateway = gatewayWith(started(up));
    const all = await clientOf(closers, gateway.server, { revision: down });
    const single = await clientOf(closers, gateway.serverAt('/s/notes') as Gateway['server'], { revision: down });
    const [subscription, other] = [await follow(all), await follow(single)];
    await expectChange(all, subscription);
    await expectChange(single, other, '');
    await other.close();
    await expectChange(all, subscription);
  });
});

test('a server whose lists are not known yet can be followed by the first request', async () => {
  const server = notes();
  const other = createServer({ name: 'other', version: '1.0.0', logger: false });
  const gateway = gatewayOf(closers, { notes: server, other });
  const client = await clientOf(closers, gateway.server, { revision: '2026-07-28' });
  await expectChange(client, await client.watch({ uris: [uri] }));
});

test('a server that goes and comes back is followed again', async () => {
  const server = notes();
  const gateway = createGateway(gatewayConfig([upstream('notes')]), { logger: false, target: () => inMemory(server) });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
  const subscription = await client.subscribe(uri);
  await expectChange(client, subscription);
  await gateway.reload(gatewayConfig([]));
  await gateway.reload(gatewayConfig([upstream('notes')]));
  await expect.poll(async () => (await client.listTools({ cache: 'refresh' })).length).toBe(1);
  await expectChange(client, subscription);
});

test('the process of a session that has ended is not needed for a resource that another session follows', async () => {
  const gateway = gatewayWith(started('2025-11-25', { isolation: 'session' }));
  const [one, other] = await Promise.all(
    [1, 2].map(() => clientOf(closers, gateway.server, { revision: '2025-11-25' })),
  );
  const subscriptions = [await follow(one as Client), await follow(other as Client)];
  await expectChange(one as Client, subscriptions[0] as Subscription);
  // The lists were read over one of them.
  expect(gateway.status()[0]?.connections).toBe(2);
  await one?.close();
  await expect.poll(() => gateway.status()[0]?.connections).toBe(1);
  await expectChange(other as Client, subscriptions[1] as Subscription);
});

/** What a subscription has reported, from now on. */
function changesOf(subscription: Subscription): unknown[] {
  const changes: unknown[] = [];
  void (async () => {
    for await (const change of subscription) changes.push(change.uri);
  })();
  return changes;
}

test.each([
  ['2025-11-25', '2025-11-25'],
  ['2025-11-25', '2026-07-28'],
])('with a process for each session, its changes reach only that session (%s, %s)', async (first, second) => {
  const gateway = gatewayWith(started('2025-11-25', { isolation: 'session' }));
  const one = await clientOf(closers, gateway.server, { revision: first });
  const other = await clientOf(closers, gateway.server, { revision: second });
  const [ofOne, ofOther] = [changesOf(await follow(one)), changesOf(await follow(other))];
  await one.callTool('notes__touch');
  await expect.poll(() => ofOne).toEqual([uri]);
  await other.callTool('notes__touch');
  await expect.poll(() => ofOther).toEqual([uri]);
  expect(ofOne).toEqual([uri]);
});

/**
 * A gateway whose upstreams are written out: the messages of each connection are recorded. `stop` ends the first of them, or all, and no new one
 * can be opened until there is no `failure` any more.
 */
function recorded(isolation: UpstreamConfig['isolation'], given: Partial<UpstreamConfig> = {}) {
  const connections: Fields[][] = [];
  const listeners: TransportListener[] = [];
  const server = {
    failure: undefined as ClientError | undefined,
    /** How often a connection could not be opened. */
    attempts: 0,
    stop: (failure: ClientError, count = listeners.length) => {
      server.failure = failure;
      for (const listener of listeners.splice(0, count))
        listener.lost(new ClientError('connection-lost', 'it has ended'));
    },
  };
  const opening = { capabilities: { resources: { subscribe: true } } };
  const answers = {
    'resources/list': () => ({ resources: [{ uri, name: 'one' }] }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
  };
  const gateway = createGateway(gatewayConfig([upstream('notes', { isolation, ...given })]), {
    logger: false,
    retryDownMs: 100,
    target: () => () => {
      const requests: Fields[] = [];
      connections.push(requests);
      const transport = scripted(answers, requests, opening)();
      const open = async (listener: TransportListener): Promise<void> => {
        if (server.failure !== undefined) {
          server.attempts++;
          throw server.failure;
        }
        listeners.push(listener);
        await transport.open(listener);
      };
      return { ...transport, open };
    },
  });
  closers.push(() => gateway.close());
  /** What each connection that follows something was asked for. */
  const subscriptions = (): string[][] =>
    connections
      .map((requests) => requests.map(({ method }) => String(method)).filter((each) => each.includes('subscribe')))
      .filter((each) => each.length > 0);
  return { gateway, server, subscriptions };
}

const notThere = new ClientError('connect-failed', 'it is not there');
const peerOf = (id: string) => ({ transport: 'memory', principal: { id } }) as const;

test('with a connection for each user, the subscription of a user that leaves ends, while another follows', async () => {
  const { gateway, subscriptions } = recorded('principal');
  const open = (id: string) => TestClient.open(gateway.server, '2025-11-25', {}, peerOf(id));
  const [ada, second, bob] = [await open('ada'), await open('ada'), await open('bob')];
  for (const client of [ada, second, bob]) {
    expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
  }
  await expect.poll(subscriptions).toEqual([['resources/subscribe'], ['resources/subscribe']]);
  await ada.request('resources/unsubscribe', { uri });
  second.channel.close();
  await expect.poll(subscriptions).toEqual([['resources/subscribe', 'resources/unsubscribe'], ['resources/subscribe']]);
  await bob.request('resources/unsubscribe', { uri });
  await expect.poll(() => subscriptions()[1]).toEqual(['resources/subscribe', 'resources/unsubscribe']);
});

test('with a connection for each call, what a session follows has one, which ends with it', async () => {
  const { gateway, subscriptions } = recorded('call');
  const client = await TestClient.open(gateway.server, '2025-11-25', {}, peerOf('ada'));
  await client.request('resources/subscribe', { uri });
  await expect.poll(subscriptions).toEqual([['resources/subscribe']]);
  client.channel.close();
  await expect.poll(() => gateway.status()[0]?.connections).toBe(0);
});

test.each(['shared', 'principal', 'session', 'call'] as const)(
  'what callers follow is followed again, without a call, when a server that was down is back (isolation %s)',
  async (isolation) => {
    const { gateway, server, subscriptions } = recorded(isolation, { entry: { command: 'notes' } });
    for (const id of ['ada', 'bob']) {
      const client = await TestClient.open(gateway.server, '2025-11-25', {}, peerOf(id));
      expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
    }
    const connections = isolation === 'shared' ? 1 : 2;
    await expect.poll(subscriptions).toHaveLength(connections);
    server.stop(notThere);
    await expect.poll(() => gateway.status()[0]?.state).toBe('down');
    server.failure = undefined;
    await expect.poll(subscriptions).toHaveLength(2 * connections);
  },
);

test('what callers follow is followed again if the server is back before all of their connections have failed', async () => {
  const { gateway, server, subscriptions } = recorded('call', { entry: { command: 'notes' } });
  for (const id of ['ada', 'bob']) {
    const client = await TestClient.open(gateway.server, '2025-11-25', {}, peerOf(id));
    expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
  }
  // One connection fails twice and is given up, the other one succeeds at its second attempt.
  Object.defineProperty(server, 'failure', { get: () => (server.attempts < 3 ? notThere : undefined), set: () => {} });
  server.stop(notThere);
  await expect.poll(subscriptions).toHaveLength(4);
});

test('what is followed over HTTP is followed again when the server is back, also if its client has given up', async () => {
  const { gateway, server, subscriptions } = recorded('principal');
  const client = await TestClient.open(gateway.server, '2025-11-25', {}, peerOf('ada'));
  await client.request('resources/subscribe', { uri });
  // The client of the gateway does not try again what cannot pass by itself.
  server.stop(new ClientError('not-mcp', 'another server responds'));
  await expect.poll(() => server.attempts).toBeGreaterThan(0);
  server.failure = notThere;
  expect((await client.request('resources/read', { uri })).error).toBeDefined();
  expect(gateway.status()[0]?.state).toBe('down');
  server.failure = undefined;
  await expect.poll(() => gateway.status()[0]?.state).toBe('ready');
  await expect.poll(subscriptions).toHaveLength(2);
});

test('what one caller follows is followed again when its connection, which could not be opened, can be', async () => {
  const { gateway, server, subscriptions } = recorded('principal', { entry: { command: 'notes' } });
  for (const id of ['ada', 'bob']) {
    const client = await TestClient.open(gateway.server, '2025-11-25', {}, peerOf(id));
    await client.request('resources/subscribe', { uri });
  }
  server.stop(notThere, 1);
  await expect.poll(() => gateway.status()[0]?.state).toBe('degraded');
  expect(subscriptions()).toHaveLength(2);
  server.failure = undefined;
  await expect.poll(subscriptions).toHaveLength(3);
  await expect.poll(() => gateway.status()[0]?.state).toBe('ready');
});
