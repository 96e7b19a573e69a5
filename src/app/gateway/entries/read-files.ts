// Reads the configuration files of a gateway: those of any client, and mooring.json. Every error has its file and line.

import { resolve } from 'node:path';
import type { ServerEntry } from '../../../client/index.ts';
import {
  type ConfigIssue,
  type DecodedGateway,
  decodeGateway,
  GatewayConfigError,
  type GatewaySource,
} from '../../../gateway/config/decode-gateway.ts';
import type { ConfigNote, WrittenUpstream } from '../../../gateway/config/decode-upstream.ts';
import { valueIssues } from '../../../gateway/config/entry-values.ts';
import { decodeClientEntry } from '../../../gateway/config/server-entry.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { JsonObject } from '../../../protocol/model.ts';
import { formatIssues } from '../../../schema/index.ts';
import { clientOfFile } from '../../clients/configured.ts';
import {
  type ConfigContent,
  duplicateServers,
  isDisabled,
  isOfExtension,
  readConfig,
  sectionNames,
  serversIn,
  type WrittenServer,
} from '../../clients/server-config.ts';
import { expandVariables } from '../../config/expand.ts';
import { thisPlatform } from '../../config/folders.ts';
import { withSuggestion } from '../../config/issues.ts';
import { ownershipProblem } from '../../config/ownership.ts';
import { UsageError } from '../../usage-error.ts';
import { placeVariables, workspaceOf } from './client-variables.ts';
import {
  type ConfigText,
  completeServer,
  describeProblem,
  type EntrySources,
  expandServer,
  lineOf,
  unsetVariable,
} from './complete-server.ts';
import type { Inputs } from './inputs.ts';
import { noteOnPlainHttp } from './plain-http-note.ts';

export interface ReadGatewayOptions {
  readonly authenticated?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Finds inputs (`${input:…}`) and secrets. Absent: nothing is started, and texts that name them stay in their place. */
  readonly inputs?: Inputs | undefined;
}

/** A file that was read. */
interface ReadFile extends ConfigText {
  readonly servers: readonly WrittenServer[];
  readonly source: GatewaySource;
  readonly notes: readonly ConfigNote[];
}

/** Reads these files together, servers in their order. Throws a `UsageError` that lists everything wrong. */
export async function readGatewayFiles(
  files: readonly string[],
  { authenticated = false, env = process.env, inputs }: ReadGatewayOptions = {},
): Promise<DecodedGateway> {
  const read: ReadFile[] = [];
  const wrong: string[] = [];
  for (const file of files) {
    const one = await readOne(resolve(file), env, inputs, wrong);
    if (one !== undefined) read.push(one);
  }
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'));
  try {
    const { config, notes } = await decodeGateway(
      read.map(({ source }) => source),
      { authenticated },
    );
    const plain = config.servers.flatMap((server) => noteOnPlainHttp(server) ?? []);
    return { config, notes: [...read.flatMap((each) => each.notes), ...notes, ...plain] };
  } catch (error) {
    if (!(error instanceof GatewayConfigError)) throw error;
    throw new UsageError(error.issues.map((issue) => describe(issue, read)).join('\n'));
  }
}

async function readOne(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  inputs: Inputs | undefined,
  wrong: string[],
): Promise<ReadFile | undefined> {
  const opened = await openFile(file, wrong);
  if (opened === undefined) return undefined;
  const { content, data, place, found, servers } = opened;
  if (servers.length === 0) {
    wrong.push(`${file} has no servers: add them under "mcpServers" (${sectionNames.join(', ')} are read)`);
    return undefined;
  }
  const notes: ConfigNote[] = [
    ...found.filter(isOfExtension).map(noteOnExtension),
    ...duplicateServers(content).map(({ name }) => noteOnDuplicate(name, file)),
  ];
  const sources = sourcesOf(opened, { env, inputs, notes, home: thisPlatform().home });
  const { client, workspace } = sources;
  const upstreams: WrittenUpstream[] = [];
  for (const server of servers) {
    const isOff = isDisabled(server.written);
    const { written, problems } = isOff ? expandServer(server, sources) : await completeServer(server, sources);
    // A server that is not started needs no values.
    if (!isOff) wrong.push(...problems.map((each) => describeProblem(place, server, each)));
    upstreams.push({ name: server.name, written, client, folder: workspace });
  }
  const gateway = expandVariables(data['gateway'], env);
  for (const { name, path } of gateway.unset) {
    wrong.push(`${lineOf(place, ['gateway', ...path])}: ${unsetVariable(name)}`);
  }
  const source = { servers: upstreams, ...(gateway.value === undefined ? {} : { gateway: gateway.value }) };
  return { ...place, servers, source, notes };
}

/**
 * The entry of one server with all its values, also if it is disabled: for a program that connects to it. Throws a `UsageError` that
 * lists everything wrong.
 */
export async function readServer(file: string, name: string, inputs: Inputs): Promise<ServerEntry> {
  const wrong: string[] = [];
  const opened = await openFile(file, wrong);
  if (opened === undefined) throw new UsageError(wrong.join('\n'));
  // Those of other projects of Claude Code, too: it was named.
  const server = [...opened.servers, ...serversIn(opened.data)].find((each) => each.name === name);
  if (server === undefined) throw new UsageError(`${file} has no server ${JSON.stringify(name)}`);
  const sources = sourcesOf(opened, { env: process.env, inputs, notes: [], home: thisPlatform().home });
  const { written, problems } = await completeServer(server, sources);
  wrong.push(...problems.map((each) => describeProblem(opened.place, server, each)));
  const issues = isObject(written) ? valueIssues(written, [name]) : [];
  for (const issue of issues) {
    wrong.push(`${lineOf(opened.place, [...server.section, ...issue.path])}: ${formatIssues([issue])}`);
  }
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'));
  return decodeClientEntry(written, sources.client);
}

interface OpenedFile {
  readonly content: Extract<ConfigContent, { readonly ok: true }>;
  readonly data: JsonObject;
  readonly place: ConfigText;
  /** The servers for this folder, and those of them that a program other than the client can start. */
  readonly found: readonly WrittenServer[];
  readonly servers: readonly WrittenServer[];
}

async function openFile(file: string, wrong: string[]): Promise<OpenedFile | undefined> {
  const content = await readConfig(file);
  if (!content.ok) {
    const where = content.line === undefined ? '' : `:${content.line}:${content.column}`;
    wrong.push(`${file}${where}: ${content.message}`);
    return undefined;
  }
  // Anyone who can write the file decides which commands run here.
  const problem = ownershipProblem(file);
  if (problem !== undefined) {
    wrong.push(`${file}: ${problem}`);
    return undefined;
  }
  const data = (content.data ?? {}) as Record<string, unknown>;
  const found = serversForThisFolder(data);
  const place: ConfigText = { file, text: content.text, offsetOf: content.offsetOf };
  return { content, data, place, found, servers: found.filter((each) => !isOfExtension(each)) };
}

/** Where the values of the entries of a file come from. */
export function sourcesOf(
  { data, place, servers }: Pick<OpenedFile, 'data' | 'place' | 'servers'>,
  given: Pick<EntrySources, 'inputs' | 'notes' | 'home'> & { readonly env: EntrySources['variables'] },
): EntrySources {
  const { env, ...rest } = given;
  const client = clientIn(place.file, servers);
  const workspace = workspaceOf(place.file, client);
  return { ...rest, data, place, client, workspace, variables: { ...env, ...placeVariables(workspace) } };
}

/** The note for a server that is left out. */
export function noteOnExtension({ name }: WrittenServer): ConfigNote {
  return {
    level: 'warning',
    text: `${name}: left out, because it belongs to an extension of Zed, which only Zed can start`,
  };
}

function noteOnDuplicate(name: string, file: string): ConfigNote {
  return { level: 'warning', text: `${name}: defined more than once in ${file}; the last definition counts` };
}

/** Claude Code keeps the servers of all projects in the user's file. Those for this folder come before the user's of that name. */
function serversForThisFolder(data: unknown): WrittenServer[] {
  const isOfProject = ({ section }: WrittenServer): boolean => section[0] === 'projects';
  const found = serversIn(data).filter((each) => !isOfProject(each) || each.section[1] === process.cwd());
  const own = found.filter(isOfProject);
  return found.filter((each) => isOfProject(each) || !own.some(({ name }) => name === each.name));
}

/** The client whose file it is, where that affects the meaning of a key. */
function clientIn(file: string, servers: readonly WrittenServer[]): string | undefined {
  const known = clientOfFile(file)?.[0];
  if (known !== undefined) return known;
  // Only Gemini CLI has this key.
  return servers.some(({ written }) => isObject(written) && 'httpUrl' in written) ? 'gemini' : undefined;
}

function describe(issue: ConfigIssue, files: readonly ReadFile[]): string {
  const { source, server, path, message, other } = issue;
  const place = placeOf(files[source] as ReadFile, server, path);
  const conflict = other && placeOf(files[other.source] as ReadFile, other.server, [other.server]);
  const text = formatIssues([withSuggestion({ path, message })]);
  return `${place}: ${text}${conflict === undefined ? '' : `. The other is at ${conflict}`}`;
}

/** The file and line of a path that begins with a server, or with "gateway". */
function placeOf(file: ReadFile, named: string | undefined, path: ConfigIssue['path']): string {
  const server = file.servers.find(({ name }) => name === named);
  return lineOf(file, server === undefined ? path : [...server.section, ...path]);
}
