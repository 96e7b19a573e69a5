// Resolves the <server> argument: a URL, a name in the configuration, a Mooring profile, or a command line.

import { existsSync, readFileSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { ServerEntry } from '../client/index.ts';
import { expandVariables } from './config/expand.ts';
import { resolveSettings } from './config/resolve.ts';
import { profiles } from './profiles/index.ts';
import { dataOf, JsoncError, parseJsonc, positionOf } from './text/jsonc.ts';
import { nearest } from './text/nearest.ts';
import { UsageError } from './usage-error.ts';

/** A server and its label for output. */
export interface NamedTarget {
  readonly label: string;
  readonly target: string | readonly string[] | ServerEntry;
  /** Our own program: it inherits the whole environment. */
  readonly own?: true;
}

type Servers = Readonly<Record<string, ServerEntry & { readonly httpUrl?: string }>>;

/** Resolves a target. `configFile` may be mooring.json or a file of another client: `mcpServers`, or `servers` (VS Code). */
export async function findTarget(named: string, configFile: string | undefined): Promise<NamedTarget> {
  if (/^(https?|wss?):\/\//i.test(named)) return { label: named, target: named };
  const servers = await serversOf(configFile);
  if (Object.hasOwn(servers, named))
    return { label: named, target: expandEntry(named, servers[named] as Servers[string]) };
  if (/\s/.test(named.trim())) return { label: named, target: named };
  if (Object.hasOwn(profiles, named)) {
    return { label: named, target: [process.execPath, resolve(process.argv[1] ?? ''), 'serve', named], own: true };
  }
  if (isProgram(named)) return { label: named, target: [named] };
  const known = [...Object.keys(servers), ...Object.keys(profiles)];
  const meant = nearest(named, known);
  throw new UsageError(
    `Unknown server ${JSON.stringify(named)}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}\n` +
      `A server is a URL, a command line in quotes, a profile (${Object.keys(profiles).join(', ')})\n` +
      `or a name in the configuration${Object.keys(servers).length === 0 ? '' : ` (${Object.keys(servers).join(', ')})`}`,
  );
}

/** The servers of a configuration by name. */
export async function serversOf(configFile: string | undefined): Promise<Servers> {
  const others = configFile === undefined ? undefined : serversOfOtherClient(resolve(configFile));
  if (others !== undefined) return others;
  const { values } = await resolveSettings({ configFile });
  return values.get('mcpServers')?.value as Servers;
}

/** The servers in another client's file; undefined for mooring.json, which is read with all its checks. */
function serversOfOtherClient(file: string): Servers | undefined {
  if (!existsSync(file)) throw new UsageError(`--config: the file ${file} does not exist`);
  const text = readFileSync(file, 'utf8');
  let value: unknown;
  try {
    value = dataOf(parseJsonc(text));
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    const { line, column } = positionOf(text, error.offset);
    throw new UsageError(`${file}:${line}:${column}: ${error.message}`);
  }
  const { mcpServers, servers, ...rest } = value as Record<string, unknown>;
  const ours = 'profile' in rest || 'http' in rest || 'plugins' in rest || String(rest['$schema']).includes('mooring');
  if (ours) return undefined;
  const found = mcpServers ?? servers;
  if (typeof found !== 'object' || found === null) {
    throw new UsageError(`${file} has neither "mcpServers" nor "servers"`);
  }
  return found as Servers;
}

/** Expands variables, and accepts `httpUrl`, which Gemini CLI uses for `url`. */
function expandEntry(name: string, written: Servers[string]): ServerEntry {
  const { value, unset } = expandVariables(written, process.env);
  const [first] = unset;
  if (first !== undefined) {
    throw new UsageError(
      `The server ${name} needs the environment variable ${first.name}, which is not set (${first.path.join('.')})`,
    );
  }
  const { httpUrl, ...entry } = value as Servers[string];
  return httpUrl === undefined ? entry : { ...entry, url: httpUrl };
}

function isProgram(named: string): boolean {
  if (/[/\\]/.test(named)) return existsSync(named);
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => isAbsolute(folder) && existsSync(join(folder, named)));
}
