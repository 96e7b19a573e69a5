// Changes that are announced in one process reach the clients of all processes, once each.
import { afterEach, expect, test } from 'vitest';
import type { ChangeAudience } from '../../src/engine/changes/audience.ts';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { Principal } from '../../src/protocol/callers/principal.ts';
import { settled, TestBuses } from '../support/bus.ts';

let buses = new TestBuses();
afterEach(() => {
  buses.close();
  buses = new TestBuses();
});

async function start(name = 'shared', prepare: (server: Server) => void = () => {}) {
  const joined = await buses.join();
  const server = createServer({ name, version: '1', logger: false, bus: joined.bus });
  server.resourceTemplate('memo://{id}', { name: 'Memo', read: () => 'text' });
  server.tool('a', { run: () => 'a' });
  prepare(server);
  return { ...joined, server };
}

/** A client on a pipe that follows resources and lists; gives what it is told. */
async function follow(server: Server, uris: readonly string[], principal?: Principal): Promise<string[]> {
  return (await connectFollower(server, uris, principal)).told;
}

async function connectFollower(
  server: Server,
  uris: readonly string[],
  principal?: Principal,
  onTold: () => void = () => {},
) {
  const told: string[] = [];
  let responses = 0;
  const receive = (text: string | undefined): boolean => {
    // A notification has no response.
    if (text === undefined) return true;
    const { method, params } = JSON.parse(text) as { method?: string; params?: { uri?: string } };
    if (method === undefined) responses++;
    else {
      told.push(params?.uri ?? method);
      onTold();
    }
    return true;
  };
  const outlet = { duplex: true, push: receive, end: receive };
  const channel = server.connect({ transport: 'memory', ...(principal && { principal }) }, outlet);
  const clientInfo = { name: 'c', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  channel.receive({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  channel.receive({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const uri of uris) {
    channel.receive({ jsonrpc: '2.0', id: uri, method: 'resources/subscribe', params: { uri } });
  }
  await expect.poll(() => responses).toBe(1 + uris.length);
  return { channel, outlet, told };
}

test('a change reaches the clients of every process once, however often it is announced in one turn', async () => {
  const [a, b] = [await start(), await start()];
  const [atA, atB] = [await follow(a.server, ['memo://1']), await follow(b.server, ['memo://1'])];
  for (let n = 0; n < 5; n++) a.server.resourceUpdated('memo://1');
  a.server.resourceUpdated('memo://2');
  await settled(a.server, b.server);
  expect([atA, atB]).toEqual([['memo://1'], ['memo://1']]);
});

test('a stream that is opened while a change is being announced gets it once', async () => {
  const [a, b] = [await start(), await start()];
  let open: () => void = () => {};
  const first = await connectFollower(b.server, ['memo://1'], undefined, () => open());
  const { channel, outlet, told } = await connectFollower(b.server, ['memo://1']);
  await settled(a.server, b.server);
  channel.setOutlet(undefined);
  const before = b.bus.position;
  // When the first one has been notified, and the other one has not.
  open = () => {
    open = () => {};
    for (const text of channel.changesSince(before)) outlet.push(text);
    channel.setOutlet(outlet);
  };
  a.server.resourceUpdated('memo://1');
  await settled(a.server, b.server);
  expect([first.told, told]).toEqual([['memo://1'], ['memo://1']]);
  a.server.resourceUpdated('memo://1');
  await settled(a.server, b.server);
  expect([first.told.length, told.length]).toEqual([2, 2]);
});

test('a change that is announced all the time is published less often, and the last one is not lost', async () => {
  const [a, b] = [await start(), await start()];
  const atB = await follow(b.server, ['memo://1']);
  await settled(a.server, b.server);
  const before = b.bus.position;
  const announce = async (): Promise<void> => {
    a.server.resourceUpdated('memo://1');
    // Until it has been published, in the same turn of the event loop.
    for (let n = 0; n < 5; n++) await Promise.resolve();
  };
  for (let n = 0; n < 500; n++) await announce();
  // Ten of them, and the last one.
  await expect.poll(() => b.bus.position - before).toBe(11);
  await settled(a.server, b.server);
  const told = atB.length;
  expect(told).toBeGreaterThan(0);
  a.server.resourceUpdated('memo://1');
  await expect.poll(() => atB.length).toBe(told + 1);
});

test('a list that another process has changed is read again before clients are notified, and later changes follow', async () => {
  const [a, b] = [await start(), await start()];
  const order = await follow(b.server, ['memo://1']);
  let read: () => void = () => {};
  b.server.onRemoteChange('tools', async () => {
    order.push('reads');
    await new Promise<void>((resolve) => {
      read = resolve;
    });
    b.server.tool('new', { run: () => 'new' });
    order.push('has read');
  });
  a.server.toolsChanged();
  a.server.resourceUpdated('memo://1');
  await expect.poll(() => order).toEqual(['reads']);
  // Nothing that is known here has reached its clients yet.
  expect(b.server.changesPosition).toBeLessThan(b.bus.position);
  read();
  await settled(a.server, b.server);
  expect(order).toEqual(['reads', 'has read', 'notifications/tools/list_changed', 'memo://1']);
  // What this process announces itself is there already.
  b.server.toolsChanged();
  await settled(a.server, b.server);
  expect(order.slice(4)).toEqual(['notifications/tools/list_changed']);
});

test('clients are notified of a list that could not be read again', async () => {
  const [a, b] = [await start(), await start()];
  const atB = await follow(b.server, []);
  b.server.onRemoteChange('tools', () => {
    throw new Error('no database');
  });
  a.server.toolsChanged();
  await settled(a.server, b.server);
  expect(atB).toEqual(['notifications/tools/list_changed']);
});

test('a change that each process notices is announced once, also if only one of them notices it', async () => {
  const [a, b] = [await start(), await start()];
  const [atA, atB] = [await follow(a.server, ['memo://1']), await follow(b.server, ['memo://1'])];
  for (let n = 0; n < 2; n++) {
    for (const { server } of [a, b]) {
      server.resourceUpdated('memo://1', undefined, 'each-process');
      server.resourcesChanged('each-process');
      await settled(a.server, b.server);
    }
  }
  const once = ['memo://1', 'notifications/resources/list_changed'];
  expect([atA, atB]).toEqual([
    [...once, ...once],
    [...once, ...once],
  ]);
});

const alice: Principal = { id: 'alice' };
const bob: Principal = { id: 'bob', issuer: 'https://issuer.example' };
test.each<[string, ChangeAudience, { alice: number; bob: number; anonymous: number }]>([
  ['one caller', alice, { alice: 1, bob: 0, anonymous: 0 }],
  ['several callers', [alice, bob], { alice: 1, bob: 1, anonymous: 0 }],
  ['callers without a principal', [undefined], { alice: 0, bob: 0, anonymous: 1 }],
  ['no caller', [], { alice: 0, bob: 0, anonymous: 0 }],
  ['the same id of another issuer', { id: 'bob' }, { alice: 0, bob: 0, anonymous: 0 }],
])('an audience of %s applies in every process', async (_name, audience, expected) => {
  const [a, b] = [await start(), await start()];
  for (const { server } of [a, b]) {
    const told = {
      alice: await follow(server, ['memo://1'], alice),
      bob: await follow(server, ['memo://1'], bob),
      anonymous: await follow(server, ['memo://1']),
    };
    a.server.resourceUpdated('memo://1', audience);
    await settled(a.server, b.server);
    const counts = { alice: told.alice.length, bob: told.bob.length, anonymous: told.anonymous.length };
    expect(counts).toEqual(expected);
  }
});

test('an audience given as a function is applied in this process and notifies no other', async () => {
  const [a, b] = [await start(), await start()];
  const [atA, atB] = [await follow(a.server, ['memo://1'], alice), await follow(b.server, ['memo://1'], alice)];
  a.server.resourceUpdated('memo://1', (principal) => principal?.id === 'alice');
  await settled(a.server, b.server);
  expect([atA, atB]).toEqual([['memo://1'], []]);
});

test('each process decides by its own rules who may hear of a change', async () => {
  const [a, b] = [
    await start(),
    await start('shared', (server) => server.restrict((_kind, key) => key !== 'memo://1')),
  ];
  const [atA, atB] = [await follow(a.server, ['memo://1']), await follow(b.server, ['memo://1'])];
  b.server.resourceUpdated('memo://1');
  await settled(a.server, b.server);
  expect([atA, atB]).toEqual([['memo://1'], []]);
});

test('a change of a mounted server is announced with its restrictions in every process', async () => {
  const inners: Server[] = [];
  const mountInner = (server: Server): void => {
    const inner = createServer({ name: 'library', version: '1', logger: false });
    inner.resource('book://emma', { name: 'Emma', read: () => 'text' });
    inner.resource('book://secret', { name: 'Secret', read: () => 'text' });
    inner.restrict((_kind, _key, principal) => principal?.id === 'alice');
    server.mount('library', inner);
    inners.push(inner);
  };
  const [a, b] = [await start('shared', mountInner), await start('shared', mountInner)];
  const atAlice = await follow(b.server, ['book://emma'], alice);
  const atBob = await follow(b.server, ['book://emma'], bob);
  inners[0]?.resourceUpdated('book://emma');
  await settled(a.server, b.server);
  expect([atAlice, atBob]).toEqual([['book://emma'], []]);
});

test('a registration is announced in its process, and toolsChanged in all', async () => {
  const [a, b] = [await start(), await start()];
  const [atA, atB] = [await follow(a.server, []), await follow(b.server, [])];
  const changed = 'notifications/tools/list_changed';
  b.server.tool('later', { run: () => 'x' });
  await settled(a.server, b.server);
  expect([atA, atB]).toEqual([[], [changed]]);
  b.server.toolsChanged();
  await settled(a.server, b.server);
  expect([atA, atB]).toEqual([[changed], [changed, changed]]);
});
