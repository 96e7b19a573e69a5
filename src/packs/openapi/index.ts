// The pack `openapi`: the operations of an API that an OpenAPI document describes, as tools.

import { compileGlobs } from '../../common/glob.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { silentLogger } from '../../common/logger.ts';
import type { ToolEntry } from '../../engine/catalog/catalog-entry.ts';
import { toolEntry } from '../../engine/catalog/new-entries.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { SchemaError } from '../../schema/index.ts';
import type { NetworkPolicy } from '../../security/network/fetcher.ts';
import { fetcherFor } from '../remote/fetcher-for.ts';
import { apiAddress } from './address.ts';
import { ApiCredentials } from './credentials.ts';
import { loadDocument, OpenApiError } from './document.ts';
import { type OpenApiLimits, resolveOpenApiLimits } from './limits.ts';
import { toolNames } from './names.ts';
import { type ApiOperation, type LeftOut, readOperations, titleOf } from './operations.ts';
import type { FixedParts } from './request.ts';
import { type Api, createTurns, toolOf } from './tools.ts';

export { OpenApiError } from './document.ts';
export type { OpenApiLimits } from './limits.ts';

export interface OpenApiOptions {
  /** The address of the API, if the document has none or another one is wanted. It may be private. */
  readonly url?: string | URL;
  /** Names of tools to offer, with `*`. Default: all. */
  readonly include?: readonly string[];
  /** Names of tools to leave out, with `*`. */
  readonly exclude?: readonly string[];
  /** Offers only operations that have one of these tags. */
  readonly tags?: readonly string[];
  /** Offers only operations that read: those with GET. Default: false. */
  readonly readOnly?: boolean;
  /** Comes before all names: with `pets`, the operation `list` is the tool `pets_list`. */
  readonly prefix?: string;
  /**
   * Credentials by security scheme: an API key, a token, or `user:password`. A text is the one for a document with one scheme,
   * and a bearer token for a document without any.
   */
  readonly credentials?: string | Readonly<Record<string, string>>;
  /** Sent with every request. Tools have no arguments for them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly limits?: Partial<OpenApiLimits>;
  /** The network policy; an API that it does not allow is never requested. */
  readonly network?: NetworkPolicy;
}

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;
const textByName = { type: 'object', additionalProperties: { type: 'string' } } as const;

/** The options of this pack in a configuration file. */
export const openApiSchema = {
  type: 'object',
  properties: {
    include: texts,
    exclude: texts,
    tags: texts,
    readOnly: { type: 'boolean' },
    prefix: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,32}$' },
    credentials: textByName,
    headers: textByName,
    limits: {
      type: 'object',
      properties: {
        maxOperations: { type: 'integer', minimum: 1 },
        maxResponseBytes: { type: 'integer', minimum: 1 },
        timeoutMs: { type: 'integer', minimum: 1 },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;

const known: Record<keyof OpenApiOptions, 0> = {
  ...{ url: 0, include: 0, exclude: 0, tags: 0, readOnly: 0, prefix: 0 },
  ...{ credentials: 0, headers: 0, limits: 0, network: 0 },
};

/**
 * Adds the operations of an API to a server, each as a tool. `document`: a path, a URL, or the parsed document. Await
 * `server.use(openApi(…))`: it reads the document before it resolves.
 *
 * @example
 * await server.use(openApi('https://petstore3.swagger.io/api/v3/openapi.json', { readOnly: true }));
 */
export function openApi(document: string | URL | object, options: OpenApiOptions = {}): Pack<Server> {
  assertKnownOptions('openApi', options, known);
  const limits = resolveOpenApiLimits(options.limits);
  return {
    name: 'openapi',
    install: (server) => install(server, document, options, limits),
  };
}

async function install(
  server: Server,
  given: string | URL | object,
  options: OpenApiOptions,
  limits: OpenApiLimits,
): Promise<void> {
  const { network, prefix } = options;
  const document = await loadDocument(given, network);
  const { url, given: isGiven } = apiAddress(document, {
    url: options.url,
    document: URL.canParse(String(given)) ? new URL(String(given)) : undefined,
    hasPolicy: network !== undefined,
  });
  const credentials = new ApiCredentials(document, options.credentials);
  const headers = checkedHeaders(options.headers);
  const { operations, leftOut } = readOperations(document, url);
  const api: Api = {
    document,
    limits,
    fetcher: fetcherFor(url, { given: isGiven, network, samePort: true, maxBytes: limits.maxResponseBytes }),
    turns: createTurns(),
    hide: (text) => credentials.hideIn(text),
  };
  const names = toolNames(operations, prefix);
  const isWanted = filterOf(options);
  const entries = new Map<string, ToolEntry>();
  const unusable: LeftOut[] = [...leftOut];
  const unauthenticated = new Set<string>();
  for (const [n, operation] of operations.entries()) {
    const name = names[n] as string;
    if (!isWanted(name, operation)) continue;
    const leaveOut = (reason: string) => unusable.push({ operation: titleOf(operation), reason });
    if (entries.size === limits.maxOperations) {
      leaveOut(`there are more than ${limits.maxOperations} operations (limits.maxOperations)`);
      continue;
    }
    const parts = credentials.partsFor(operation);
    if (parts === undefined) for (const scheme of operation.security?.flat() ?? []) unauthenticated.add(scheme);
    try {
      entries.set(
        name,
        toolEntry(name, toolOf(api, operation, withHeaders(parts, headers)), () => false),
      );
    } catch (error) {
      if (!(error instanceof OpenApiError) && !(error instanceof SchemaError)) throw error;
      leaveOut(error.message);
    }
  }
  for (const name of server.replaceEntries(api, { tools: [...entries.values()] })) {
    entries.delete(name);
    unusable.push({ operation: name, reason: 'the server has another tool of this name (use a prefix)' });
  }
  report(server, { url, tools: entries.size, unusable, unauthenticated });
}

/** Whether an operation is offered. */
function filterOf({ include, exclude = [], tags, readOnly = false }: OpenApiOptions) {
  const isIncluded = include === undefined ? () => true : compileGlobs(include);
  const isExcluded = compileGlobs(exclude);
  return (name: string, operation: ApiOperation): boolean =>
    (!readOnly || operation.method === 'get') &&
    (tags === undefined || operation.tags.some((tag) => tags.includes(tag))) &&
    isIncluded(name) &&
    !isExcluded(name);
}

/** In lower case. */
function checkedHeaders(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      continue;
    throw new TypeError(`openApi(), headers: ${JSON.stringify(name)} or its value cannot be a header`);
  }
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

const none: FixedParts = { headers: {}, query: {}, cookies: {} };

const withHeaders = (parts: FixedParts = none, headers: Readonly<Record<string, string>>): FixedParts => ({
  ...parts,
  headers: { ...headers, ...parts.headers },
});

interface InstallReport {
  readonly url: URL;
  readonly tools: number;
  readonly unusable: readonly LeftOut[];
  /** Security schemes that operations need and there are no credentials for. */
  readonly unauthenticated: ReadonlySet<string>;
}

/** One line; each operation that is left out is a detail. */
function report({ logger = silentLogger }: Server, { url, tools, unusable, unauthenticated }: InstallReport): void {
  const missing = unauthenticated.size === 0 ? {} : { missingSchemes: [...unauthenticated].join(', ') };
  const fields = { api: url.origin, ...missing };
  const offered = `openapi: ${tools} ${tools === 1 ? 'operation is a tool' : 'operations are tools'}`;
  if (unusable.length === 0 && tools > 0) logger.info(offered, fields);
  else logger.warn(`${offered}, ${unusable.length} were left out`, fields);
  for (const each of unusable) logger.debug('openapi: an operation was left out', { ...each });
}
