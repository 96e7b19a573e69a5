// Resolves the <server> argument: a URL, a name in the configuration, a Mooring profile, or a command line.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import type { ServerEntry } from '../client/index.ts';
import { meantUrl } from '../common/meant-url.ts';
import { nearest } from '../common/nearest.ts';
import type { JsonObject } from '../protocol/model.ts';
import { isMooringConfig, readConfig, sectionNames, sectionsOf, serversIn } from './clients/server-config.ts';
import { resolveSettings } from './config/resolve.ts';
import { terminalOf } from './gateway/entries/ask-input.ts';
import { Inputs } from './gateway/entries/inputs.ts';
import { readServer } from './gateway/entries/read-files.ts';
import { openStoredValues } from './gateway/entries/stored-values.ts';
import { profiles } from './profiles/index.ts';
import { UsageError } from './usage-error.ts';

/** A server and its label for output. */
export interface NamedTarget {
  readonly label: string;
  readonly target: string | readonly string[] | ServerEntry;
  /** Our own program: it inherits the whole environment. */
  readonly own?: true;
}

/** Entries by name, as written. */
type Servers = JsonObject;

/** Resolves a target. `configFile` may be mooring.json or the file of any client. */
export async function findTarget(named: string, configFile: string | undefined): Promise<NamedTarget> {
  if (/^(https?|wss?):\/\//i.test(named)) return { label: named, target: named };
  const { file, servers } = await readServers(configFile);
  if (file !== undefined && Object.hasOwn(servers, named)) {
    const inputs = new Inputs({ env: process.env, stored: openStoredValues(), ask: terminalOf(process) });
    return { label: named, target: await readServer(file, named, inputs) };
  }
  if (/\s/.test(named.trim())) return { label: named, target: named };
  if (Object.hasOwn(profiles, named)) {
    return { label: named, target: [process.execPath, resolve(process.argv[1] ?? ''), 'serve', named], own: true };
  }
  const script = scriptCommand(named);
  if (script !== undefined) {
    throw new UsageError(
      `${JSON.stringify(named)} is a file, not a program. Name the program that runs it, in quotes: ${JSON.stringify(script)}`,
    );
  }
  if (isProgram(named)) return { label: named, target: [named] };
  const address = meantAddress(named);
  if (address !== undefined) throw new UsageError(`${JSON.stringify(named)} is not a URL; did you mean ${address}?`);
  const known = [...Object.keys(servers), ...Object.keys(profiles)];
  const meant = nearest(named, known);
  throw new UsageError(
    `Unknown server ${JSON.stringify(named)}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}\n` +
      `A server is a URL, a command line in quotes, a profile (${Object.keys(profiles).join(', ')})\n` +
      `or a name in the configuration${Object.keys(servers).length === 0 ? '' : ` (${Object.keys(servers).join(', ')})`}`,
  );
}

/**
 * Resolves the words of a command that accepts several servers. If each word is a URL, a name, a profile or a command line
 * in quotes, they are servers; otherwise they are one unquoted command line. No words: all servers of the configuration file.
 */
export async function findTargets(
  words: readonly string[],
  configFile: string | undefined,
): Promise<readonly NamedTarget[]> {
  const [first] = words;
  if (words.length === 1 && first !== undefined) return [await findTarget(first, configFile)];
  const { servers } = await readServers(configFile);
  const names = words.length === 0 ? Object.keys(servers) : words;
  const isServer = (word: string): boolean =>
    /^(https?|wss?):\/\//i.test(word) ||
    Object.hasOwn(servers, word) ||
    /\s/.test(word.trim()) ||
    Object.hasOwn(profiles, word);
  if (!names.every(isServer)) return [{ label: words.join(' '), target: words }];
  return Promise.all(names.map((name) => findTarget(name, configFile)));
}

/** The URL that was probably meant: without a scheme, or with one that is mistyped or not supported. */
function meantAddress(word: string): string | undefined {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):\/{1,2}(.*)$/i.exec(word) ?? [];
  if (scheme === undefined) return meantUrl(word);
  return `${nearest(scheme, ['http', 'https', 'ws', 'wss']) ?? 'https'}://${rest}`;
}

/** The servers of a configuration by name, as written, and the file. */
export async function readServers(
  configFile: string | undefined,
): Promise<{ readonly file: string | undefined; readonly servers: Servers }> {
  const named = configFile === undefined ? undefined : resolve(configFile);
  const others = named === undefined ? undefined : await serversOfOtherClient(named);
  if (others !== undefined) return { file: named, servers: others };
  const { values, file } = await resolveSettings({ configFile });
  return { file, servers: values.get('mcpServers')?.value as Servers };
}

/** The servers in another client's file; undefined for mooring.json, which is read with all its checks. */
async function serversOfOtherClient(file: string): Promise<Servers | undefined> {
  const content = await readConfig(file);
  if (!content.ok) {
    if (content.missing) throw new UsageError(`--config: the file ${file} does not exist`);
    const where = content.line === undefined ? '' : `:${content.line}:${content.column}`;
    throw new UsageError(`${file}${where}: ${content.message}`);
  }
  const data = content.data ?? {};
  if (isMooringConfig(content)) return undefined;
  if (sectionsOf(data).length === 0) {
    throw new UsageError(`${file} has no servers: none of ${sectionNames.join(', ')} is in it`);
  }
  return Object.fromEntries(serversIn(data).map(({ name, written }) => [name, written]));
}

/** Programs that run a server and are none themselves. */
const launchers = new Set(['node', 'npx', 'deno', 'bun', 'bunx', 'tsx', 'python', 'python3', 'uv', 'uvx', 'docker']);

/** Whether the words after a command are a command line without quotes: a program, and what it runs. */
export async function isUnquotedCommand(words: readonly string[], configFile: string | undefined): Promise<boolean> {
  const [first = '', second] = words;
  if (second === undefined || !isProgram(first) || Object.hasOwn(profiles, first)) return false;
  const isLauncher = launchers.has(first) && !/^[a-z][a-z0-9+.-]*:/i.test(second);
  if (!isLauncher && !isNamedFile(second)) return false;
  return !Object.hasOwn((await readServers(configFile)).servers, first);
}

/** An existing file that is written like one: a tool may have the name of a file such as "build". */
export function isNamedFile(word: string): boolean {
  return /[./\\]/.test(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true;
}

const interpreters: Readonly<Record<string, string>> = {
  ...{ '.js': 'node', '.mjs': 'node', '.cjs': 'node', '.ts': 'node', '.mts': 'node' },
  '.py': 'python3',
};

/** The command line for a script that cannot be started by its name. */
function scriptCommand(named: string): string | undefined {
  const interpreter = interpreters[extname(named)];
  if (interpreter === undefined || !isNamedFile(named)) return undefined;
  if (!/[/\\]/.test(named)) return `${interpreter} ${named}`;
  try {
    accessSync(named, constants.X_OK);
    return undefined;
  } catch {
    // It is not executable.
    return `${interpreter} ${named}`;
  }
}

/** Whether a word names a program that can be started. */
export function isProgram(named: string): boolean {
  if (/[/\\]/.test(named)) return existsSync(named);
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => isAbsolute(folder) && existsSync(join(folder, named)));
}
