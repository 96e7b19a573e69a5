// mooring list: the servers that are configured in the AI clients on this machine.

import { type ConfiguredServer, clientFiles, configuredServers } from '../../app/clients/configured.ts';
import { decodeEntry } from '../../app/clients/server-config.ts';
import { shortened } from '../../app/config/folders.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { command } from '../command.ts';
import type { Output } from '../ui/output.ts';
import { table } from '../ui/table.ts';
import { clientName } from './install.ts';

const help = `Usage: mooring list [client] [options]

Lists every server that is configured in an AI client on this machine, and in which file: the files of the user, and of
the project in this folder. Values of variables and headers are not shown. "mooring doctor --all" checks these servers.

Options:
  --json         print JSON
  -h, --help     show this help
`;

const options = {
  json: { type: 'boolean' },
} as const;

export const run = command({ name: 'list', help, options }, async ({ values, positionals, out }) => {
  const [asked, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Usage: mooring list [client]');
  const only = asked === undefined || asked === 'mooring' ? asked : clientName(asked);
  const files = clientFiles().filter(({ client }) => only === undefined || client === only);
  const { servers, unreadable } = await configuredServers(files);
  if (values.json === true) out.json(servers.map(toJson));
  else print(servers, out);
  for (const { file, reason } of unreadable) {
    out.info(`${out.style.warn('warning:')} ${shortened(file.file)} cannot be read: ${reason}\n`);
  }
  return 0;
});

function toJson(server: ConfiguredServer): object {
  const { name, client, file, disabled, written } = server;
  const { command, args, url, env = {}, headers = {} } = decodeEntry(written);
  return {
    name,
    client,
    scope: scopeOf(server),
    file,
    disabled,
    ...(command === undefined ? { url: url ?? null } : { command, args: args ?? [] }),
    env: Object.keys(env),
    headers: Object.keys(headers),
  };
}

/** Claude Code keeps servers of single projects in the file of the user. */
function scopeOf({ scope, section }: ConfiguredServer): string {
  return section[0] === 'projects' ? `project ${shortened(section[1] as string)}` : scope;
}

function print(servers: readonly ConfiguredServer[], out: Output): void {
  const { style, width } = out;
  if (servers.length === 0) {
    out.info('No servers are configured. "mooring install --list" shows the files of all clients.\n');
    return;
  }
  type Row = ConfiguredServer;
  const columns = [
    { title: 'server', text: ({ name }: Row) => lineForTerminal(name, 40), paint: (text: string) => style.name(text) },
    { title: 'client', text: ({ client }: Row) => client },
    { title: 'scope', text: (row: Row) => lineForTerminal(scopeOf(row), 60) },
    { title: 'file', text: ({ file }: Row) => shortened(file) },
    {
      title: 'command or URL',
      text: ({ written, disabled }: Row) => `${targetOf(written)}${disabled ? ' (disabled)' : ''}`,
      paint: (text: string, row: Row) => (row.disabled ? style.faint(text) : text),
    },
  ];
  out.write(table(servers, columns, { style, width }));
}

function targetOf(written: unknown): string {
  const { command, args = [], url } = decodeEntry(written);
  return lineForTerminal(command === undefined ? (url ?? 'invalid entry') : [command, ...args].join(' '), 300);
}
