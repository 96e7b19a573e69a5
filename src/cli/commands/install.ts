// mooring install: an entry for an AI client. Also the other half, uninstall.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { type ClientRow, clientAliases, clients, type Scope, type ServerEntry } from '../../app/clients/clients.ts';
import { type Change, hasEntry, install, uninstall, withEntry } from '../../app/clients/edit.ts';
import { launchEntry } from '../../app/clients/launch.ts';
import { thisPlatform } from '../../app/config/folders.ts';
import { Mistake } from '../../app/mistake.ts';
import { profiles } from '../../app/profiles/index.ts';
import { nearest } from '../../app/text/nearest.ts';
import { type Output, openOutput } from '../ui/output.ts';
import { table } from '../ui/table.ts';
import { readArgs } from '../usage.ts';

const names = Object.entries(clients)
  .map(([name, { title }]) => `  ${name.padEnd(17)}${title}`)
  .join('\n');

const installHelp = `Usage: mooring install <client> [options] [-- options of "mooring serve"]

Puts Mooring into the settings of an AI client. The rest of the file stays as it is, the version before it is kept
beside it, and doing it twice changes nothing more.

Clients:
${names}

Options:
  --name NAME         the name of the entry (default mooring)
  --profile NAME      the ready-made server to start (see "mooring serve --help")
  --env NAME=VALUE    a variable the server is started with; repeatable
  --url URL           connect to a server that listens instead of starting one
  --header 'N: V'     a header for --url; repeatable
  --project           the file of the project in this folder instead of the user's
  --file FILE         this file instead
  --npx, --this       start through npx, or this very copy (default: whichever this is)
  --print             show the file as it would be, change nothing
  --list              show every client, its file, and whether it has the entry
  -h, --help          show this

Examples:
  mooring install claude-code
  mooring install cursor --project -- --root .
  mooring install vscode --url http://127.0.0.1:8000/mcp
`;

const uninstallHelp = `Usage: mooring uninstall <client> [options]

Takes the entry out of the settings of an AI client again. The rest of the file stays as it is.

Clients:
${names}

Options:
  --name NAME    the name of the entry (default mooring)
  --project      the file of the project in this folder instead of the user's
  --file FILE    this file instead
  -h, --help     show this
`;

export const run = (args: readonly string[]): Promise<number> => act(args, 'install');
export const runUninstall = (args: readonly string[]): Promise<number> => act(args, 'uninstall');

async function act(args: readonly string[], command: 'install' | 'uninstall'): Promise<number> {
  const split = args.indexOf('--');
  const words = split === -1 ? [] : args.slice(split + 1);
  const { values, positionals } = readArgs(command, split === -1 ? args : args.slice(0, split), {
    name: { type: 'string', default: 'mooring' },
    project: { type: 'boolean' },
    file: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
    ...(command === 'uninstall' ? {} : installOptions),
  }) as { values: Values; positionals: string[] };
  const out = openOutput();
  if (values.help === true) {
    out.write(command === 'install' ? installHelp : uninstallHelp);
    return 0;
  }
  if (values.list === true) {
    list(values.name, out);
    return 0;
  }
  const row = rowOf(positionals, command);
  const file = fileOf(row, values);
  if (command === 'uninstall') {
    report(row, uninstall(row, file, values.name), values.name, out);
    return 0;
  }
  const entry = row.spell(serverOf(values, words));
  if (values.print === true) {
    const { readFileSync } = await import('node:fs');
    out.note(`${row.title}: ${shortened(file)}\n`);
    out.write(withEntry(row, file, existsSync(file) ? readFileSync(file, 'utf8') : '', values.name, entry));
    return 0;
  }
  report(row, install(row, file, values.name, entry), values.name, out);
  return 0;
}

const installOptions = {
  profile: { type: 'string' },
  env: { type: 'string', multiple: true },
  url: { type: 'string' },
  header: { type: 'string', multiple: true },
  npx: { type: 'boolean' },
  this: { type: 'boolean' },
  print: { type: 'boolean' },
  list: { type: 'boolean' },
} as const;

interface Values {
  readonly name: string;
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
  if (asked === undefined) throw new Mistake(`Which client? One of ${Object.keys(clients).join(', ')}`);
  if (more.length > 0) {
    throw new Mistake(
      `One client at a time; options of "mooring serve" come after --, see "mooring ${command} --help"`,
    );
  }
  const name = clientAliases[asked.toLowerCase()] ?? asked.toLowerCase();
  const row = Object.hasOwn(clients, name) ? clients[name] : undefined;
  if (row !== undefined) return row;
  const meant = nearest(name, Object.keys(clients));
  const hint = meant === undefined ? `one of ${Object.keys(clients).join(', ')}` : `did you mean ${meant}?`;
  throw new Mistake(`Unknown client ${JSON.stringify(asked)}; ${hint}`);
}

function fileOf(row: ClientRow, { file, project }: Values): string {
  if (file !== undefined) return resolve(file);
  const scope: Scope = project === true ? 'project' : 'user';
  const found = row.file(scope, thisPlatform(), process.cwd());
  if (found === undefined) throw new Mistake(`${row.title} has no settings per project; leave --project out`);
  return found;
}

function serverOf(values: Values, words: readonly string[]): ServerEntry {
  if (values.url !== undefined) {
    const url = URL.canParse(values.url) ? new URL(values.url) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      throw new Mistake(
        `--url must be an address such as http://127.0.0.1:8000/mcp, not ${JSON.stringify(values.url)}`,
      );
    }
    const given = [values.profile === undefined ? '' : '--profile', words.length === 0 ? '' : '--'].filter(Boolean);
    if (given.length > 0)
      throw new Mistake(`${given.join(' and ')} say how to start a server; with --url none is started`);
    return {
      url: values.url,
      headers: pairs(values.header ?? [], /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/, '--header'),
    };
  }
  if (values.header !== undefined) throw new Mistake('--header belongs to --url');
  if (values.npx === true && values.this === true) throw new Mistake('--npx or --this, not both');
  if (values.profile !== undefined && !Object.hasOwn(profiles, values.profile)) {
    const known = Object.keys(profiles).join(', ');
    throw new Mistake(`Unknown profile ${JSON.stringify(values.profile)}; one of ${known}`);
  }
  return launchEntry({
    profile: values.profile,
    words,
    env: pairs(values.env ?? [], /^([^=]+)=(.*)$/s, '--env'),
    how: values.npx === true ? 'npx' : values.this === true ? 'this' : 'auto',
  });
}

function pairs(words: readonly string[], pattern: RegExp, flag: string): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const match = pattern.exec(word);
      if (match === null) throw new Mistake(`${flag} can not be read: ${JSON.stringify(word)}`);
      return [match[1] as string, match[2] as string];
    }),
  );
}

const sentences: Readonly<Record<Change, string>> = {
  created: 'Written',
  added: 'Added',
  changed: 'Renewed',
  removed: 'Removed',
  unchanged: 'Nothing to do',
};

function report(
  row: ClientRow,
  { change, file, backup }: { change: Change; file: string; backup: string | undefined },
  name: string,
  out: Output,
): void {
  const { style } = out;
  const mark = change === 'unchanged' ? style.faint(sentences[change]) : style.good(sentences[change]);
  out.write(`${mark}: ${style.name(name)} in ${row.title}\n`);
  out.write(`  file    ${shortened(file)}\n`);
  if (backup !== undefined) out.write(`  backup  ${shortened(backup)}\n`);
  if (change !== 'unchanged' && change !== 'removed') out.write(`\n${row.afterwards}\n`);
}

function list(name: string, out: Output): void {
  const { style, width } = out;
  const rows = Object.entries(clients).flatMap(([client, row]) =>
    (['user', 'project'] as const).flatMap((scope) => {
      const file = row.file(scope, thisPlatform(), process.cwd());
      return file === undefined ? [] : [{ client, scope, file, state: stateOf(row, file, name) }];
    }),
  );
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
    return hasEntry(row, file, name) ? 'installed' : 'not there';
  } catch (error) {
    if (error instanceof Mistake) return 'unreadable';
    throw error;
  }
}

function shortened(file: string): string {
  const home = homedir();
  return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
