// `dbus://` resources through the wire, on a real bus with a real service; and our encoding of its messages, checked by
// the programs that come with the bus.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { createServer, type Server } from '../../src/engine/server.ts';
import { BusConnection, theBus } from '../../src/packs/dbus/connection.ts';
import { dbus } from '../../src/packs/dbus/index.ts';
import { haveBus, type Properties, startBus, TestService } from '../support/private-bus.ts';
import { afterwards, makeFolder, memoryLogger, useProfiles } from '../support/profile.ts';
import { cli, useHome } from '../support/program.ts';
import { findProgram } from '../support/programs.ts';
import { TestClient } from '../support/test-client.ts';

useProfiles();
const home = useHome();

const run = promisify(execFile);

const everything: Properties = {
  'org.example.Everything': {
    Byte: { signature: 'y', value: 200 },
    Yes: { signature: 'b', value: true },
    Small: { signature: 'n', value: -12 },
    Port: { signature: 'q', value: 65_535 },
    Signed: { signature: 'i', value: -70_000 },
    Unsigned: { signature: 'u', value: 4_000_000_000 },
    Long: { signature: 'x', value: -9_007_199_254_740_993n },
    Huge: { signature: 't', value: 42n },
    Ratio: { signature: 'd', value: 0.25 },
    Text: { signature: 's', value: 'zażółć 😀' },
    Path: { signature: 'o', value: '/org/example' },
    Shape: { signature: 'g', value: 'a{sv}' },
    Names: { signature: 'as', value: ['one', 'two'] },
    Empty: { signature: 'a(ix)', value: [] },
    Pairs: {
      signature: 'a(sy)',
      value: [
        ['a', 1],
        ['b', 2],
      ],
    },
    Map: { signature: 'a{us}', value: new Map([[7, 'seven']]) },
    Nested: { signature: 'a{sv}', value: { inner: { signature: 'aau', value: [[1], [2, 3]] } } },
    Ssid: { signature: 'ay', value: Buffer.from('café\0') },
    Bytes: { signature: 'ay', value: Buffer.from([0, 255, 1]) },
    Password: { signature: 's', value: 'hunter2' },
  },
};

async function make(
  services: readonly string[],
  addresses: readonly string[],
  lines = memoryLogger(),
): Promise<Server> {
  const server = createServer({ name: 'bus', version: '1', logger: lines });
  await server.use(dbus({ buses: addresses, services }));
  afterwards(() => server.close());
  return server;
}

describe.skipIf(!haveBus)('on a real bus', () => {
  test('S4-13 S4-48: running services that were allowed are listed by name, and no others', async () => {
    const { address, path } = await startBus();
    await TestService.start(path, 'org.freedesktop.NetworkManager', everything);
    await TestService.start(path, 'org.example.Secret', everything);
    const client = await TestClient.open(await make(['org.freedesktop.NetworkManager'], [address]), '2024-11-05');
    expect((await client.request('resources/list')).result.resources).toEqual([
      {
        uri: 'dbus://service/org.freedesktop.NetworkManager',
        name: 'NetworkManager Service Info',
        mimeType: 'application/json',
      },
    ]);
    for (const name of [
      'org.example.Secret',
      'org.freedesktop.DBus',
      ':1.0',
      'org.freedesktop.NetworkManager%2Fx',
      '../x',
    ]) {
      const { error } = await client.request('resources/read', { uri: `dbus://service/${name}` });
      expect(error?.code, name).toBe(-32002);
    }
  });

  test('S4-15: a service is described as JSON: owner, objects, interfaces, properties of every type', async () => {
    const { address, path } = await startBus();
    const service = await TestService.start(path, 'org.example.Test', everything);
    const client = await TestClient.open(await make(['org.example.*'], [address]), '2024-11-05');
    const uri = 'dbus://service/org.example.Test';
    const { result } = await client.request('resources/read', { uri });
    expect(result.contents).toHaveLength(1);
    expect(result.contents[0]).toMatchObject({ uri, mimeType: 'application/json' });
    const info = JSON.parse(result.contents[0].text);
    expect(info).toMatchObject({ service: 'org.example.Test', processId: process.pid, truncated: false });
    expect(info.owner).toMatch(/^:1\./);
    expect(info.objects).toEqual({
      '/org/example/Test': {
        'org.example.Everything': {
          methods: ['Ping(s) -> s'],
          signals: ['Happened(u)'],
          properties: {
            ...{ Byte: 200, Yes: true, Small: -12, Port: 65_535, Signed: -70_000, Unsigned: 4_000_000_000 },
            ...{ Long: '-9007199254740993', Huge: 42, Ratio: 0.25, Text: 'zażółć 😀', Path: '/org/example' },
            ...{
              Shape: 'a{sv}',
              Names: ['one', 'two'],
              Empty: [],
              Pairs: [
                ['a', 1],
                ['b', 2],
              ],
              Map: { 7: 'seven' },
            },
            ...{ Nested: { inner: [[1], [2, 3]] }, Ssid: 'café', Bytes: 'base64:AP8B', Password: '[redacted]' },
          },
        },
      },
    });
    expect(service.calls.every((call) => /Introspect$|GetAll$/.test(call))).toBe(true);
  });

  test('a service that is not there is not found, and reading does not start it', async () => {
    const { address } = await startBus();
    const client = await TestClient.open(await make(['org.example.*'], [address]), '2024-11-05');
    const { error } = await client.request('resources/read', { uri: 'dbus://service/org.example.Absent' });
    expect(error?.code).toBe(-32002);
  });

  test('the bus itself can be described: a peer that is not ours', async () => {
    const { address } = await startBus();
    const client = await TestClient.open(await make(['org.freedesktop.DBus'], [address]));
    const { result } = await client.request('resources/read', { uri: 'dbus://service/org.freedesktop.DBus' });
    const bus = JSON.parse(result.contents[0].text).objects['/org/freedesktop/DBus']['org.freedesktop.DBus'];
    expect(bus.methods).toContain('ListNames() -> as');
    expect(bus.properties.Interfaces).toContain('org.freedesktop.DBus.Monitoring');
  });

  test('S4-13 S4-15: without a list of services the bus itself is listed and read, wherever a bus answers', async () => {
    const { address } = await startBus();
    const uri = 'dbus://service/org.freedesktop.DBus';
    const server = createServer({ name: 'bus', version: '1', logger: memoryLogger() });
    await server.use(dbus({ buses: [address] }));
    afterwards(() => server.close());
    const client = await TestClient.open(server, '2024-11-05');
    const { resources } = (await client.request('resources/list')).result;
    expect(resources).toEqual([{ uri, name: 'DBus Service Info', mimeType: 'application/json' }]);
    const { contents } = (await client.request('resources/read', { uri })).result;
    expect(contents).toEqual([{ uri, mimeType: 'application/json', text: expect.any(String) }]);
    expect(JSON.parse(contents[0].text)).toMatchObject({ service: 'org.freedesktop.DBus' });
  });

  test.each(['DBUS_SYSTEM_BUS_ADDRESS', 'DBUS_SESSION_BUS_ADDRESS'])(
    'the profile system serves it over stdio and HTTP, for the bus that %s names',
    async (variable) => {
      const { address } = await startBus();
      const env = { [variable]: address };
      const uri = 'dbus://service/org.freedesktop.DBus';
      const args = ['system', '--data', makeFolder()];
      const piped = await connect([process.execPath, cli, 'serve', ...args], { env });
      afterwards(() => piped.close());
      const remote = await connect((await home.serve(args, { env })).url);
      afterwards(() => remote.close());
      for (const client of [piped, remote]) {
        const [content] = (await client.readResource(uri)).contents as readonly { text: string }[];
        expect(JSON.parse(content?.text as string)).toMatchObject({ service: 'org.freedesktop.DBus' });
      }
    },
  );

  test('services that start and stop change the list, changed properties are announced to subscribers', async () => {
    const { address, path } = await startBus();
    const service = await TestService.start(path, 'org.example.Test', everything);
    const client = await TestClient.open(await make(['org.example.*'], [address]), '2024-11-05');
    const uri = 'dbus://service/org.example.Test';
    expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
    service.set('org.example.Everything', 'Port', { signature: 'q', value: 1 });
    const told = await client.next((each) => each.method === 'notifications/resources/updated');
    expect(told.params).toEqual({ uri });
    await TestService.start(path, 'org.example.Later', everything);
    await client.next((each) => each.method === 'notifications/resources/list_changed');
    const { resources } = (await client.request('resources/list')).result;
    expect(resources.map((each: { uri: string }) => each.uri)).toEqual(['dbus://service/org.example.Later', uri]);
  });

  test('what we write is read by dbus-send as it was meant', async () => {
    const { address, path } = await startBus();
    await TestService.start(path, 'org.example.Test', everything);
    const { stdout } = await run(findProgram('dbus-send') as string, [
      ...[`--bus=${address}`, '--print-reply', '--dest=org.example.Test', '/org/example/Test'],
      ...['org.freedesktop.DBus.Properties.GetAll', 'string:org.example.Everything'],
    ]);
    const plain = stdout.replace(/\s+/g, ' ');
    for (const piece of [
      'string "Byte" variant byte 200',
      'string "Small" variant int16 -12',
      'string "Long" variant int64 -9007199254740993',
      'string "Ratio" variant double 0.25',
      'string "Text" variant string "zażółć 😀"',
      'string "Path" variant object path "/org/example"',
      'string "Pairs" variant array [ struct { string "a" byte 1 } struct { string "b" byte 2 } ]',
      'string "Map" variant array [ dict entry( uint32 7 string "seven" ) ]',
      'string "Nested" variant array [ dict entry( string "inner" variant array [ array [ uint32 1 ] array [ uint32 2 uint32 3 ] ] ) ]',
    ]) {
      expect(plain).toContain(piece);
    }
  });

  test('calls end when the caller disconnects, when no service responds, and when the bus ends', async () => {
    const { path } = await startBus();
    const bus = await BusConnection.open(path, { timeoutMs: 5_000 });
    const silent = await BusConnection.open(path);
    const [names] = await silent.call({ ...theBus, member: 'ListNames' });
    const destination = (names as string[]).filter((name) => name.startsWith(':')).at(-1) as string;
    const never = { destination, path: '/', interface: 'org.example.X', member: 'Y' };
    await expect(bus.call(never)).rejects.toMatchObject({ code: 'timeout' });
    const abort = new AbortController();
    const cancelled = bus.call(never, abort.signal);
    abort.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');
    const lost = bus.call(never);
    bus.close();
    await expect(lost).rejects.toMatchObject({ code: 'closed' });
    await expect(bus.call(never)).rejects.toMatchObject({ code: 'closed' });
    silent.close();
  });

  test('the description of a service ends before its properties fill the memory', async () => {
    const { address, path } = await startBus();
    const service = await TestService.start(path, 'org.example.Test', everything);
    const many = Array.from(
      { length: 100 },
      (_, n) => `<interface name="org.example.I${n}"><property name="P"/></interface>`,
    );
    service.hostile = ({ member }, reply) => {
      if (member === 'Introspect') reply('s', [`<node>${many.join('')}</node>`]);
      else reply('a{sv}', [{ P: { signature: 'as', value: Array(60).fill('x'.repeat(16_000)) } }]);
      return true;
    };
    const client = await TestClient.open(await make(['org.example.*'], [address]));
    const { result } = await client.request('resources/read', { uri: 'dbus://service/org.example.Test' });
    expect(result.contents[0].text.length).toBeLessThan(6_000_000);
    expect(JSON.parse(result.contents[0].text).truncated).toBe(true);
  });

  test('a message that is too long fails its own call, and the connection stays', async () => {
    const { path } = await startBus();
    const service = await TestService.start(path, 'org.example.Test', everything);
    const bus = await BusConnection.open(path);
    const waiting: (() => void)[] = [];
    service.hostile = ({ member }, reply) => {
      if (member === 'Wait') waiting.push(() => reply('s', ['done']));
      else reply('s', ['x'.repeat(6_000_000)]);
      return true;
    };
    const target = { destination: 'org.example.Test', path: '/', interface: 'org.example.Test' };
    const other = bus.call({ ...target, member: 'Wait' });
    await expect(bus.call({ ...target, member: 'Long' })).rejects.toMatchObject({ code: 'format' });
    waiting[0]?.();
    expect(await other).toEqual(['done']);
    bus.close();
  });

  test('reads of a service that does not respond leave turns for other callers', async () => {
    const { address, path } = await startBus();
    const service = await TestService.start(path, 'org.example.Test', everything);
    service.hostile = () => true;
    const server = await make(['org.example.*', 'org.freedesktop.DBus'], [address]);
    const mallory = await TestClient.open(server, undefined, {}, { transport: 'memory', principal: { id: 'mallory' } });
    const ada = await TestClient.open(server, undefined, {}, { transport: 'memory', principal: { id: 'ada' } });
    for (let n = 0; n < 300; n++) void mallory.request('resources/read', { uri: 'dbus://service/org.example.Test' });
    const { result } = await ada.request('resources/read', { uri: 'dbus://service/org.freedesktop.DBus' });
    expect(result.contents).toHaveLength(1);
    expect(service.calls.length).toBeLessThan(20);
  });

  test('requests at the same time share one new connection to a bus that was lost, and subscriptions continue', async () => {
    const folder = makeFolder();
    const first = await startBus(folder);
    await TestService.start(first.path, 'org.example.Test', everything);
    const client = await TestClient.open(await make(['org.example.*'], [first.address]), '2024-11-05');
    const uri = 'dbus://service/org.example.Test';
    await client.request('resources/subscribe', { uri });
    await first.stop();
    const second = await startBus(folder);
    const service = await TestService.start(second.path, 'org.example.Test', everything);
    const probe = await BusConnection.open(second.path);
    const connections = async (): Promise<number> => {
      const [names] = await probe.call({ ...theBus, member: 'ListNames' });
      return (names as string[]).filter((name) => name.startsWith(':')).length;
    };
    const before = await connections();
    await Promise.all(Array.from({ length: 50 }, () => client.request('resources/list')));
    expect(await connections()).toBe(before + 1);
    // The properties may have changed meanwhile, and may change again.
    await client.next((each) => each.method === 'notifications/resources/updated');
    service.set('org.example.Everything', 'Port', { signature: 'q', value: 1 });
    await client.next((each) => each.method === 'notifications/resources/updated');
    probe.close();
  });

  test('a bus that was lost is found again when it is back', async () => {
    const folder = makeFolder();
    const first = await startBus(folder);
    const client = await TestClient.open(await make(['org.example.*'], [first.address]));
    expect((await client.request('resources/list')).result.resources).toEqual([]);
    await first.stop();
    expect((await client.request('resources/list')).result.resources).toEqual([]);
    const second = await startBus(folder);
    await TestService.start(second.path, 'org.example.Test', everything);
    expect((await client.request('resources/list')).result.resources).toHaveLength(1);
  });
});

test('without a bus there are no resources of it, and the log says so', async () => {
  const logger = memoryLogger();
  const server = await make(['org.example.*'], ['unix:path=/nonexistent/bus', 'tcp:host=localhost,port=1'], logger);
  expect(server.catalog.resourceTemplates.size).toBe(0);
  expect(logger.lines.join('\n')).toContain('no bus can be reached');
});
