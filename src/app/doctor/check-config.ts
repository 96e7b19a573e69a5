// Checks the configuration file of a client, without starting anything: syntax, where the servers are, and each entry.

import type { ServerEntry } from '../../client/index.ts';
import { nearest } from '../../common/nearest.ts';
import { secretOf } from '../../gateway/config/entry-values.ts';
import { decodeClientEntry } from '../../gateway/config/server-entry.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { clients } from '../clients/clients.ts';
import { clientOfFile } from '../clients/configured.ts';
import {
  duplicateServers,
  isDisabled,
  readConfig,
  sectionNames,
  sectionsOf,
  serversIn,
  type WrittenServer,
} from '../clients/server-config.ts';
import {
  completeServer,
  type EntryProblem,
  type EntrySources,
  expandServer,
} from '../gateway/entries/complete-server.ts';
import { Inputs } from '../gateway/entries/inputs.ts';
import { sourcesOf } from '../gateway/entries/read-files.ts';
import { openStoredValues } from '../gateway/entries/stored-values.ts';
import { type JsonNode, nodeAt, positionOf } from '../text/jsonc.ts';
import type { Report } from './findings.ts';

/** A server of the file, with what is wrong with its entry. */
export interface CheckedServer {
  readonly name: string;
  readonly entry: ServerEntry;
  readonly reports: readonly Report[];
  /** False if it should not be started: it is disabled, or its entry is invalid. */
  readonly startable: boolean;
}

export interface CheckedConfig {
  readonly reports: readonly Report[];
  readonly servers: readonly CheckedServer[];
}

/** Reads and checks a file. */
export async function checkConfig(file: string): Promise<CheckedConfig> {
  const content = await readConfig(file);
  if (!content.ok) {
    if (content.missing) {
      const remedy = 'Check the path. "mooring list" shows the files of all clients.';
      return { reports: [{ id: 'config-missing', detail: `${file} does not exist`, remedy }], servers: [] };
    }
    const where = content.line === undefined ? file : `${file}:${content.line}:${content.column}`;
    const remedy = 'Correct the file at that place. Until then the client loads none of its servers.';
    return { reports: [{ id: 'config-syntax', detail: `${where}: ${content.message}`, remedy }], servers: [] };
  }
  const [client] = clientOfFile(file) ?? [];
  const { data, text, node } = content;
  const line = (path: readonly string[]): string => lineOf(text, node, path);
  const found = serversIn(data);
  const sources = sourcesOf(
    { data: isObject(data) ? data : {}, place: { file, text, offsetOf: content.offsetOf }, servers: found },
    { env: process.env, inputs: new Inputs({ env: process.env, stored: openStoredValues() }), notes: [] },
  );
  const servers: CheckedServer[] = [];
  for (const server of found) {
    servers.push(await checkServer(server, client, line([...server.section, server.name]), sources));
  }
  return {
    reports: [...strictJson(client, text, node), ...wrongSection(client, data), ...duplicates(node, data, line)],
    servers,
  };
}

const titleOf = (client: string | undefined): string =>
  (client === undefined ? undefined : clients[client]?.title) ?? 'The client';

/** "line 4: ", or nothing for TOML. */
function lineOf(text: string, node: JsonNode | undefined, path: readonly string[]): string {
  const found = node === undefined ? undefined : nodeAt(node, path);
  return found === undefined ? '' : `line ${positionOf(text, found.start).line}: `;
}

function strictJson(client: string | undefined, text: string, node: JsonNode | undefined): Report[] {
  if (client === undefined || clients[client]?.jsonc === true || node === undefined) return [];
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return [];
  } catch {
    return [
      {
        id: 'config-not-strict-json',
        detail: 'The file has comments or trailing commas, which are not part of JSON',
        remedy: `Remove them: ${titleOf(client)} does not document that it accepts them.`,
      },
    ];
  }
}

function wrongSection(client: string | undefined, data: unknown): Report[] {
  if (!isObject(data))
    return [{ id: 'config-invalid-value', detail: 'The file is not an object', remedy: 'It must be { … }.' }];
  const found = sectionsOf(data).filter(([first]) => first !== 'projects');
  const row = client === undefined ? undefined : clients[client];
  const expected = (row?.sectionIn?.(data) ?? row?.section)?.join('.');
  const other = found.map((each) => each.join('.')).find((each) => each !== expected);
  if (expected !== undefined && other !== undefined && !found.some((each) => each.join('.') === expected)) {
    return [
      {
        id: 'config-wrong-key',
        detail: `The servers are under "${other}", and ${titleOf(client)} reads "${expected}"`,
        remedy: `Rename "${other}" to "${expected}".`,
      },
    ];
  }
  if (found.length > 0) return [];
  const wanted = expected ?? sectionNames[0];
  const similar = Object.keys(data).find((key) => similarKey(key) || nearest(key, sectionNames) !== undefined);
  if (similar !== undefined && isObject(data[similar])) {
    const detail = `"${similar}" is not a key that clients read`;
    return [{ id: 'config-wrong-key', detail, remedy: `Rename it to "${wanted}".` }];
  }
  const entries = Object.entries(data).filter(([, value]) => isObject(value) && ('command' in value || 'url' in value));
  if (entries.length > 0) {
    return [
      {
        id: 'config-wrong-key',
        detail: `${entries.map(([name]) => name).join(', ')}: servers at the top level of the file are not read`,
        remedy: `Put them inside "${wanted}": { … }.`,
      },
    ];
  }
  if (serversIn(data).length > 0) return [];
  return [
    {
      id: 'config-empty',
      detail: 'The file has no servers',
      remedy: 'Add one: "mooring install <client> -- command …".',
    },
  ];
}

const similarKey = (key: string): boolean => /^mcp[-_ ]?servers?$/i.test(key);

function duplicates(node: JsonNode | undefined, data: unknown, line: (path: readonly string[]) => string): Report[] {
  return duplicateServers({ data, node }).map(({ name, section }) => ({
    id: 'config-duplicate-key' as const,
    detail: `${line([...section, name])}${name} is defined more than once; the last definition counts`,
    remedy: 'Remove one of them, or give it another name.',
  }));
}

/** Keys of an entry in any client. */
const entryKeys = new Set(
  `type transport transportType command args env environment envFile env_vars cwd workingDirectory url httpUrl serverUrl
headers http_headers env_http_headers bearer_token_env_var headersHelper requestInit oauth auth authProviderType scopes
disabled enabled required timeout startup_timeout_sec startup_timeout_ms tool_timeout_sec request_timeout
initialization_timeout autoApprove alwaysAllow trust description name title icon version gallery dev source settings
includeTools excludeTools enabled_tools disabled_tools disabledTools tools allowedTools sandbox sandboxEnabled remote
registryUrl instructions note notes`.split(/\s+/),
);

/** Names people write instead. */
const otherNames: Readonly<Record<string, string>> = {
  cmd: 'command',
  program: 'command',
  executable: 'command',
  arg: 'args',
  arguments: 'args',
  argv: 'args',
  envs: 'env',
  environmentVariables: 'env',
  uri: 'url',
  endpoint: 'url',
  header: 'headers',
};

/** Checks one entry. `line` begins each detail. */
async function checkServer(
  server: WrittenServer,
  client: string | undefined,
  line: string,
  sources: EntrySources,
): Promise<CheckedServer> {
  const { name, written } = server;
  const reports: Report[] = [];
  const wrong = (detail: string, remedy: string): void =>
    void reports.push({ id: 'config-invalid-value', detail: `${line}${detail}`, remedy });
  if (!isObject(written)) {
    wrong(`${name} is not an object`, 'An entry looks like { "command": "npx", "args": ["-y", "package"] }.');
    return { name, entry: {}, reports, startable: false };
  }
  checkValues(name, written, client, wrong);
  for (const key of Object.keys(written)) {
    if (entryKeys.has(key)) continue;
    const meant = otherNames[key] ?? nearest(key, entryKeys);
    reports.push({
      id: 'config-unknown-key',
      detail: `${line}"${key}" is not a key of a server`,
      remedy: meant === undefined ? 'Remove it, or check its name.' : `Did you mean "${meant}"?`,
    });
  }
  const completed = isDisabled(written) ? expandServer(server, sources) : await completeServer(server, sources);
  const entry = decodeClientEntry(completed.written, client);
  for (const report of new Map(completed.problems.map((each) => [each.why, missingValue(each, line)])).values()) {
    reports.push(report);
  }
  for (const [variable, text] of Object.entries({ ...entry.env, ...entry.headers })) {
    if (!isPlaceholder(text)) continue;
    const remedy = 'Replace it with your own value.';
    reports.push({ id: 'env-placeholder', detail: `${line}${variable} is ${JSON.stringify(text)}`, remedy });
  }
  if (isDisabled(written)) {
    reports.push({ id: 'server-disabled', detail: `${line}the entry is switched off`, remedy: 'Nothing was started.' });
  }
  const stops = ['config-invalid-value', 'env-missing', 'input-missing', 'server-disabled'];
  return { name, entry, reports, startable: !reports.some(({ id }) => stops.includes(id)) };
}

/** The report of a value that is not there. */
function missingValue({ kind, variable, why }: EntryProblem, line: string): Report {
  if (kind === 'variable') {
    return {
      id: 'env-missing',
      detail: `${line}the variable ${variable} is not set`,
      remedy: `Set ${variable} in the environment of the client, or write a default: \${${variable}:-value}.`,
    };
  }
  if (kind === 'file')
    return { id: 'config-invalid-value', detail: `${line}${why}`, remedy: 'Correct the path, or the file.' };
  // The client asks for it.
  return { id: 'input-missing', detail: `${line}${why}`, remedy: 'Nothing was started.' };
}

function checkValues(
  name: string,
  written: JsonObject,
  client: string | undefined,
  wrong: (detail: string, remedy: string) => void,
): void {
  const { command, args, env, environment } = written;
  const urls = ['url', 'httpUrl', 'serverUrl'].filter((key) => key in written);
  if (command === undefined && urls.length === 0) {
    wrong(`${name} has neither "command" nor "url"`, 'Add the command that starts the server, or its URL.');
  }
  if (command !== undefined && urls.length > 0) {
    wrong(`${name} has both "command" and "${urls[0]}"`, 'Remove one of them.');
  }
  if (Array.isArray(command) && client !== 'opencode' && client !== undefined) {
    wrong(`"command" of ${name} is a list`, 'Write the program in "command" and the rest in "args".');
  } else if (command !== undefined && typeof command !== 'string' && typeof command !== 'object') {
    wrong(`"command" of ${name} is not a text`, 'Write the program, such as "npx".');
  }
  if (args !== undefined && !(Array.isArray(args) && args.every((each) => typeof each === 'string'))) {
    wrong(`"args" of ${name} is not a list of strings`, 'Write "args": ["one", "two"].');
  }
  for (const [key, value] of Object.entries({ env, environment })) {
    if (value === undefined) continue;
    const bad = isObject(value) ? Object.entries(value).find(([, each]) => typeof each !== 'string') : [key];
    if (bad !== undefined && secretOf(bad[1]) !== undefined) {
      wrong(`"${bad[0]}" in "${key}" of ${name} is a secret`, 'Only the gateway and the client commands look it up.');
    } else if (bad !== undefined)
      wrong(`"${bad[0]}" in "${key}" of ${name} is not a text`, 'Put the value in double quotes.');
  }
  for (const key of urls) {
    if (typeof written[key] !== 'string') wrong(`"${key}" of ${name} is not a text`, 'Write the URL in double quotes.');
  }
  if (client === 'windsurf' && 'url' in written && !('serverUrl' in written)) {
    wrong(`Windsurf does not read "url" of ${name}`, 'Rename "url" to "serverUrl".');
  }
}

/** `<your-api-key>`, `YOUR_TOKEN`, `Bearer YOUR_KEY_HERE`, `xxx`, `changeme`. */
function isPlaceholder(text: string): boolean {
  const value = text.replace(/^Bearer\s+/i, '');
  return /^<[^<>]+>$|^\[?your[-_ ]|_here$|^x{3,}$|^change[-_ ]?me$|^\.\.\.$|^…$/i.test(value);
}
