// Copies the servers of a client to a file for the gateway, and replaces them in the client with the gateway.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ServerEntry } from '../../client/index.ts';
import { errnoText } from '../../common/errno-text.ts';
import { type ConfigNote, notesOn } from '../../gateway/config/decode-upstream.ts';
import { headerKeys, valueIssues } from '../../gateway/config/entry-values.ts';
import { filterOfClient, inheritedOfClient, timeoutOfClient } from '../../gateway/config/other-keys.ts';
import { decodeClientEntry, decodeEntry } from '../../gateway/config/server-entry.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { formatIssues, type Issue } from '../../schema/index.ts';
import { type ClientRow, clientFile, clients, type Scope } from '../clients/clients.ts';
import { type Edited, replaceEntries } from '../clients/edit.ts';
import { gatewayCommand, launchGateway } from '../clients/launch.ts';
import {
  isDisabled,
  isOfExtension,
  readConfig,
  sectionsOf,
  serversIn,
  type WrittenServer,
} from '../clients/server-config.ts';
import { thisPlatform } from '../config/folders.ts';
import { makeFolder } from '../make-folder.ts';
import { positionOf } from '../text/jsonc.ts';
import { UsageError } from '../usage-error.ts';
import {
  mapTexts,
  placeVariables,
  withAbsolutePaths,
  withOwnVariables,
  workspaceOf,
} from './entries/client-variables.ts';
import { onlyInVscode } from './entries/complete-server.ts';
import { envFileKey, findFile, namesFile, unknownOutsideVscode } from './entries/entry-files.ts';
import { inputsNeededBy, variableOfInput, writtenInputs } from './entries/inputs.ts';
import { noteOnExtension } from './entries/read-files.ts';
import { secretsIn, withSecrets } from './entries/secrets.ts';

/** The servers of a client, as the gateway reads them. */
export interface ImportedServers {
  readonly client: string;
  readonly file: string;
  readonly servers: JsonObject;
  /** Where they are in the file: usually one place. */
  readonly sections: readonly (readonly string[])[];
  /** Definitions of the inputs that the servers need, as VS Code writes them. */
  readonly inputs?: readonly unknown[];
  /** Entries that start a gateway already; they are not imported, or it would start itself. */
  readonly gateways: readonly WrittenServer[];
  /** What does not come along. */
  readonly notes: readonly ConfigNote[];
}

/** Reads the servers of a client. Throws a `UsageError` if it has none. */
export async function importServers(client: string, scope: Scope, named?: string): Promise<ImportedServers> {
  const row = clients[client] as ClientRow;
  const file = named === undefined ? clientFile(row, scope, thisPlatform(), process.cwd()) : resolve(named);
  if (file === undefined) throw new UsageError(`${row.title} has no configuration file for a project`);
  const content = await readConfig(file);
  if (!content.ok) {
    const where = content.line === undefined ? '' : `:${content.line}:${content.column}`;
    throw new UsageError(content.missing ? `${row.title} has no file ${file}` : `${file}${where}: ${content.message}`);
  }
  const found = serversIn(content.data).filter(({ section }) => section[0] !== 'projects');
  const written = found.filter((each) => !isOfExtension(each));
  const gateways = written.filter(isGateway);
  const taken = written.filter((each) => !isGateway(each));
  // What is not valid would be left out, and the entry would mean something else.
  const wrong = (await Promise.all(taken.map(issuesOf))).flat();
  if (wrong.length > 0) {
    const lineOf = ({ section, path }: EntryIssue): number =>
      positionOf(content.text, content.offsetOf([...section, ...path])).line;
    throw new UsageError(wrong.map((each) => `${file}:${lineOf(each)}: ${formatIssues([each])}`).join('\n'));
  }
  const servers = Object.fromEntries(taken.map((server) => [server.name, neutralEntry(server, client, file)]));
  if (Object.keys(servers).length === 0) {
    const why =
      gateways.length === 0 ? '' : `: ${gateways.map(({ name }) => name).join(', ')} already starts the gateway`;
    throw new UsageError(`${file} has no servers to import${why}`);
  }
  const needed = inputsNeededBy(JSON.stringify(servers));
  const inputs = writtenInputs(content.data).filter((each) => isObject(each) && needed.includes(String(each['id'])));
  const notes = [
    ...found.filter(isOfExtension).map(noteOnExtension),
    ...taken.flatMap(({ name, written: entry }) => notesOn(name, entry)),
  ];
  const sections = sectionsOf(content.data).filter((section) =>
    taken.some((each) => each.section.join() === section.join()),
  );
  return { client, file, servers, sections, gateways, notes, ...(inputs.length === 0 ? {} : { inputs }) };
}

interface EntryIssue extends Issue {
  readonly section: readonly string[];
}

/** What is wrong with an entry. Secrets are looked up when the gateway starts. */
async function issuesOf({ name, section, written }: WrittenServer): Promise<readonly EntryIssue[]> {
  if (isDisabled(written)) return [];
  const { value } = await withSecrets(written, () => ({ ok: true, value: '' }));
  const { command, url } = decodeEntry(value);
  const issues = [...(isObject(value) ? valueIssues(value, [name]) : []), ...unresolvable(name, section, value)];
  if (issues.length > 0) return issues.map((issue) => ({ ...issue, section }));
  return command || url ? [] : [{ section, path: [name], message: 'needs a command or a url' }];
}

/** References that would not be replaced in the file for the gateway. */
function unresolvable(name: string, section: readonly string[], written: unknown): Issue[] {
  const issues: Issue[] = [];
  mapTexts(written, (text) => {
    for (const form of unknownOutsideVscode(text, section)) issues.push({ path: [name], message: onlyInVscode(form) });
    if (section[0] === 'mcp' && namesFile(text)) {
      issues.push({
        path: [name],
        message: `${text} is replaced in files of opencode only; write { "secret": "name" }`,
      });
    }
    return text;
  });
  return issues;
}

/** Whether an entry starts `mooring gateway` or `mooring connect` with the servers of files. With a command or URL it is a server like any other. */
function isGateway({ written }: WrittenServer): boolean {
  const { command, args = [] } = decodeEntry(written);
  const words = [command ?? '', ...args];
  const at = words.findIndex((word, i) => /^(gateway|connect)$/.test(word) && program.test(words[i - 1] ?? ''));
  return at !== -1 && !words.slice(at).some((word) => word === '--' || /^(https?|wss?):/i.test(word));
}

/** Our program, also as a package with its version and as a batch file of Windows. */
const program = /(^|[/\\])(mooring(@[^/\\]*|\.cmd)?|cli\.js)$/;

/** The entry in a form that depends neither on the client nor on the place of its file. */
function neutralEntry({ written, section }: WrittenServer, client: string, file: string): unknown {
  const workspace = workspaceOf(file, client);
  const place = placeVariables(workspace);
  const inPlace = mapTexts(written, (text) =>
    withOwnVariables(text, { client, section }).replace(
      /(?<!\$)\$\{(workspaceFolder|workspaceFolderBasename)\}/g,
      (_all, name: string) => place[name] as string,
    ),
  );
  const moved = withAbsolutePaths(inPlace, workspace, thisPlatform().home);
  const entry = decodeClientEntry(moved, client);
  const tools = filterOfClient(moved);
  const timeoutMs = timeoutOfClient(moved, client);
  const inheritEnv = inheritedOfClient(moved);
  const own = isObject(moved) && isObject(moved['mooring']) ? moved['mooring'] : {};
  const options = {
    ...(tools === undefined ? {} : { tools }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(inheritEnv.length === 0 ? {} : { inheritEnv }),
    ...own,
  };
  // opencode has types of its own.
  const { type, ...rest } = entry;
  const known = type === 'local' || type === 'remote' ? undefined : type;
  const envFile = isObject(moved) && rest.command !== undefined ? moved[envFileKey] : undefined;
  return {
    ...(known === undefined ? {} : { type: known }),
    ...rest,
    ...withSecretsKept(moved, rest),
    ...(typeof envFile !== 'string' ? {} : { [envFileKey]: withFullPath(envFile, [dirname(file), workspace]) }),
    ...(isDisabled(moved) ? { disabled: true } : {}),
    ...(Object.keys(options).length === 0 ? {} : { mooring: options }),
  };
}

/** A path that does not depend on the place of the file. One that begins with a variable does not, either. */
function withFullPath(path: string, folders: readonly string[]): string {
  return path.startsWith('${') ? path : findFile(path, folders);
}

/** Variables and headers with the secrets that they name, which are looked up when the gateway starts. */
function withSecretsKept(written: unknown, entry: ServerEntry): object {
  const kept: { env?: Record<string, unknown>; headers?: Record<string, unknown> } = {};
  for (const { path, name: secret } of secretsIn(written)) {
    const key = headerKeys.some((each) => each === path[0]) ? 'headers' : 'env';
    if (path[0] !== 'mooring') kept[key] = { ...entry[key], ...kept[key], [path.at(-1) as string]: { secret } };
  }
  return kept;
}

/** The text of the file for the gateway. */
export function gatewayFileText({ servers, inputs }: Pick<ImportedServers, 'servers' | 'inputs'>): string {
  return `${JSON.stringify({ ...(inputs === undefined ? {} : { inputs }), mcpServers: servers }, null, 2)}\n`;
}

/** Writes the file for the gateway; entries often contain secrets, so only this user can read it. */
export function writeGatewayFile(file: string, text: string): void {
  const isFile = existsSync(file) && statSync(file).isFile();
  if (isFile && readFileSync(file, 'utf8') !== text) {
    throw new UsageError(`${file} already exists. Choose another file with --output, or remove it`);
  }
  try {
    makeFolder(dirname(resolve(file)));
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    const why = errnoText(error, 'folder');
    if (why === undefined) throw error;
    throw new UsageError(`${file} cannot be written: ${why}. Choose another file with --output`);
  }
}

/**
 * Replaces the imported servers in the client with the gateway. A backup of the client's file is kept. `sharedIn`: the folder of
 * a gateway that it shares with other clients.
 */
export function replaceInClient(
  { client, file, servers, sections, gateways, inputs = [] }: ImportedServers,
  gatewayFile: string,
  sharedIn?: string,
): Edited {
  const [section = [], ...others] = sections;
  if (others.length > 0) {
    const places = sections.map((each) => each.join('.')).join(' and ');
    throw new UsageError(`${file} has servers under ${places}. Replace them by hand, or move them to one place first`);
  }
  // A file that --file names may have them in a place other than in the usual file of the client.
  const { sectionIn: _usual, ...usual } = clients[client] as ClientRow;
  const row: ClientRow = { ...usual, section };
  const fresh = launchGateway(resolve(gatewayFile), inputVariables(inputs), sharedIn);
  const [known] = gateways.filter(({ written }) => decodeEntry(written).args?.includes('--config'));
  if (known === undefined) {
    const name = gateways.some((each) => each.name === 'mooring') ? 'mooring-gateway' : 'mooring';
    return replaceEntries(row, file, Object.keys(servers), name, row.encodeEntry(fresh));
  }
  // The gateway of an earlier import keeps serving its own files.
  const { command = '', args: given = [] } = decodeEntry(known.written);
  const own = sharedIn === undefined ? -1 : given.indexOf('gateway');
  const args = given.flatMap((word, at) => (at === own ? gatewayCommand(sharedIn) : [word]));
  const files = args.includes(resolve(gatewayFile)) ? [] : ['--config', resolve(gatewayFile)];
  const entry = row.encodeEntry({ ...fresh, command, args: [...args, ...files] });
  return replaceEntries(row, file, Object.keys(servers), known.name, entry);
}

/** The client keeps asking for its inputs, and starts the gateway with the values: a gateway has no terminal there. */
function inputVariables(inputs: readonly unknown[]): Record<string, string> {
  const ids = inputs.map((each) => String((each as { readonly id: unknown }).id));
  return Object.fromEntries(ids.map((id) => [variableOfInput(id), `\${input:${id}}`]));
}
