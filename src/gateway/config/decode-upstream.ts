// Decodes one server of a configuration, whose "mooring" keys have been validated against their schema.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerEntry } from '../../client/index.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Root } from '../../protocol/model.ts';
import { reservedParams } from '../../protocol/oauth-params.ts';
import { canonicalJson, type Issue } from '../../schema/index.ts';
import { slugOf } from '../names/index.ts';
import { sha256 } from '../sha256.ts';
import { decodeFilter, type WrittenFilter } from './decode-view.ts';
import { defaults } from './defaults.ts';
import { secretOf, valueIssues } from './entry-values.ts';
import { forbiddenHeader } from './forward-headers.ts';
import type { RestartConfig, ToolOverride, UpstreamAuth, UpstreamConfig } from './gateway-config.ts';
import { filterOfClient, ignoredKeys, inheritedOfClient, timeoutOfClient } from './other-keys.ts';
import { decodeClientEntry, isDisabled, knownTypes } from './server-entry.ts';

/** An entry as written, with variables expanded. */
export interface WrittenUpstream {
  readonly name: string;
  readonly written: unknown;
  /** The client whose file it is, where keys have another meaning: `gemini`, `cline`. */
  readonly client?: string | undefined;
  /** The folder of the file. */
  readonly folder?: string | undefined;
}

/** What a configuration does not say itself. */
export interface DecodeOptions {
  /** Whether callers are authenticated: different callers then do not share connections. */
  readonly authenticated?: boolean;
  /** The folder that paths in "mooring" are relative to. */
  readonly folder?: string;
}

/** A hint for the user that is not an error. */
export interface ConfigNote {
  readonly level: 'info' | 'warning';
  readonly text: string;
}

interface OwnKeys
  extends Partial<
    Omit<UpstreamConfig, 'prefix' | 'roots' | 'tools' | 'prompts' | 'resources' | 'override' | 'restart' | 'sandbox'>
  > {
  readonly prefix?: string | false;
  readonly tools?: WrittenFilter;
  readonly prompts?: WrittenFilter;
  readonly resources?: WrittenFilter;
  readonly override?: Readonly<Record<string, Partial<ToolOverride>>>;
  readonly restart?: Partial<RestartConfig>;
  readonly roots?: readonly string[];
  readonly sandbox?: {
    readonly readOnly?: readonly string[];
    readonly writable?: readonly string[];
    readonly network?: 'none' | 'host';
  };
}

interface DecodedUpstream {
  readonly server: UpstreamConfig;
  readonly issues: readonly Issue[];
  readonly notes: readonly ConfigNote[];
}

/** Decodes one entry. */
export function decodeUpstream(given: WrittenUpstream, options: DecodeOptions): DecodedUpstream {
  const { name, written, client } = given;
  const issues: Issue[] = [];
  const folder = given.folder ?? options.folder ?? process.cwd();
  const own = (isObject(written) ? (written['mooring'] ?? {}) : {}) as OwnKeys;
  const entry = decodeClientEntry(written, client);
  const disabled = isDisabled(written);
  if (!disabled) issues.push(...entryIssues(name, written, entry));
  const timeoutMs = own.timeoutMs ?? timeoutOfClient(written, client) ?? defaults.timeoutMs;
  const slug = slugOf(typeof own.prefix === 'string' ? own.prefix : name);
  const toolFilter = decodeFilter(own.tools ?? filterOfClient(written), [name, 'mooring', 'tools'], issues);
  for (const header of own.forwardHeaders ?? []) {
    const why = forbiddenHeader(header);
    if (why !== undefined) issues.push({ path: [name, 'mooring', 'forwardHeaders'], message: `${header}: ${why}` });
  }
  issues.push(...ownIssues(own).map(({ path, message }) => ({ path: [name, 'mooring', ...path], message })));
  const auth = own.auth ?? authOf(entry);
  const decoded: Omit<UpstreamConfig, 'digest' | 'identity'> = {
    name,
    slug,
    entry,
    disabled,
    prefix: own.prefix !== false,
    tools: toolFilter,
    prompts: decodeFilter(own.prompts, [name, 'mooring', 'prompts'], issues),
    resources: decodeFilter(own.resources, [name, 'mooring', 'resources'], issues),
    override: Object.fromEntries(Object.entries(own.override ?? {}).map(([tool, each]) => [tool, overrideOf(each)])),
    isolation:
      own.isolation ?? (options.authenticated === true || auth.kind === 'token-exchange' ? 'principal' : 'shared'),
    start: own.start ?? defaults.start,
    idleMs: own.idleMs ?? defaults.idleMs,
    restart: { ...defaults.restart, ...own.restart },
    maxProcesses: own.maxProcesses ?? defaults.maxProcesses,
    timeoutMs,
    // A longer time limit must not end with the default of the other one.
    maxTimeoutMs: own.maxTimeoutMs ?? Math.max(defaults.maxTimeoutMs, timeoutMs),
    revision: own.revision ?? defaults.revision,
    auth,
    forwardHeaders: (own.forwardHeaders ?? []).map((each) => each.toLowerCase()),
    roots: own.roots?.map((each) => rootOf(each, folder)),
    asks: own.asks ?? defaults.asks,
    pin: own.pin ?? defaults.pin,
    newTools: own.newTools ?? defaults.newTools,
    refreshMs: own.refreshMs ?? defaults.refreshMs,
    maxResultBytes: own.maxResultBytes ?? defaults.maxResultBytes,
    required: own.required ?? defaults.required,
    validate: own.validate ?? defaults.validate,
    identify: own.identify ?? defaults.identify,
    inheritEnv: own.inheritEnv ?? inheritedOfClient(written),
    sandbox: sandboxOf(own.sandbox, folder),
  };
  issues.push(...authIssues(name, decoded));
  const server = {
    ...decoded,
    digest: sha256(canonicalJson(decoded)),
    identity: sha256(canonicalJson([slug, addressOf(entry)])),
  };
  return { server, issues, notes: notesOn(name, written) };
}

function entryIssues(name: string, written: unknown, { type, command, url }: ServerEntry): Issue[] {
  if (!isObject(written)) return [{ path: [name], message: 'must be an object with a command or a url' }];
  const values = valueIssues(written, [name]);
  if (values.length > 0) return values;
  if (type !== undefined && !knownTypes.includes(type)) {
    const path = [name, typeof written['type'] === 'string' ? 'type' : 'transport'];
    return [{ path, message: `${JSON.stringify(type)} is not known; use one of ${knownTypes.join(', ')}` }];
  }
  if (command !== undefined && command !== '' && url !== undefined) {
    return [{ path: [name], message: 'has both a command and a url; remove one' }];
  }
  // What reads a file replaces it by its variables.
  if (command !== undefined && typeof written['envFile'] === 'string') {
    return [{ path: [name, 'envFile'], message: 'is read only for configuration files; put the variables into env' }];
  }
  if (command !== undefined && command !== '') return [];
  if (url === undefined && command === '') return [{ path: [name, 'command'], message: 'must not be empty' }];
  if (url === undefined) return [{ path: [name], message: `needs a command or a url${keysOf(written)}` }];
  if (!URL.canParse(url) || !/^(https?|wss?):$/.test(new URL(url).protocol)) {
    return [{ path: [name, 'url'], message: `${JSON.stringify(url)} is not an http, https, ws or wss URL` }];
  }
  const { username, password } = new URL(url);
  if (username === '' && password === '') return [];
  return [{ path: [name, 'url'], message: 'has credentials in it; put them into headers' }];
}

/** Shows a mistyped key beside the one that is missing. */
function keysOf(written: object): string {
  const keys = Object.keys(written);
  return keys.length === 0 ? '' : `; it has only ${keys.map((key) => JSON.stringify(key)).join(', ')}`;
}

/** What is wrong with values of our own keys, as far as their schema cannot check it. */
function ownIssues({ roots = [], override = {} }: OwnKeys): Issue[] {
  const issues: Issue[] = [];
  for (const [index, root] of roots.entries()) {
    if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(root) || isFileUri(root)) continue;
    issues.push({ path: ['roots', index], message: `${JSON.stringify(root)} is neither a folder nor a file: URI` });
  }
  const renamed = new Map<string, string>();
  for (const [tool, { name }] of Object.entries(override)) {
    if (name === undefined) continue;
    const other = renamed.get(name);
    renamed.set(name, tool);
    if (other === undefined) continue;
    const message = `${JSON.stringify(name)} is already the name of ${JSON.stringify(other)}; only one of them could be called`;
    issues.push({ path: ['override', tool, 'name'], message });
  }
  return issues;
}

function authIssues(
  name: string,
  {
    auth,
    entry,
    sandbox,
    isolation,
    start,
  }: Pick<UpstreamConfig, 'auth' | 'entry' | 'sandbox' | 'isolation' | 'start'>,
): Issue[] {
  const path = [name, 'mooring', 'auth'];
  const isCommand = entry.command !== undefined;
  const issues: Issue[] = [];
  if (isCommand && auth.kind !== 'none') {
    issues.push({ path, message: 'is for servers with a url; give a command its credentials in env' });
  }
  if (secretOf((auth as { readonly clientSecret?: unknown }).clientSecret) !== undefined) {
    const message = 'is a secret, which is looked up only for configuration files; put its value here';
    issues.push({ path: [...path, 'clientSecret'], message });
  }
  if (auth.kind === 'client-credentials' || auth.kind === 'token-exchange') {
    if (auth.clientId === undefined) issues.push({ path, message: `${auth.kind} needs a clientId` });
    if (auth.clientSecret === undefined && auth.privateKeyFile === undefined) {
      issues.push({ path, message: `${auth.kind} needs a clientSecret or a privateKeyFile` });
    }
  }
  if (auth.kind === 'token-exchange') {
    if (auth.issuer === undefined) {
      issues.push({
        path,
        message: 'token-exchange needs an issuer: the server does not choose who gets the tokens of callers',
      });
    }
    if (isolation !== 'principal' && isolation !== 'session') {
      const message = `cannot be ${JSON.stringify(isolation)} with token-exchange: each caller has a token of its own`;
      issues.push({ path: [name, 'mooring', 'isolation'], message });
    }
    if (start === 'eager') {
      const message = 'cannot be "eager" with token-exchange: the server can be used when a caller sends a request';
      issues.push({ path: [name, 'mooring', 'start'], message });
    }
    const fixed = Object.keys(entry.headers ?? {}).find((each) => each.toLowerCase() === 'authorization');
    if (fixed !== undefined) {
      const message = 'cannot be set with token-exchange: all callers would act as one user';
      issues.push({ path: [name, 'headers', fixed], message });
    }
    if (/^wss?:/i.test(entry.url ?? '')) {
      const message = 'needs an http or https URL: a WebSocket keeps the token that it was opened with';
      issues.push({ path, message: `token-exchange ${message}` });
    }
  } else if ((auth as { readonly subjectTokenType?: unknown }).subjectTokenType !== undefined) {
    issues.push({ path: [...path, 'subjectTokenType'], message: 'is for token-exchange' });
  }
  if (auth.kind !== 'none' && auth.kind !== 'headers') {
    const reserved = Object.keys(auth.extraParams ?? {}).filter((each) => reservedParams.has(each));
    const message = `cannot contain ${reserved.join(', ')}: the gateway sets it`;
    if (reserved.length > 0) issues.push({ path: [...path, 'extraParams'], message });
  }
  if (sandbox !== undefined && !isCommand) {
    issues.push({ path: [name, 'mooring', 'sandbox'], message: 'is for servers with a command' });
  }
  return issues;
}

/** The headers of the entry if there are any; otherwise the client signs in when the server requires it. */
function authOf({ command, url, headers }: ServerEntry): UpstreamAuth {
  if (command !== undefined || url === undefined) return { kind: 'none' };
  if (Object.keys(headers ?? {}).length > 0) return { kind: 'headers' };
  return /^ws/i.test(url) ? { kind: 'none' } : { kind: 'oauth' };
}

function overrideOf(written: Partial<ToolOverride>): ToolOverride {
  return { ...written, hideArguments: written.hideArguments ?? [], defaults: written.defaults ?? {} };
}

function sandboxOf(written: OwnKeys['sandbox'], folder: string): UpstreamConfig['sandbox'] {
  if (written === undefined) return undefined;
  const absolute = (paths: readonly string[] = []): string[] => paths.map((each) => absolutePath(each, folder));
  return {
    readOnly: absolute(written.readOnly),
    writable: absolute(written.writable),
    network: written.network ?? 'none',
  };
}

function isFileUri(text: string): boolean {
  return /^file:/i.test(text);
}

function rootOf(text: string, folder: string): Root {
  if (isFileUri(text)) return { uri: text };
  return { uri: pathToFileURL(absolutePath(text, folder)).href, name: text };
}

/** Relative paths start in `folder`; `~` is the home folder. */
function absolutePath(path: string, folder: string): string {
  if (!/^~(?=$|[/\\])/.test(path)) return resolve(folder, path);
  // Loaded only here: most configurations need no home folder.
  return join(process.getBuiltinModule('node:os').homedir(), path.slice(1));
}

/** What identifies a server: the command with its arguments, or the origin and path. */
function addressOf({ command, args = [], url }: ServerEntry): unknown {
  if (command !== undefined) return [command, ...args];
  if (url === undefined || !URL.canParse(url)) return url ?? '';
  const { origin, pathname } = new URL(url);
  // The origin of ws: is opaque.
  return origin === 'null' ? url.split(/[?#]/)[0] : `${origin}${pathname}`;
}

/** What an entry has that has no effect here. */
export function notesOn(name: string, written: unknown): ConfigNote[] {
  const { ignored, unknown } = ignoredKeys(written);
  const notes: ConfigNote[] = [];
  if (ignored.length > 0) {
    notes.push({ level: 'info', text: `${name}: keys of other clients, without effect here: ${ignored.join(', ')}` });
  }
  if (unknown.length > 0) {
    notes.push({ level: 'warning', text: `${name}: unknown keys, without effect: ${unknown.join(', ')}` });
  }
  return notes;
}
