// mooring install and mooring uninstall: add or remove the entry in an AI client's configuration.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  type ClientConfigEntry,
  type ClientRow,
  clientAliases,
  clientFile,
  clients,
  type Scope,
} from '../../app/clients/clients.ts';
import { type EntryChange, hasEntry, install, readText, uninstall, withEntry } from '../../app/clients/edit.ts';
import { commandEntry, commandName, launchEntry, serveArguments } from '../../app/clients/launch.ts';
import { checkLaunch } from '../../app/clients/launch-check.ts';
import { shortened, thisPlatform } from '../../app/config/folders.ts';
import { profiles } from '../../app/profiles/index.ts';
import { nearest } from '../../app/text/nearest.ts';
import { forTerminal } from '../../app/untrusted-text.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs, UnknownOption } from '../parse-args.ts';
import { serveFlags } from '../serve-options.ts';
import { settingsFlags } from '../settings-flags.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { table } from '../ui/table.ts';

const names = Object.entries(clients)
  .map(([name, { title }]) => `  ${name.padEnd(17)}${title}`)
  .join('\n');

const installHelp = `Usage: mooring install <client> [options] [-- options of "mooring serve"]
       mooring install <client> [options] -- command …
       mooring install <client> [options] --url URL

Adds Mooring, or a server of your own, to the configuration of an AI client. The command is started once to see that it
works. The rest of the file stays unchanged, and so do keys and variables that you added to the entry. Each change keeps
a dated backup beside the file. Running the command again changes nothing.

Clients:
${names}

Options:
  --name NAME         name of the entry (default: mooring, or the name of the package or script)
  --profile NAME      profile to serve (see "mooring serve --help")
  --env NAME=VALUE    environment variable for the server; repeatable
  --url URL           connect to a running server instead of starting one
  --header 'N: V'     header for --url; repeatable
  --project           use the project's configuration in this folder instead of the user's
  --file FILE         use this configuration file
  --npx, --this       start through npx, or start this copy (default: the way you started it)
  --no-check          do not start the command before the entry is written
  --print             print the resulting file, change nothing
  --list              list all clients, their files, and whether Mooring is installed
  --json              print JSON
  -h, --help          show this help

Examples:
  mooring install claude-code
  mooring install cursor --project -- --root .
  mooring install zed -- node ./weather.js
  mooring install vscode --url http://127.0.0.1:8000/mcp
`;

const uninstallHelp = `Usage: mooring uninstall <client> [options]

Removes Mooring, or the server that --name names, from the configuration of an AI client. The rest of the file stays
unchanged.

Clients:
${names}

Options:
  --name NAME    name of the entry (default mooring)
  --project      use the project's configuration in this folder instead of the user's
  --file FILE    use this configuration file
  --json         print JSON
  -h, --help     show this help
`;

export const run = (args: readonly string[]): Promise<number> => act(args, 'install');
export const runUninstall = (args: readonly string[]): Promise<number> => act(args, 'uninstall');

async function act(args: readonly string[], command: 'install' | 'uninstall'): Promise<number> {
  const split = args.indexOf('--');
  const serverArgs = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = readFlags(split === -1 ? args : args.slice(0, split), command);
  const out = openOutput();
  if (values.help === true) {
    out.write(command === 'install' ? installHelp : uninstallHelp);
    return 0;
  }
  const row = values.list === true ? undefined : rowOf(positionals, command);
  const ownCommand = serverArgs[0] !== undefined && !serverArgs[0].startsWith('-') ? serverArgs : undefined;
  const name = values.name ?? (ownCommand === undefined ? 'mooring' : commandName(ownCommand));
  if (row === undefined) {
    list(name, values.json === true, out);
    return 0;
  }
  const file = fileOf(row, values);
  if (command === 'uninstall') {
    report(row, uninstall(row, file, name), name, values.json === true, out, 'Not installed');
    return 0;
  }
  const server = serverOf(values, serverArgs, ownCommand);
  const entry = row.encodeEntry(server);
  const text = readText(file) ?? '';
  // A file that cannot be changed is reported before anything is started.
  const next = withEntry(row, file, text, name, entry);
  if (values.print === true) {
    out.info(`${row.title}: ${shortened(file)}\n`);
    out.write(next);
    return 0;
  }
  if (values['no-check'] !== true) {
    const own = ownCommand === undefined ? serveArguments({ profile: values.profile, args: serverArgs }) : undefined;
    await requireLaunch(server, own, out);
  }
  report(row, install(row, file, name, entry), name, values.json === true, out);
  return 0;
}

function readFlags(
  args: readonly string[],
  command: 'install' | 'uninstall',
): { values: InstallFlags; positionals: string[] } {
  try {
    return readArgs(command, args, {
      name: { type: 'string' },
      json: { type: 'boolean' },
      project: { type: 'boolean' },
      file: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      ...(command === 'uninstall' ? {} : installOptions),
    }) as { values: InstallFlags; positionals: string[] };
  } catch (error) {
    const option = command === 'install' && error instanceof UnknownOption ? error.option : undefined;
    if (option === undefined || !Object.hasOwn({ ...serveFlags, ...settingsFlags() }, option)) throw error;
    const client = args.find((word) => Object.hasOwn(clients, word)) ?? '<client>';
    throw new UsageError(
      `--${option} is an option of "mooring serve", so it goes after --: mooring install ${client} -- --${option} …`,
    );
  }
}

/** Fails if the client could not start the server; warnings are shown. */
async function requireLaunch(
  server: ClientConfigEntry,
  own: readonly string[] | undefined,
  out: Output,
): Promise<void> {
  const { errors, warnings } = await checkLaunch(server, own);
  for (const { detail, remedy } of warnings) {
    out.info(`${out.style.warn('warning:')} ${forTerminal(detail)}. ${forTerminal(remedy)}\n`);
  }
  const [first] = errors;
  if (first === undefined) return;
  throw new Error(
    `The server does not work, so nothing was written: ${forTerminal(first.detail)} [${first.id}]\n${forTerminal(first.remedy)}\n--no-check writes the entry without starting the server`,
  );
}

const installOptions = {
  profile: { type: 'string' },
  env: { type: 'string', multiple: true },
  url: { type: 'string' },
  header: { type: 'string', multiple: true },
  npx: { type: 'boolean' },
  this: { type: 'boolean' },
  'no-check': { type: 'boolean' },
  print: { type: 'boolean' },
  list: { type: 'boolean' },
} as const;

interface InstallFlags {
  readonly name?: string;
  readonly json?: boolean;
  readonly 'no-check'?: boolean;
  readonly project?: boolean;
  readonly file?: string;
  readonly help?: boolean;
  readonly profile?: string;
  readonly env?: readonly string[];
  readonly url?: string;
  readonly header?: readonly string[];
  readonly npx?: boolean;
  readonly this?: boolean;
  readonly print?: boolean;
  readonly list?: boolean;
}

function rowOf([asked, ...more]: readonly string[], command: string): ClientRow {
  if (asked === undefined) throw new UsageError(`Name a client: ${Object.keys(clients).join(', ')}`);
  if (more.length > 0) {
    throw new UsageError(
      `Give one client at a time, and put options of "mooring serve" after --. See "mooring ${command} --help"`,
    );
  }
  return clients[clientName(asked)] as ClientRow;
}

/** The name in the table of clients. */
export function clientName(asked: string): string {
  const name = clientAliases[asked.toLowerCase()] ?? asked.toLowerCase();
  if (Object.hasOwn(clients, name)) return name;
  const meant = nearest(name, Object.keys(clients));
  const hint = meant === undefined ? `choose one of ${Object.keys(clients).join(', ')}` : `did you mean ${meant}?`;
  throw new UsageError(`Unknown client ${JSON.stringify(asked)}; ${hint}`);
}

function fileOf(row: ClientRow, { file, project }: InstallFlags): string {
  if (file !== undefined) return resolve(file);
  const scope: Scope = project === true ? 'project' : 'user';
  const found = clientFile(row, scope, thisPlatform(), process.cwd());
  if (found === undefined) throw new UsageError(`${row.title} has no configuration per project. Leave out --project`);
  return found;
}

function serverOf(
  values: InstallFlags,
  serverArgs: readonly string[],
  ownCommand: readonly string[] | undefined,
): ClientConfigEntry {
  if (values.url !== undefined) {
    const url = URL.canParse(values.url) ? new URL(values.url) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new UsageError(`--url must be a URL such as http://127.0.0.1:8000/mcp, not ${JSON.stringify(values.url)}`);
    }
    const given = [values.profile === undefined ? '' : '--profile', serverArgs.length === 0 ? '' : '--'].filter(
      Boolean,
    );
    if (given.length > 0)
      throw new UsageError(`${given.join(' and ')} cannot be combined with --url, which does not start a server`);
    return {
      url: values.url,
      headers: pairs(values.header ?? [], /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/, '--header', 'Name: value'),
    };
  }
  if (values.header !== undefined) throw new UsageError('--header works only together with --url');
  if (values.npx === true && values.this === true) throw new UsageError('Use --npx or --this, not both');
  if (values.profile !== undefined && !Object.hasOwn(profiles, values.profile)) {
    const known = Object.keys(profiles).join(', ');
    throw new UsageError(`Unknown profile ${JSON.stringify(values.profile)}; choose one of ${known}`);
  }
  const env = pairs(values.env ?? [], /^([^=]+)=(.*)$/s, '--env', 'NAME=VALUE');
  if (ownCommand !== undefined) {
    const given = (['profile', 'npx', 'this'] as const).filter((flag) => values[flag] !== undefined);
    if (given.length > 0)
      throw new UsageError(`--${given[0]} is for Mooring itself and cannot be combined with a command`);
    return commandEntry(ownCommand, env);
  }
  return launchEntry({
    profile: values.profile,
    args: serverArgs,
    env,
    how: values.npx === true ? 'npx' : values.this === true ? 'this' : 'auto',
  });
}

function pairs(texts: readonly string[], pattern: RegExp, flag: string, form: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const match = pattern.exec(text);
      if (match === null) throw new UsageError(`${flag} must be "${form}", not ${JSON.stringify(text)}`);
      return [match[1] as string, match[2] as string];
    }),
  );
}

/** What was done, and the word before the name of the client. */
const changeTexts: Readonly<Record<Exclude<EntryChange, 'unchanged'>, readonly [done: string, where: string]>> = {
  created: ['Added', 'to'],
  added: ['Added', 'to'],
  changed: ['Updated', 'in'],
  removed: ['Removed', 'from'],
};

function report(
  row: ClientRow,
  { change, file, backup }: { change: EntryChange; file: string; backup: string | undefined },
  name: string,
  json: boolean,
  out: Output,
  unchangedText = 'Already up to date',
): void {
  if (json) {
    out.json({ client: row.title, name, change, file, backup: backup ?? null });
    return;
  }
  const { style } = out;
  if (change === 'unchanged') out.write(`${style.faint(unchangedText)}: ${style.name(name)} in ${row.title}\n`);
  else {
    const [done, where] = changeTexts[change];
    out.write(`${style.good(done)} ${style.name(name)} ${where} ${row.title}\n`);
  }
  out.write(`  file    ${shortened(file)}\n`);
  if (backup !== undefined) out.write(`  backup  ${shortened(backup)}\n`);
  if (change !== 'unchanged' && change !== 'removed') out.write(`\n${row.afterwards}\n`);
}

function list(name: string, json: boolean, out: Output): void {
  const { style, width } = out;
  const rows = Object.entries(clients).flatMap(([client, row]) =>
    (['user', 'project'] as const).flatMap((scope) => {
      const file = clientFile(row, scope, thisPlatform(), process.cwd());
      return file === undefined ? [] : [{ client, scope, file, state: stateOf(row, file, name) }];
    }),
  );
  if (json) {
    out.json(rows);
    return;
  }
  const columns = [
    { title: 'client', text: (row: (typeof rows)[0]) => row.client, paint: (text: string) => style.name(text) },
    { title: 'scope', text: (row: (typeof rows)[0]) => row.scope },
    {
      title: name,
      text: (row: (typeof rows)[0]) => row.state,
      paint: (text: string) => (text === 'installed' ? style.good(text) : style.faint(text)),
    },
    { title: 'file', text: (row: (typeof rows)[0]) => shortened(row.file) },
  ];
  out.write(table(rows, columns, { style, width }));
}

function stateOf(row: ClientRow, file: string, name: string): string {
  if (!existsSync(file)) return 'no file';
  try {
    return hasEntry(row, file, name) ? 'installed' : 'not installed';
  } catch (error) {
    if (error instanceof UsageError) return 'unreadable';
    throw error;
  }
}
