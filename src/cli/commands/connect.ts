// mooring connect: a client on stdio, connected to a gateway that it shares with other clients.

import { realpathSync, statSync } from 'node:fs';
import { thisPlatform, userConfigFile } from '../../app/config/folders.ts';
import { absolutePath } from '../../app/config/values.ts';
import { UsageError } from '../../app/usage-error.ts';
import { gatewayArgs } from '../gateway/gateway-args.ts';

const help = `Usage: mooring connect [--config FILE]… [--view NAME] [--folder DIR] [options]
       mooring connect [options] -- command …
       mooring connect URL [options]

Connects a client on stdio to a gateway that it shares with your other clients, so that each server runs once and not once
for each client. The first client starts the gateway; it ends when no client has been connected for 10 minutes.

Clients share a gateway if they have the same files and options, and are in the same folder. --folder names one folder for
all of them: servers start there, and paths are relative to it.

Options:
  --config FILE    servers to offer, as for "mooring gateway"; repeatable
  --view NAME      the view to serve; clients with different views share a gateway
  --folder DIR     the folder to work in, ~ for your home folder; default: the one that the client starts this command in
  --idle-seconds N end the gateway when no client has been connected for so long; default 600
  -h, --help       show this help

All options of "mooring gateway" apply that are not about HTTP. "mooring gateway status" shows the gateway, and "mooring
gateway stop" ends it.

Examples:
  mooring connect --config ~/.cursor/mcp.json --folder ~
  mooring connect --config servers.json --view coding
  mooring connect -- npx -y @modelcontextprotocol/server-memory
`;

export async function run(args: readonly string[]): Promise<number> {
  const given = await gatewayArgs({ name: 'connect', help }, args, [], {
    folder: { type: 'string' },
    'idle-seconds': { type: 'string' },
  });
  if (given === undefined) return 0;
  const { values, sources, view } = given;
  if (values['http'] === true) {
    throw new UsageError(
      '"mooring connect" serves on stdio. For HTTP, start "mooring gateway --http" and give clients its URL',
    );
  }
  const folder = folderOf(values['folder']);
  const files = sources.files.map((file) => absolutePath(file, folder, thisPlatform().home));
  const { connectShared } = await import('../../app/gateway/shared/connect-shared.ts');
  return connectShared({
    folder,
    view,
    args: [...optionsOf(values, files), ...targetOf(sources.target)],
    files: files.length === 0 ? userFile(sources.target) : files,
  });
}

/** What the gateway reads if no file is named. */
function userFile(target: string | readonly string[] | undefined): readonly string[] {
  return target === undefined ? [process.env['MOORING_CONFIG'] || userConfigFile(thisPlatform())] : [];
}

function folderOf(given: unknown): string {
  if (typeof given !== 'string') return process.cwd();
  const path = absolutePath(given, process.cwd(), thisPlatform().home);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--folder: ${path} is not a folder`);
  }
  // Clients share a gateway if they name the same folder in different ways, as those do that start in it.
  return realpathSync(path);
}

/** The options for the gateway, as they were given; the view is chosen by each client. */
function optionsOf(values: Readonly<Record<string, unknown>>, files: readonly string[]): string[] {
  const further = Object.entries(values)
    .filter(([name]) => !['config', 'view', 'folder'].includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => [value].flat().map((each) => (each === true ? `--${name}` : `--${name}=${each}`)));
  return [...files.map((file) => `--config=${file}`), ...further];
}

function targetOf(target: string | readonly string[] | undefined): readonly string[] {
  if (target === undefined) return [];
  return typeof target === 'string' ? [target] : ['--', ...target];
}
