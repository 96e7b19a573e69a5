// `mooring connect` when something is wrong: folders, sockets, processes that are killed or do not read.

import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { isRunning } from '../../support/is-running.ts';
import { useHome } from '../../support/program.ts';
import { gatewaysOf, runtimeOf, serverEntry, socketsOf, textFrom, writeConfig } from './support.ts';

const home = useHome();

afterEach(killGateways);

const env = (): Record<string, string> => runtimeOf(home);

const oneServer = (): string =>
  writeConfig(home, { mcpServers: { notes: serverEntry(home, 'notes', [{ name: 'read' }]) } });

/** A client that connects and leaves. Returns the path of the socket of its gateway, which runs. */
async function sharedSocket(config: string, args: readonly string[] = []): Promise<string> {
  const { code, stderr } = await home.run(['connect', '--config', config, ...args], { env: env() });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return join(socketsOf(home), readdirSync(socketsOf(home)).find((name) => /^shared-.*\.sock$/.test(name)) as string);
}

async function killGateways(): Promise<void> {
  const pids = gatewaysOf(home).filter(isRunning);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await vi.waitUntil(() => !pids.some(isRunning), { timeout: 10_000 });
}

const message = (content: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...content })}\n`;

const initialize =
  message({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  }) + message({ method: 'notifications/initialized' });

/** What a gateway responds to a client that connects. */
async function firstLineFrom(path: string): Promise<unknown> {
  const socket = connectSocket(path);
  socket.write('{"pid":1}\n');
  const [line] = await once(socket.setEncoding('utf8'), 'data');
  socket.destroy();
  return JSON.parse(line);
}

test('a socket in a folder that another user can replace is not used', async () => {
  const config = oneServer();
  const path = await sharedSocket(config);
  await killGateways();
  rmSync(socketsOf(home), { recursive: true });
  const elsewhere = home.file('elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, socketsOf(home));
  let connections = 0;
  const impostor = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((listening) => impostor.listen(path, listening));
  try {
    const { code, stderr } = await home.run(['connect', '--config', config], { env: env() });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `mooring: ${socketsOf(home)} belongs to another user, or is a link. Remove it, or set XDG_RUNTIME_DIR to a folder of yours\n`,
    });
    expect(connections).toBe(0);
  } finally {
    impostor.close();
  }
});

test('a path that is too long for a socket is rejected', async () => {
  const folder = join(home.path, 'long'.repeat(25));
  mkdirSync(folder, { mode: 0o700 });
  const failed = { code: 2, stderr: expect.stringContaining('is too long for a socket. Set XDG_RUNTIME_DIR') };
  const config = oneServer();
  expect(await home.run(['connect', '--config', config], { env: { XDG_RUNTIME_DIR: folder } })).toMatchObject(failed);
  const path = join(folder, 'own.sock');
  expect(await home.run(['gateway', '--config', config, '--socket', path], { env: env() })).toMatchObject(failed);
});

test('of several gateways for one socket, one listens', async () => {
  const path = join(socketsOf(home), 'own.sock');
  mkdirSync(socketsOf(home), { recursive: true, mode: 0o700 });
  const args = ['gateway', '--config', oneServer(), '--socket', path];
  const children = Array.from({ length: 4 }, () => home.start(args, { env: env() }));
  const ended = children.map(async (child) => {
    const said = textFrom(child);
    const [code] = await once(child, 'close');
    return { code, said: said() };
  });
  const rejected = { code: 2, said: expect.stringContaining(`Another process listens on ${path}`) };
  const firstThree = new Promise<object[]>((done) => {
    const all: object[] = [];
    for (const each of ended) void each.then((end) => all.push(end) === 3 && done(all));
  });
  expect(await firstThree).toMatchObject([rejected, rejected, rejected]);
  expect(gatewaysOf(home).filter(isRunning)).toHaveLength(1);
  expect(await firstLineFrom(path)).toEqual({ pid: gatewaysOf(home).find(isRunning) });
});

test('a file that is not a socket is not replaced by one', async () => {
  const path = home.file('notes.txt');
  writeFileSync(path, 'important');
  const { code, stderr } = await home.run(['gateway', '--config', oneServer(), '--socket', path], { env: env() });
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('is not a socket') });
  expect(readFileSync(path, 'utf8')).toBe('important');
});

test('a client that connects in the moment in which the gateway ends starts another one', async () => {
  const config = oneServer();
  const path = await sharedSocket(config);
  await killGateways();
  rmSync(path);
  const ending = createServer((socket) => {
    ending.close();
    socket.destroy();
  });
  await new Promise<void>((listening) => ending.listen(path, listening));
  expect(await sharedSocket(config)).toBe(path);
  expect(gatewaysOf(home).filter(isRunning)).toHaveLength(1);
});

test('settings for HTTP do not concern a shared gateway', async () => {
  const config = oneServer();
  const { code } = await home.run(['connect', '--config', config], { env: { ...env(), MOORING_HTTP: 'true' } });
  expect(code).toBe(0);
  const data = join(home.path, '.local/share/mooring/gateway');
  const logs = readdirSync(data).filter((name) => name.endsWith('.log'));
  expect(logs.map((name) => readFileSync(join(data, name), 'utf8')).join()).not.toContain('no effect');
});

test('a connection that is not read does not keep the gateway from ending', async () => {
  const idle = ['--idle-seconds', '1'];
  const path = await sharedSocket(oneServer(), idle);
  const [gateway] = gatewaysOf(home).filter(isRunning) as [number];
  const socket = connectSocket({ path, allowHalfOpen: true });
  socket.on('error', () => {});
  const text = 'x'.repeat(3_000_000);
  socket.write(`{"pid":1}\n${initialize}`);
  socket.end(message({ id: 1, method: 'tools/call', params: { name: 'notes__read', arguments: { text } } }));
  await vi.waitUntil(() => !isRunning(gateway), { timeout: 30_000 });
  socket.destroy();
});

test('a signal ends the program of a client that does not read', async () => {
  const child = home.start(['connect', '--config', oneServer()], { env: env() });
  const text = 'x'.repeat(3_000_000);
  child.stdin?.write(initialize);
  child.stdin?.end(message({ id: 1, method: 'tools/call', params: { name: 'notes__read', arguments: { text } } }));
  // The response has begun. What does not fit into the pipe stays in the program.
  const stdout = child.stdout as Readable;
  stdout.on('readable', () => {});
  try {
    await vi.waitUntil(() => stdout.readableLength > 10_000, { timeout: 30_000 });
    child.kill('SIGTERM');
    await vi.waitUntil(() => child.exitCode === 0, { timeout: 30_000 });
  } finally {
    stdout.destroy();
  }
});

test('a client that closes stdout is not told that the gateway has ended', async () => {
  const child = home.start(['connect', '--config', oneServer()], { env: env() });
  const said = textFrom(child);
  const ended = once(child, 'close');
  await vi.waitUntil(() => said().includes('Connected'), { timeout: 30_000 });
  child.stdout?.destroy();
  child.stdin?.on('error', () => {}); // It may have ended.
  child.stdin?.write(initialize);
  expect(await ended).toEqual([0, null]);
  expect(said()).not.toContain('has ended');
});

test('a log that cannot be created, and a gateway that is killed while it starts, are reported', async () => {
  const config = oneServer();
  const killed = `if (process.argv[2] === 'gateway') process.kill(process.pid, 'SIGKILL')`;
  const options = `--import=data:text/javascript,${encodeURIComponent(killed)}`;
  expect(await home.run(['connect', '--config', config], { env: { ...env(), NODE_OPTIONS: options } })).toMatchObject({
    code: 1,
    stderr: 'mooring: The shared gateway did not start: its process ended with SIGKILL\n',
  });
  rmSync(join(home.path, '.local'), { recursive: true });
  writeFileSync(join(home.path, '.local'), '');
  expect(await home.run(['connect', '--config', config], { env: env() })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^mooring: The log of the shared gateway cannot be created: .*\. Make its folder .*\n$/,
    ),
  });
});
