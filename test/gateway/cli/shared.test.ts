// `mooring connect`: clients on stdio that share one gateway.

import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { askGateway } from '../../../src/app/gateway/control-socket.ts';
import { type Client, connect } from '../../../src/client/index.ts';
import { initializeBody } from '../../support/http-client.ts';
import { isRunning } from '../../support/is-running.ts';
import { cli, useHome } from '../../support/program.ts';
import { gatewaysOf, runtimeOf, serverEntry, socketsOf, textFrom, textOf, toolNames, writeConfig } from './support.ts';

const home = useHome();
const clients: Client[] = [];

const sockets = (): string => socketsOf(home);
const gateways = (): number[] => gatewaysOf(home);

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const pid of gateways().filter(isRunning)) process.kill(pid, 'SIGKILL');
});

interface Started {
  readonly revision?: '2026-07-28' | '2025-11-25' | '2024-11-05';
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

async function connectShared(
  args: readonly string[],
  { revision = '2025-11-25', cwd, env: more }: Started = {},
): Promise<Client> {
  const env = { ...home.env, ...runtimeOf(home), ...more };
  const target = [process.execPath, cli, 'connect', ...args];
  const client = await connect(target, { env, cwd: cwd ?? home.folder, revision, reconnect: false });
  clients.push(client);
  return client;
}

const pidOf = async (client: Client, tool: string): Promise<number> =>
  JSON.parse(textOf(await client.callTool(tool))).pid;

const command = (args: readonly string[]) => home.run(args, { env: runtimeOf(home) });

/** The end of a program that a client has started. */
async function endOf(client: Client): Promise<void> {
  await vi.waitUntil(() => !isRunning(client.pid as number), { timeout: 10_000 });
}

function oneServer(more: object = {}): string {
  return writeConfig(home, {
    mcpServers: { notes: serverEntry(home, 'notes', [{ name: 'read' }, { name: 'write' }]) },
    ...more,
  });
}

test('ten clients of all kinds that start together have one gateway and one process for each server', async () => {
  const names = Array.from({ length: 8 }, (_, n) => `s${n}`);
  const config = writeConfig(home, {
    mcpServers: Object.fromEntries(names.map((name) => [name, serverEntry(home, name, [{ name: 'read' }])])),
  });
  const revisions = ['2026-07-28', '2025-11-25', '2024-11-05'] as const;
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, n) => connectShared(['--config', config], { revision: revisions[n % 3]! })),
  );
  const pids = await Promise.all(all.map((client) => Promise.all(names.map((name) => pidOf(client, `${name}__read`)))));
  expect(new Set(pids.flat()).size).toBe(8);
  expect(gateways()).toHaveLength(1);
  const { stdout } = await command(['gateway', 'status', '--json']);
  expect(JSON.parse(stdout).gateways).toMatchObject([{ pid: gateways()[0], transport: 'socket', clients: 10 }]);
});

test('clients share a gateway if they have the same folder and options', async () => {
  const config = oneServer();
  const other = home.file('other');
  mkdirSync(other);
  const pid = async (args: readonly string[], cwd?: string): Promise<number> =>
    pidOf(await connectShared(['--config', config, ...args], cwd === undefined ? {} : { cwd }), 'notes__read');
  const first = await pid([]);
  expect(await pid([])).toBe(first);
  const inOther = await pid([], other);
  expect(inOther).not.toBe(first);
  expect(await pid(['--folder', other])).toBe(inOther);
  expect(await pid(['--folder', `~/${relative(home.path, other)}/`])).toBe(inOther);
  symlinkSync(other, home.file('link'));
  expect(await pid(['--folder', 'link'])).toBe(inOther);
  expect(await pid(['--log-level', 'debug'])).not.toBe(first);
});

test('each client has its own view of the same gateway', async () => {
  const config = oneServer({ gateway: { views: { safe: { tools: { exclude: ['*__write'] } } } } });
  const whole = await connectShared(['--config', config]);
  const safe = await connectShared(['--config', config, '--view', 'safe']);
  expect(await toolNames(whole)).toEqual(['notes__read', 'notes__write']);
  expect(await toolNames(safe)).toEqual(['notes__read']);
  await expect(safe.callTool('notes__write')).rejects.toThrow('notes__write');
  expect(await pidOf(safe, 'notes__read')).toBe(await pidOf(whole, 'notes__read'));
  const { code, stderr } = await command(['connect', '--config', config, '--view', 'saef']);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no view "saef"') });
  expect(gateways()).toHaveLength(1);
});

test('a change of the file reaches the clients that are connected', async () => {
  const client = await connectShared(['--config', oneServer()]);
  expect(await toolNames(client)).toEqual(['notes__read', 'notes__write']);
  writeConfig(home, { mcpServers: { more: serverEntry(home, 'more', [{ name: 'add' }]) } });
  await vi.waitUntil(async () => (await toolNames(client)).join() === 'more__add', { timeout: 20_000, interval: 100 });
});

test('a client that closes stdin gets the responses to what it has sent, and others are not disturbed', async () => {
  const config = oneServer();
  const other = await connectShared(['--config', config]);
  const text = 'x'.repeat(3_000_000);
  const messages = [
    {
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 1, method: 'tools/call', params: { name: 'notes__read', arguments: { text } } },
  ];
  const input = messages.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join('');
  const { code, stdout } = await home.run(['connect', '--config', config], { env: runtimeOf(home), input });
  const received = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [initialized, called] = [0, 1].map((id) => received.find((each) => each.id === id));
  expect(initialized).toMatchObject({ id: 0, result: { serverInfo: { name: 'mooring-gateway' } } });
  expect(JSON.parse(textOf(called.result)).args.text).toBe(text);
  expect(code).toBe(0);
  expect(await pidOf(other, 'notes__read')).toBeGreaterThan(0);
});

test('a signal ends the program of one client only', async () => {
  const config = oneServer();
  const [one, other] = [await connectShared(['--config', config]), await connectShared(['--config', config])];
  const pid = await pidOf(other, 'notes__read');
  process.kill(one.pid as number, 'SIGTERM');
  await endOf(one);
  expect(await pidOf(other, 'notes__read')).toBe(pid);
});

test('when the gateway is killed, its servers and its clients end, and the next client starts another one', async () => {
  const config = oneServer();
  const child = home.start(['connect', '--config', config], { env: runtimeOf(home) });
  const said = textFrom(child);
  const client = await connectShared(['--config', config]);
  const server = await pidOf(client, 'notes__read');
  const [gateway] = gateways() as [number];
  // A client that is not connected yet would start another gateway.
  child.stdin?.write(`${JSON.stringify(initializeBody('2025-11-25'))}\n`);
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  const ended = once(child, 'close');
  process.kill(gateway, 'SIGKILL');
  expect(await ended).toEqual([1, null]);
  expect(said()).toContain('the shared gateway has ended');
  await endOf(client);
  await vi.waitUntil(() => !isRunning(server), { timeout: 10_000 });
  const next = await connectShared(['--config', config]);
  expect(await pidOf(next, 'notes__read')).not.toBe(server);
  expect(gateways().filter(isRunning)).toHaveLength(1);
});

test('the gateway ends some time after its last client, and removes its sockets', async () => {
  const args = ['--config', oneServer(), '--idle-seconds', '1'];
  const client = await connectShared(args);
  const [gateway] = gateways() as [number];
  const server = await pidOf(client, 'notes__read');
  await client.close();
  await vi.waitUntil(() => !isRunning(gateway), { timeout: 10_000 });
  expect(isRunning(server)).toBe(false);
  expect(readdirSync(sockets())).toEqual([]);
  expect(await pidOf(await connectShared(args), 'notes__read')).not.toBe(server);
});

test('"mooring gateway stop" ends it', async () => {
  const client = await connectShared(['--config', oneServer()]);
  const [gateway] = gateways() as [number];
  expect(await command(['gateway', 'stop'])).toMatchObject({ code: 0, stdout: `The gateway ${gateway} ends\n` });
  await vi.waitUntil(() => !isRunning(gateway), { timeout: 10_000 });
  await endOf(client);
  expect(await command(['gateway', 'stop'])).toMatchObject({ code: 1, stderr: 'mooring: No gateway is running\n' });
});

test('why a gateway does not start is said to each client', async () => {
  const config = home.file('servers.json');
  writeFileSync(config, '{"mcpServers": {', { mode: 0o600 });
  const failed = { code: 1, stdout: '', stderr: expect.stringContaining(`did not start: ${config}:1:17: `) };
  const both = await Promise.all([1, 2].map(() => command(['connect', '--config', config])));
  expect(both).toMatchObject([failed, failed]);
  expect(await command(['connect', '--config', config, '--folder', '/nowhere'])).toMatchObject({
    code: 2,
    stderr: 'mooring: --folder: /nowhere is not a folder\n',
  });
  expect(await command(['connect', '--config', config, '--http'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('serves on stdio'),
  });
});

test('only this user can connect, and read the log', async () => {
  await connectShared(['--config', oneServer()]);
  const mode = (path: string): number => statSync(path).mode & 0o777;
  expect(mode(sockets())).toBe(0o700);
  const files = readdirSync(sockets());
  expect(files.filter((name) => name.endsWith('.sock')).map((name) => mode(join(sockets(), name)))).toEqual([
    0o600, 0o600,
  ]);
  const data = join(home.path, '.local/share/mooring/gateway');
  const logs = readdirSync(data).filter((name) => name.endsWith('.log'));
  expect(logs.map((name) => mode(join(data, name)))).toEqual([0o600]);
  expect(readFileSync(join(data, logs[0] as string), 'utf8')).toContain('Server running');
});

test('an entry that connects to the gateway it belongs to is rejected', async () => {
  const config = home.file('servers.json');
  const again = { command: process.execPath, args: [cli, 'connect', '--config', config], env: runtimeOf(home) };
  writeConfig(home, { mcpServers: { again, notes: serverEntry(home, 'notes', [{ name: 'read' }]) } });
  const client = await connectShared(['--config', config]);
  expect(await pidOf(client, 'notes__read')).toBeGreaterThan(0);
  await vi.waitUntil(
    async () => (await command(['gateway', 'status'])).stdout.includes('has an entry that starts this gateway again'),
    { timeout: 20_000, interval: 200 },
  );
  expect(gateways()).toHaveLength(1);
});

test('of two gateways that contain each other, one does not show the other', { timeout: 60_000 }, async () => {
  const files = { one: home.file('one.json'), two: home.file('two.json') };
  const server = (name: string) => serverEntry(home, name, [{ name: 'read' }]);
  const to = (file: string) => ({
    command: process.execPath,
    args: [cli, 'connect', '--config', file],
    env: runtimeOf(home),
  });
  writeConfig(home, { mcpServers: { first: server('first'), two: to(files.two) } }, 'one.json');
  writeConfig(home, { mcpServers: { second: server('second'), one: to(files.one) } }, 'two.json');
  const [one, two] = await Promise.all([
    connectShared(['--config', files.one]),
    connectShared(['--config', files.two]),
  ]);
  const names = async () => [...(await toolNames(one)), ...(await toolNames(two))];
  await vi.waitUntil(
    async () => {
      await names();
      const { stdout } = await command(['gateway', 'status']);
      return /has an entry that starts this gateway again|leads back to the gateway that has this entry/.test(stdout);
    },
    { timeout: 30_000, interval: 200 },
  );
  const found = await names();
  expect(found).toEqual(expect.arrayContaining(['first__read', 'second__read']));
  // The tools of another gateway have two prefixes.
  expect(found.filter((name) => name.split('__').length > 3)).toEqual([]);
  expect(gateways()).toHaveLength(2);
});

/** The gateways above that of a process. */
const aboveOf = async (pid: number): Promise<string[]> =>
  ((await askGateway(join(sockets(), `gateway-${pid}.sock`), 'above')) as { above: string[] }).above;

/** Starts three gateways; returns their files, ids, and sockets. */
async function threeGateways() {
  const configs = [1, 2, 3].map((n) => {
    const content = { mcpServers: { [`s${n}`]: serverEntry(home, `s${n}`, [{ name: 'read' }]) } };
    return writeConfig(home, content, `${n}.json`);
  }) as [string, string, string];
  const paths: string[] = [];
  const idsOf = async (config: string): Promise<string> => {
    const known = new Set(gateways());
    await connectShared(['--config', config]);
    const [pid] = gateways().filter((each) => !known.has(each));
    const own = readdirSync(sockets()).filter((name) => /^shared-.*\.sock$/.test(name));
    paths.push(own.map((name) => join(sockets(), name)).find((each) => !paths.includes(each)) as string);
    const { ids } = (await askGateway(join(sockets(), `gateway-${pid}.sock`), 'above')) as { ids: string[] };
    return ids.join(' ');
  };
  return { configs, paths, ids: [await idsOf(configs[0]), await idsOf(configs[1]), await idsOf(configs[2])] as const };
}

async function opened(path: string): Promise<Socket> {
  const socket = createConnection(path);
  await once(socket, 'connect');
  return socket;
}

/** As the servers of gateways that have started them before they had clients. */
const connectFrom = (outer: string, config: string): Promise<Client> =>
  connectShared(['--config', config], { env: { MOORING_OUTER_GATEWAYS: outer } });

test('of gateways that connect to each other at the same moment, only one is rejected', {
  timeout: 60_000,
}, async () => {
  const { paths, ids } = await threeGateways();
  for (const round of [
    [0, 1, 0],
    [1, 0, 1],
    [0, 1, 2, 0],
    [0, 2, 1, 0],
  ]) {
    const links = await Promise.all(round.slice(1).map((to) => opened(paths[to] as string)));
    // The requests of all are sent before the first one is answered.
    const answers = links.map((link, index) => {
      link.write(`${JSON.stringify({ pid: process.pid, outer: (ids[round[index] as 0] as string).split(' ') })}\n`);
      return once(link, 'data').then(String);
    });
    const rejected = (await Promise.all(answers)).filter((answer) => answer.includes('leads back'));
    expect(rejected).toHaveLength(1);
    for (const link of links) link.destroy();
    await vi.waitUntil(async () => (await Promise.all(gateways().map(aboveOf))).every((above) => above.length === 0));
  }
});

test('a gateway that connects to one of its clients is rejected, whatever its environment says', async () => {
  const { configs, ids } = await threeGateways();
  await connectFrom(ids[0], configs[1]);
  const link = await connectFrom(ids[1], configs[2]);
  const leadsBack = `${configs[0]} leads back to the gateway that has this entry`;
  await expect(connectFrom(ids[2], configs[0])).rejects.toThrow(leadsBack);
  await expect(connectFrom(ids[1], configs[0])).rejects.toThrow(leadsBack);
  // Two that share a third one are no circle.
  await connectFrom(ids[0], configs[2]);
  await Promise.all(clients.splice(clients.indexOf(link)).map((client) => client.close()));
  await vi.waitUntil(async () => (await connectFrom(ids[2], configs[0]).catch(() => undefined)) !== undefined, {
    timeout: 10_000,
  });
});

test('a gateway that was started by a server of another one is below that one only while the server is connected', async () => {
  const config = writeConfig(home, { mcpServers: { files: serverEntry(home, 'files', [{ name: 'read' }]) } });
  const server = await connectShared(['--config', config], { env: { MOORING_OUTER_GATEWAYS: 'another' } });
  await connectShared(['--config', config]);
  const above = (): Promise<string[]> => aboveOf(gateways()[0] as number);
  expect(await above()).toEqual(['another']);
  await server.close();
  await vi.waitUntil(async () => (await above()).length === 0, { timeout: 10_000 });
});

test('one server of a command line is shared, too', async () => {
  const { command: program, args } = serverEntry(home, 'notes', [{ name: 'read' }]) as {
    command: string;
    args: string[];
  };
  const line = ['--', program, ...args];
  const [one, other] = [await connectShared(line), await connectShared(line, { revision: '2026-07-28' })];
  expect(await pidOf(one, 'read')).toBe(await pidOf(other, 'read'));
});
