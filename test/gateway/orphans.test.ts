// Processes that the gateway started end with it, even if it is killed, and do not start it again.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { isRunning } from '../support/is-running.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cli = join(import.meta.dirname, '../../dist/cli.js');
const script = join(import.meta.dirname, 'servers/faulty.mjs');

test.each([
  ['is closed', undefined],
  ['is killed', 'SIGKILL'],
] as const)('no process is left when the gateway %s', async (_how, signal) => {
  const folder = temporaryFolder();
  const config = join(folder, 'servers.json');
  const entry = { command: process.execPath, args: [script] };
  writeFileSync(config, JSON.stringify({ mcpServers: { one: entry, two: entry } }), { mode: 0o600 });
  const client = await connect([process.execPath, cli, 'gateway', '--config', config], {
    env: { XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder },
    reconnect: false,
  });
  const pids = await Promise.all(
    ['one__pid', 'two__pid'].map(async (tool) =>
      Number((await client.callTool(tool)).content.map((each) => (each as { text: string }).text)),
    ),
  );
  expect(pids.every(isRunning)).toBe(true);
  if (signal !== undefined) process.kill(client.pid as number, signal);
  await client.close();
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
});

test('a file with an entry that starts the same gateway does not start processes without end', async () => {
  const folder = temporaryFolder();
  const config = join(folder, 'servers.json');
  const gateway = [process.execPath, cli, 'gateway', '--config', config] as const;
  const [command, ...args] = gateway;
  writeFileSync(config, JSON.stringify({ mcpServers: { again: { command, args } } }), { mode: 0o600 });
  let log = '';
  const client = await connect(gateway, {
    env: { XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder },
    reconnect: false,
    onStderr: (text) => (log += text),
  });
  // Servers are started for the first list.
  void client.listTools().catch(() => {});
  await expect.poll(() => log).toContain('has an entry that starts this gateway again');
  await client.close();
});
