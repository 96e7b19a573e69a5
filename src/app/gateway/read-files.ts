// Reads the configuration files of a gateway: those of any client, and mooring.json. Every error has its file and line.

import { basename, dirname, isAbsolute, resolve } from 'node:path';
import {
  type ConfigIssue,
  type DecodedGateway,
  decodeGateway,
  GatewayConfigError,
  type GatewaySource,
} from '../../gateway/config/decode-gateway.ts';
import type { ConfigNote } from '../../gateway/config/decode-upstream.ts';
import { formatIssues } from '../../schema/index.ts';
import { clientOfFile } from '../clients/configured.ts';
import {
  isDisabled,
  isObject,
  readConfig,
  sectionNames,
  serversIn,
  type WrittenServer,
} from '../clients/server-config.ts';
import { expandVariables } from '../config/expand.ts';
import { thisPlatform } from '../config/folders.ts';
import { offsetOf, withSuggestion } from '../config/issues.ts';
import { ownershipProblem } from '../config/ownership.ts';
import { type JsonNode, positionOf } from '../text/jsonc.ts';
import { UsageError } from '../usage-error.ts';

export interface ReadGatewayOptions {
  readonly authenticated?: boolean;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A file that was read. */
interface ReadFile {
  readonly file: string;
  readonly text: string;
  readonly node: JsonNode | undefined;
  readonly servers: readonly WrittenServer[];
  readonly source: GatewaySource;
  readonly notes: readonly ConfigNote[];
}

/** Reads these files together, servers in their order. Throws a `UsageError` that lists everything wrong. */
export async function readGatewayFiles(
  files: readonly string[],
  { authenticated = false, env = process.env }: ReadGatewayOptions = {},
): Promise<DecodedGateway> {
  const read: ReadFile[] = [];
  const wrong: string[] = [];
  for (const file of files) {
    const one = await readOne(resolve(file), env, wrong);
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
  wrong: string[],
): Promise<ReadFile | undefined> {
  const content = await readConfig(file);
  if (!content.ok) {
    const where = content.line === undefined ? '' : `:${content.line}:${content.column}`;
    wrong.push(content.missing ? `--config: the file ${file} does not exist` : `${file}${where}: ${content.message}`);
    return undefined;
  }
  // Users who can write the file decide which commands run here.
  const problem = ownershipProblem(file);
  if (problem !== undefined) {
    wrong.push(`${file}: ${problem}`);
    return undefined;
  }
  const data = (content.data ?? {}) as Record<string, unknown>;
  const servers = serversIn(data).filter(({ section }) => isForThisFolder(section));
  if (servers.length === 0) {
    wrong.push(`${file} has no servers: add them under "mcpServers" (${sectionNames.join(', ')} are read)`);
    return undefined;
  }
  const client = clientIn(file, servers);
  const variables = { ...env, ...placeVariables(file) };
  const notes: ConfigNote[] = [];
  const place: Place = { file, text: content.text, node: content.node };
  const written = servers.map((server) => {
    const expanded = expandServer(server, variables, client, place, wrong);
    return { name: server.name, written: expanded, client, folder: workspaceOf(file) };
  });
  const gateway = expandVariables(data['gateway'], env);
  for (const { name, path } of gateway.unset) {
    wrong.push(`${at(place, ['gateway', ...path])}: ${unsetVariable(name)}`);
  }
  const source = { servers: written, ...(gateway.value === undefined ? {} : { gateway: gateway.value }) };
  return { ...place, servers, source, notes };
}

/** Claude Code keeps the servers of all projects in the user's file; only those of this folder are meant. */
function isForThisFolder(section: readonly string[]): boolean {
  return section[0] !== 'projects' || section[1] === process.cwd();
}

/** The client whose file it is, where that decides what a key means. */
function clientIn(file: string, servers: readonly WrittenServer[]): string | undefined {
  const known = clientOfFile(file)?.[0];
  if (known !== undefined) return known;
  // Only Gemini CLI has this key.
  return servers.some(({ written }) => isObject(written) && 'httpUrl' in written) ? 'gemini' : undefined;
}

/** The folder that a client calls the workspace: above .vscode, .cursor and the like. */
function workspaceOf(file: string): string {
  const folder = dirname(file);
  return basename(folder).startsWith('.') ? dirname(folder) : folder;
}

/** What VS Code and Cursor replace besides variables of the environment. */
function placeVariables(file: string): Record<string, string> {
  const workspaceFolder = workspaceOf(file);
  return { workspaceFolder, workspaceFolderBasename: basename(workspaceFolder), userHome: thisPlatform().home };
}

interface Place {
  readonly file: string;
  readonly text: string;
  readonly node: JsonNode | undefined;
}

function expandServer(
  { name, section, written }: WrittenServer,
  env: Readonly<Record<string, string | undefined>>,
  client: string | undefined,
  place: Place,
  wrong: string[],
): unknown {
  const plain = client === 'gemini' ? mapTexts(written, (text) => expandBare(text, env)) : written;
  const { value, unset } = expandVariables(withBearer(plain), env);
  // A server that is not started needs no variables.
  if (!isDisabled(written)) {
    for (const { name: variable, path } of unset) {
      wrong.push(`${at(place, [...section, name, ...path])}: ${name}: ${unsetVariable(variable)}`);
    }
    const input = inputIn(value);
    if (input !== undefined) {
      wrong.push(
        `${at(place, [...section, name])}: ${name}: \${input:${input}} is asked by VS Code. Write \${NAME} instead, and set that environment variable`,
      );
    }
  }
  if (!isObject(value) || typeof value['cwd'] !== 'string' || isAbsolute(value['cwd'])) return value;
  return { ...value, cwd: resolve(workspaceOf(place.file), value['cwd']) };
}

function unsetVariable(name: string): string {
  return `needs the environment variable ${name}, which is not set; set it, write \${${name}:-default}, or disable the server`;
}

/** Codex names the variable that has the token. */
function withBearer(written: unknown): unknown {
  if (!isObject(written) || typeof written['bearer_token_env_var'] !== 'string') return written;
  const { bearer_token_env_var: variable, ...rest } = written;
  const headers = isObject(written['http_headers']) ? written['http_headers'] : {};
  return { ...rest, http_headers: { Authorization: `Bearer \${${variable}}`, ...headers } };
}

/** Gemini CLI replaces $NAME too, if it is set. */
function expandBare(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/(?<!\$)\$([A-Za-z_][A-Za-z0-9_]*)/g, (all, name: string) => env[name] ?? all);
}

function inputIn(value: unknown): string | undefined {
  return /\$\{input:([^}]*)\}/.exec(JSON.stringify(value) ?? '')?.[1];
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, mapTexts(each, change)]));
}

/** The file and line of a path in it. */
function at({ file, text, node }: Place, path: readonly (string | number)[]): string {
  return node === undefined ? file : `${file}:${positionOf(text, offsetOf(node, path)).line}`;
}

function describe(issue: ConfigIssue, files: readonly ReadFile[]): string {
  const place = files[issue.source] as ReadFile;
  const server = place.servers.find(({ name }) => name === issue.server);
  const path = server === undefined ? issue.path : [...server.section, ...issue.path];
  return `${at(place, path)}: ${formatIssues([withSuggestion({ path: issue.path, message: issue.message })])}`;
}
