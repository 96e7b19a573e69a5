// Reads the configuration files of a gateway: those of any client, and mooring.json. Every error has its file and line.

import { dirname, resolve } from 'node:path';
import {
  type ConfigIssue,
  type DecodedGateway,
  decodeGateway,
  GatewayConfigError,
  type GatewaySource,
} from '../../gateway/config/decode-gateway.ts';
import type { ConfigNote, WrittenUpstream } from '../../gateway/config/decode-upstream.ts';
import { variableHeaders } from '../../gateway/config/server-entry.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { formatIssues } from '../../schema/index.ts';
import { clientOfFile } from '../clients/configured.ts';
import {
  duplicateServers,
  isDisabled,
  isOfExtension,
  readConfig,
  sectionNames,
  serversIn,
  type WrittenServer,
} from '../clients/server-config.ts';
import { expandVariables } from '../config/expand.ts';
import { withSuggestion } from '../config/issues.ts';
import { ownershipProblem } from '../config/ownership.ts';
import { positionOf } from '../text/jsonc.ts';
import { UsageError } from '../usage-error.ts';
import {
  mapTexts,
  optionalVariables,
  placeVariables,
  withAbsoluteFolder,
  withOwnVariables,
  workspaceOf,
} from './client-variables.ts';
import { unknownOutsideVscode, type WithFiles, withEnvFile, withFileValues } from './entry-files.ts';
import { type Inputs, inputsIn, inputsNeededBy, replaceInputs } from './inputs.ts';
import { secretsIn, withSecrets } from './secrets.ts';

export interface ReadGatewayOptions {
  readonly authenticated?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Finds inputs (`${input:…}`) and secrets. Absent: nothing is started, and texts that name them stay in their place. */
  readonly inputs?: Inputs | undefined;
}

/** A file that was read. */
interface ReadFile extends Place {
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
    return { config, notes: [...read.flatMap((each) => each.notes), ...notes] };
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
  const servers = found.filter((each) => !isOfExtension(each));
  if (servers.length === 0) {
    wrong.push(`${file} has no servers: add them under "mcpServers" (${sectionNames.join(', ')} are read)`);
    return undefined;
  }
  const client = clientIn(file, servers);
  const workspace = workspaceOf(file, client);
  const variables = { ...env, ...placeVariables(workspace) };
  const notes: ConfigNote[] = [
    ...found.filter(isOfExtension).map(noteOnExtension),
    ...duplicateServers(content).map(({ name }) => noteOnDuplicate(name, file)),
  ];
  const place: Place = { file, text: content.text, offsetOf: content.offsetOf };
  const written: WrittenUpstream[] = [];
  for (const server of servers) {
    const expanded = expandServer(server, { variables, client, workspace, place, notes }, wrong);
    const complete = isDisabled(expanded)
      ? expanded
      : await withValues(server, expanded, { data, inputs, place, notes, workspace }, wrong);
    written.push({ name: server.name, written: complete, client, folder: workspace });
  }
  const gateway = expandVariables(data['gateway'], env);
  for (const { name, path } of gateway.unset) {
    wrong.push(`${at(place, ['gateway', ...path])}: ${unsetVariable(name)}`);
  }
  const source = { servers: written, ...(gateway.value === undefined ? {} : { gateway: gateway.value }) };
  return { ...place, servers, source, notes };
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

interface Place {
  readonly file: string;
  readonly text: string;
  offsetOf(path: readonly (string | number)[]): number;
}

interface Expansion {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly client: string | undefined;
  readonly workspace: string;
  readonly place: Place;
  readonly notes: ConfigNote[];
}

function expandServer(
  { name, section, written }: WrittenServer,
  { variables, client, workspace, place, notes }: Expansion,
  wrong: string[],
): unknown {
  const isSet = (variable: string): boolean => variables[variable] !== undefined;
  const ofClient = (text: string): string => {
    for (const variable of optionalVariables(text, { client, section }).filter((each) => !isSet(each))) {
      const why = `the environment variable ${variable} is not set and stays empty`;
      notes.push({ level: 'warning', text: `${name}: ${why}` });
    }
    return withOwnVariables(text, { client, section }, isSet);
  };
  const { value, unset } = expandVariables(withVariableHeaders(mapTexts(written, ofClient)), variables);
  // A server that is not started needs no variables.
  if (!isDisabled(written)) {
    for (const { name: variable, path } of unset) {
      wrong.push(`${at(place, [...section, name, ...path])}: ${name}: ${unsetVariable(variable)}`);
    }
    walkTexts(written, [], (text, path) => {
      for (const form of unknownOutsideVscode(text, section)) {
        wrong.push(`${at(place, [...section, name, ...path])}: ${name}: ${onlyInVscode(form)}`);
      }
    });
  }
  return withAbsoluteFolder(value, workspace);
}

interface InputExpansion {
  readonly data: unknown;
  readonly inputs: Inputs | undefined;
  readonly place: Place;
  readonly notes: ConfigNote[];
  readonly workspace: string;
}

/** The entry with the values of its inputs and secrets, and of the files that it names. */
async function withValues(
  server: WrittenServer,
  expanded: unknown,
  context: InputExpansion,
  wrong: string[],
): Promise<unknown> {
  const { inputs, place, notes, workspace } = context;
  const { name, section } = server;
  const folders = [...new Set([dirname(place.file), workspace])];
  const take = ({ value, problems, notes: found = [] }: WithFiles): unknown => {
    for (const { path, why } of problems) wrong.push(`${at(place, [...section, name, ...path])}: ${name}: ${why}`);
    notes.push(...found);
    return value;
  };
  const given = section[0] === 'mcp' ? take(withFileValues(expanded, folders)) : expanded;
  const written = await withInputs(server, given, context, wrong);
  const needed = new Set(secretsIn(written).map((each) => each.name));
  if (inputs === undefined && needed.size > 0) {
    notes.push({ level: 'info', text: `${name}: needs the secrets ${[...needed].join(', ')} when it is served` });
  }
  const { value, missing } = await withSecrets(
    written,
    (secret) => inputs?.findSecret(secret) ?? { ok: true, value: `\${secret:${secret}}` },
  );
  for (const { path, why } of missing) wrong.push(`${at(place, [...section, name, ...path])}: ${name}: ${why}`);
  // Last: what looks like an input or a variable in it is not replaced.
  return take(withEnvFile(name, value, folders));
}

/** The entry with the values of its inputs. */
async function withInputs(
  { name, section }: WrittenServer,
  value: unknown,
  { data, inputs, place, notes }: InputExpansion,
  wrong: string[],
): Promise<unknown> {
  const needed = new Map<string, readonly (string | number)[]>();
  walkTexts(value, [], (text, path) => {
    for (const id of inputsNeededBy(text)) if (!needed.has(id)) needed.set(id, path);
  });
  if (needed.size === 0) return value;
  if (inputs === undefined) {
    notes.push({ level: 'info', text: `${name}: needs the inputs ${[...needed.keys()].join(', ')} when it is served` });
    return value;
  }
  const definitions = inputsIn(data);
  const values = new Map<string, string>();
  for (const [id, path] of needed) {
    const found = await inputs.find(place.file, id, definitions.get(id));
    if (found.ok) values.set(id, found.value);
    else wrong.push(`${at(place, [...section, name, ...path])}: ${name}: ${found.why}`);
  }
  return mapTexts(value, (text) => replaceInputs(text, values));
}

function unsetVariable(name: string): string {
  return `needs the environment variable ${name}, which is not set; set it, write \${${name}:-default}, or disable the server`;
}

/** The message about a reference to a setting or command of VS Code. */
export function onlyInVscode(form: string): string {
  return `${form} cannot be resolved outside of VS Code; write the value here, or \${env:NAME} for a variable`;
}

/** The entry with the headers that Codex takes from variables, which are replaced with the others. */
function withVariableHeaders(written: unknown): unknown {
  if (!isObject(written)) return written;
  const named = variableHeaders(written);
  if (Object.keys(named).length === 0) return written;
  const { bearer_token_env_var: _token, env_http_headers: _headers, ...rest } = written;
  const headers = isObject(written['http_headers']) ? written['http_headers'] : {};
  return { ...rest, http_headers: { ...named, ...headers } };
}

function walkTexts(
  value: unknown,
  path: readonly (string | number)[],
  visit: (text: string, path: readonly (string | number)[]) => void,
): void {
  if (typeof value === 'string') visit(value, path);
  else if (Array.isArray(value)) value.forEach((each, i) => void walkTexts(each, [...path, i], visit));
  else if (isObject(value)) for (const [key, each] of Object.entries(value)) walkTexts(each, [...path, key], visit);
}

/** The file and line of a path in it. */
function at({ file, text, offsetOf }: Place, path: readonly (string | number)[]): string {
  return `${file}:${positionOf(text, offsetOf(path)).line}`;
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
  return at(file, server === undefined ? path : [...server.section, ...path]);
}
