// `mooring connect` when something is wrong: folders, sockets, processes that are killed or do not read.

import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { isRunning } from '../../support/is-running.ts';
import { useHome } from '../../support/program.ts';
import { gatewaysOf, runtimeOf, serverEntry, socketsOf, writeConfig } from './support.ts';

const home = useHome();

afterEach(killGateways);

const env = (): Record<string, string> => runtimeOf(home);

const oneServer = (): string =>
  writeConfig(home, { mcpServers: { notes: serverEntry(home, 'notes', [{ name: 'read' }]) } });

/** A client that connects and leaves. Returns the path of the socket of its gateway, which runs. */
async function sharedSocket(config: string): Promise<string> {
  const { code, stderr } = await home.run(['connect', '--config', config], { env: env() });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return join(socketsOf(home), readdirSync(socketsOf(home)).find((name) => /^shared-.*\.sock$/.test(name)) as string);
}

async function killGateways(): Promise<void> {
  const pids = gatewaysOf(home).filter(isRunning);
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await vi.waitUntil(() => !pids.some(isRunning), { timeout: 10_000 });
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
