// Turns the content of configuration files into a `GatewayConfig`: checks our keys, fills in defaults, gives every server
// its slug. The application reads the files and expands variables first.

import { assertKnownOptions } from '../../common/known-options.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { canonicalJson, compileSchema, type Issue, type JsonSchema, type Validator } from '../../schema/index.ts';
import { slugOf } from '../names/index.ts';
import { type ConfigNote, type DecodeOptions, decodeUpstream, type WrittenUpstream } from './decode-upstream.ts';
import { decodeView } from './decode-view.ts';
import { defaults, defaultViewName } from './defaults.ts';
import type { BareNames, GatewayConfig, UpstreamConfig, ViewConfig } from './gateway-config.ts';
import { gatewaySchema, upstreamSchema } from './schema.ts';
import { viewName, wrongViewName } from './view-name.ts';

/** The content of one file, with variables expanded. */
export interface GatewaySource {
  readonly servers: readonly WrittenUpstream[];
  /** "gateway" of the file. */
  readonly gateway?: unknown;
}

export interface DecodedGateway {
  readonly config: GatewayConfig;
  readonly notes: readonly ConfigNote[];
}

/** Everything that is wrong with a configuration. Paths begin with the name of a server, or with `gateway`. */
export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError';
  /** Each with its place in the configuration. */
  readonly issues: readonly ConfigIssue[];

  constructor(issues: readonly ConfigIssue[]) {
    super(issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'));
    this.issues = issues;
  }
}

/** Something that is wrong with a configuration. */
export interface ConfigIssue extends Issue {
  /** Which source it is in. */
  readonly source: number;
  /** The server whose entry it is in; otherwise it is in "gateway". */
  readonly server?: string | undefined;
  /** The entry that it conflicts with. */
  readonly other?: { readonly source: number; readonly server: string };
}

/** Decodes the sources together: servers in their order. Throws a `GatewayConfigError` that lists everything wrong. */
export async function decodeGateway(
  sources: readonly GatewaySource[],
  options: DecodeOptions = {},
): Promise<DecodedGateway> {
  const issues: ConfigIssue[] = [];
  const notes: ConfigNote[] = [];
  const servers: UpstreamConfig[] = [];
  const sourceOf = new Map<UpstreamConfig, number>();
  for (const [source, { servers: written }] of sources.entries()) {
    for (const each of written) {
      const found = await check(upstreamSchema, ownKeys(each.written));
      const place = found.map(({ path, message }) => ({
        ...{ source, server: each.name, message },
        path: [each.name, 'mooring', ...path],
      }));
      issues.push(...place);
      if (place.length > 0) continue;
      const decoded = decodeUpstream(each, options);
      issues.push(...decoded.issues.map((issue) => ({ ...issue, source, server: each.name })));
      notes.push(...decoded.notes);
      servers.push(decoded.server);
      sourceOf.set(decoded.server, source);
    }
  }
  issues.push(...sameSlugs(servers, (server) => sourceOf.get(server) as number));
  const gateway = await decodeGatewayKeys(sources, servers, issues);
  if (issues.length > 0) throw new GatewayConfigError(issues);
  return { config: { servers, ...gateway }, notes };
}

/** A configuration as an object: `mcpServers` as in any client, and `gateway`. */
export interface GatewayInput {
  /** Entries by name: a command or a URL, and options of the gateway in `mooring`. */
  readonly mcpServers: JsonObject;
  /** Views and other keys of the gateway itself. */
  readonly gateway?: unknown;
}

const known: Record<keyof DecodeOptions, true> = { authenticated: true, folder: true };

/** Decodes a configuration that is already an object, for programs. Variables such as `${NAME}` are not expanded. */
export async function gatewayConfig(input: GatewayInput, options: DecodeOptions = {}): Promise<GatewayConfig> {
  assertKnownOptions('gatewayConfig', options, known);
  if (!isObject(input?.mcpServers)) {
    throw new TypeError(
      'gatewayConfig needs the servers by name: gatewayConfig({ mcpServers: { notes: { command: "…", args: [] } } })',
    );
  }
  const servers = Object.entries(input.mcpServers).map(([name, written]) => ({ name, written }));
  return (await decodeGateway([{ servers, gateway: input.gateway }], options)).config;
}

function ownKeys(written: unknown): unknown {
  return isObject(written) ? (written['mooring'] ?? {}) : {};
}

const validators = new Map<JsonSchema, Validator>();

async function check(schema: JsonSchema, value: unknown): Promise<readonly Issue[]> {
  // Most entries have no keys of ours: the validator is not loaded for them.
  if (isObject(value) && Object.keys(value).length === 0) return [];
  let validator = validators.get(schema);
  if (validator === undefined) {
    ({ validator } = compileSchema(schema, { direction: 'input', where: 'gateway configuration' }));
    validators.set(schema, validator);
  }
  const result = await validator.validate(value);
  return result.ok ? [] : result.issues;
}

/** Two servers with one slug would share their names. */
function sameSlugs(servers: readonly UpstreamConfig[], sourceOf: (server: UpstreamConfig) => number): ConfigIssue[] {
  const seen = new Map<string, UpstreamConfig>();
  return servers.flatMap((server) => {
    const other = seen.get(server.slug);
    seen.set(server.slug, other ?? server);
    if (other === undefined) return [];
    const both = `${JSON.stringify(other.name)} and ${JSON.stringify(server.name)}`;
    const message = `${both} would both be called ${server.slug} at the gateway; rename one, or set "mooring": { "prefix": "…" }`;
    const place = { source: sourceOf(server), server: server.name, path: [server.name] };
    return [{ ...place, message, other: { source: sourceOf(other), server: other.name } }];
  });
}

interface GatewayKeys {
  readonly views?: JsonObject;
  readonly bareNames?: BareNames;
  readonly drainMs?: number;
  readonly firstListMs?: number;
  readonly catalog?: boolean;
}

async function decodeGatewayKeys(
  sources: readonly GatewaySource[],
  servers: readonly UpstreamConfig[],
  issues: ConfigIssue[],
): Promise<Omit<GatewayConfig, 'servers'>> {
  // A name means the entry of that name, the first of several, before a server that is only called so at the gateway.
  const slugs = new Map([
    ...servers.map(({ slug }) => [slug, slug] as const),
    ...servers.toReversed().map(({ name, slug }) => [slugOf(name), slug] as const),
  ]);
  const views = new Map<string, ViewConfig>();
  let keys: GatewayKeys = {};
  for (const [source, { gateway }] of sources.entries()) {
    if (gateway === undefined) continue;
    const named = viewNameIssues(gateway);
    issues.push(...named.map(({ path, message }) => ({ source, path: ['gateway', ...path], message })));
    if (named.length > 0) continue;
    const found = await check(gatewaySchema, gateway);
    issues.push(...found.map(({ path, message }) => ({ source, path: ['gateway', ...path], message })));
    if (found.length > 0) continue;
    keys = { ...keys, ...(gateway as GatewayKeys) };
    for (const [name, written] of Object.entries((gateway as GatewayKeys).views ?? {})) {
      const { view, issues: wrong } = decodeView(name === defaultViewName ? '' : name, written, slugs);
      const path = ['gateway', 'views', name];
      issues.push(...wrong.map((issue) => ({ source, path: [...path, ...issue.path], message: issue.message })));
      if (views.has(name)) issues.push({ source, path, message: 'another file has a view of this name' });
      views.set(name, view);
    }
  }
  const defaultView = views.get(defaultViewName) ?? decodeView('', {}, slugs).view;
  views.delete(defaultViewName);
  return {
    views: [...views.values()],
    defaultView,
    bareNames: keys.bareNames ?? defaults.bareNames,
    drainMs: keys.drainMs ?? defaults.drainMs,
    firstListMs: keys.firstListMs ?? defaults.firstListMs,
    catalog: keys.catalog ?? defaults.catalog,
  };
}

/** The name is part of an address. */
function viewNameIssues(gateway: unknown): Issue[] {
  const views = isObject(gateway) ? gateway['views'] : undefined;
  const names = isObject(views) ? Object.keys(views) : [];
  return names
    .filter((name) => !viewName.test(name))
    .map((name) => ({ path: ['views', name], message: wrongViewName }));
}

/** Whether two configurations are the same. */
export function isSameConfig(a: GatewayConfig, b: GatewayConfig): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
