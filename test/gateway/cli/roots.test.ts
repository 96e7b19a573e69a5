// The roots of the client of a gateway on stdio, in front of the official filesystem server, which asks for them when it starts.

import { mkdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { type Client, connect } from '../../../src/client/index.ts';
import { cli, useHome } from '../../support/program.ts';
import { runtimeOf, textOf, writeConfig } from './support.ts';

const home = useHome();
const require = createRequire(import.meta.url);
const official = join(
  dirname(require.resolve('@modelcontextprotocol/server-filesystem/package.json')),
  'dist/index.js',
);

/** A new folder in the home folder. */
function folder(name: string): string {
  mkdirSync(home.file(name));
  return realpathSync(home.file(name));
}

/** The folders of the client; a test may replace them. */
let roots: string[] = [];

async function connectWithRoots(config: string): Promise<Client> {
  return connect([process.execPath, cli, 'gateway', '--config', config], {
    env: { ...home.env, ...runtimeOf(home) },
    cwd: home.folder,
    revision: '2025-11-25',
    handlers: { roots: () => roots.map((path) => ({ uri: pathToFileURL(path).href })) },
  });
}

const allowedIn = async (client: Client): Promise<string[]> =>
  textOf(await client.callTool('files__list_allowed_directories'))
    .split('\n')
    .slice(1);

test.each(['lazy', 'eager'] as const)('start: %s', async (start) => {
  const configured = folder(`configured-${start}`);
  const [first, second] = [folder(`first-${start}`), folder(`second-${start}`)];
  const files = { command: process.execPath, args: [official, configured], mooring: { start } };
  const config = writeConfig(home, { mcpServers: { files } }, `${start}.json`);
  // The second time the lists are known, and the server starts with the call.
  for (const isListed of [true, false]) {
    roots = [first];
    const client = await connectWithRoots(config);
    if (isListed) await client.listTools();
    await expect.poll(() => allowedIn(client)).toEqual([first]);
    roots = [second];
    client.rootsChanged();
    await expect.poll(() => allowedIn(client)).toEqual([second]);
    await client.close();
  }
});
