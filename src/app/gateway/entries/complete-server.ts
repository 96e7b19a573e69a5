// The entry of one server with the values of its variables, inputs, secrets and files.

import { dirname } from 'node:path';
import type { ConfigNote } from '../../../gateway/config/decode-upstream.ts';
import { variableHeaders } from '../../../gateway/config/server-entry.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { WrittenServer } from '../../clients/server-config.ts';
import { expandVariables } from '../../config/expand.ts';
import { positionOf } from '../../text/jsonc.ts';
import { mapTexts, optionalVariables, withAbsolutePaths, withOwnVariables } from './client-variables.ts';
import { type EntryWithFiles, unknownOutsideVscode, withEnvFile, withFileValues } from './entry-files.ts';
import { type Inputs, inputsIn, inputsNeededBy, replaceInputs } from './inputs.ts';
import { secretsIn, withSecrets } from './secrets.ts';

/** A file that was read, to find lines in it. */
export interface ConfigText {
  readonly file: string;
  readonly text: string;
  offsetOf(path: readonly (string | number)[]): number;
}

/** Where an entry comes from, and where its values come from. */
export interface EntrySources {
  readonly place: ConfigText;
  /** The content of the file. */
  readonly data: unknown;
  /** The client whose file it is, where that affects the meaning of a key. */
  readonly client: string | undefined;
  /** The folder of the project that the file belongs to. */
  readonly workspace: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What `~` stands for. Absent: it is left as it is, as clients do. */
  readonly home?: string | undefined;
  /** Finds inputs (`${input:…}`) and secrets. Absent: nothing is started, and texts that name them stay in their place. */
  readonly inputs: Inputs | undefined;
  readonly notes: ConfigNote[];
}

/** A value that an entry needs and that is not there. */
export interface EntryProblem {
  /** What has no value. */
  readonly kind: 'variable' | 'input' | 'secret' | 'file' | 'setting';
  /** The name of the variable. */
  readonly variable?: string;
  /** In the entry. */
  readonly path: readonly (string | number)[];
  readonly why: string;
}

/** An entry, and what is missing in it. */
export interface CompletedServer {
  readonly written: unknown;
  readonly problems: readonly EntryProblem[];
}

/** The entry with all its values. */
export async function completeServer(server: WrittenServer, sources: EntrySources): Promise<CompletedServer> {
  const expanded = expandServer(server, sources);
  const problems = [...expanded.problems];
  return { written: await withValues(server, expanded.written, sources, problems), problems };
}

/** The text of a problem, with file and line. */
export function describeProblem(
  place: ConfigText,
  { name, section }: WrittenServer,
  { path, why }: EntryProblem,
): string {
  return `${lineOf(place, [...section, name, ...path])}: ${name}: ${why}`;
}

/** The entry with the values of its variables. */
export function expandServer({ name, section, written }: WrittenServer, sources: EntrySources): CompletedServer {
  const { variables, client, workspace, home, notes } = sources;
  const isSet = (variable: string): boolean => variables[variable] !== undefined;
  const ofClient = (text: string): string => {
    for (const variable of optionalVariables(text, { client, section }).filter((each) => !isSet(each))) {
      const why = `the environment variable ${variable} is not set and stays empty`;
      notes.push({ level: 'warning', text: `${name}: ${why}` });
    }
    return withOwnVariables(text, { client, section }, isSet);
  };
  const { value, unset } = expandVariables(withVariableHeaders(mapTexts(written, ofClient)), variables);
  const problems: EntryProblem[] = unset.map(({ name: variable, path }) => {
    const key = keyOfVariable(written, path);
    const given = { kind: 'variable', variable } as const;
    return key === undefined
      ? { ...given, path, why: unsetVariable(variable) }
      : { ...given, path: [key], why: `needs the environment variable ${variable} (${key}), which is not set; set it` };
  });
  walkTexts(written, [], (text, path) => {
    for (const form of unknownOutsideVscode(text, section)) {
      problems.push({ kind: 'setting', path, why: onlyInVscode(form) });
    }
  });
  return { written: withAbsolutePaths(value, workspace, home), problems };
}

/** The entry with the values of its inputs and secrets, and of the files that it names. */
async function withValues(
  server: WrittenServer,
  expanded: unknown,
  sources: EntrySources,
  problems: EntryProblem[],
): Promise<unknown> {
  const { inputs, place, notes, workspace } = sources;
  const { name, section } = server;
  const folders = [...new Set([dirname(place.file), workspace])];
  const take = (given: EntryWithFiles): unknown => {
    problems.push(...given.problems.map(({ path, why }) => ({ kind: 'file' as const, path, why })));
    notes.push(...(given.notes ?? []));
    return given.value;
  };
  const given = section[0] === 'mcp' ? take(withFileValues(expanded, folders)) : expanded;
  const written = await withInputs(server, given, sources, problems);
  const needed = new Set(secretsIn(written).map((each) => each.name));
  if (inputs === undefined && needed.size > 0) {
    notes.push({ level: 'info', text: `${name}: needs the secrets ${[...needed].join(', ')} when it is served` });
  }
  const { value, missing } = await withSecrets(
    written,
    (secret) => inputs?.findSecret(secret) ?? { ok: true, value: `\${secret:${secret}}` },
  );
  for (const { path, why } of missing) problems.push({ kind: 'secret', path, why });
  // Last: what looks like an input or a variable in it is not replaced.
  return take(withEnvFile(name, value, folders));
}

/** The entry with the values of its inputs. */
async function withInputs(
  { name }: WrittenServer,
  value: unknown,
  { data, inputs, place, notes }: EntrySources,
  problems: EntryProblem[],
): Promise<unknown> {
  const needed = new Map<string, readonly (string | number)[]>();
  walkTexts(value, [], (text, path) => {
    for (const id of inputsNeededBy(text)) if (!needed.has(id)) needed.set(id, path);
  });
  if (needed.size === 0) return value;
  if (inputs === undefined) {
    const ids = [...needed.keys()].join(', ');
    const text = `${name}: needs the input${needed.size === 1 ? '' : 's'} ${ids} when it is served`;
    notes.push({ level: 'info', text });
    return value;
  }
  const definitions = inputsIn(data);
  const values = new Map<string, string>();
  for (const [id, path] of needed) {
    const found = await inputs.find(place.file, id, definitions.get(id));
    if (found.ok) values.set(id, found.value);
    else problems.push({ kind: 'input', path, why: found.why });
  }
  return mapTexts(value, (text) => replaceInputs(text, values));
}

export function unsetVariable(name: string): string {
  return `needs the environment variable ${name}, which is not set; set it, or write \${${name}:-default}`;
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

/** The key that names the variable of a header, where the file has no text with the variable in it. */
function keyOfVariable(written: unknown, [key, header]: readonly (string | number)[]): string | undefined {
  if (!isObject(written) || key !== 'http_headers' || typeof header !== 'string') return undefined;
  const own = written['http_headers'];
  if ((isObject(own) && header in own) || !(header in variableHeaders(written))) return undefined;
  const others = written['env_http_headers'];
  return isObject(others) && header in others ? 'env_http_headers' : 'bearer_token_env_var';
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
export function lineOf({ file, text, offsetOf }: ConfigText, path: readonly (string | number)[]): string {
  return `${file}:${positionOf(text, offsetOf(path)).line}`;
}
