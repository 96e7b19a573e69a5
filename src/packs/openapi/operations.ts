// The operations of an OpenAPI document, with what applies to them from their path and from the document.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { type OpenApiDocument, OpenApiError } from './document.ts';
import { type Parameter, type RequestBody, readBody, readParameters } from './parameters.ts';

/** OPTIONS, HEAD and TRACE return nothing that a model could use. */
export const methodNames = ['get', 'put', 'post', 'delete', 'patch'] as const;
export type OperationMethod = (typeof methodNames)[number];

export interface ApiOperation {
  readonly method: OperationMethod;
  /** With the names of parameters in braces. */
  readonly path: string;
  /** The address that the path follows; ends without a slash. */
  readonly base: string;
  readonly id: string | undefined;
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly isDeprecated: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: RequestBody | undefined;
  /** Each is one way to authenticate: the names of the schemes that it needs. Undefined: the document does not say. */
  readonly security: readonly (readonly string[])[] | undefined;
}

/** Such as `GET /pets/{id}`. */
export const titleOf = ({ method, path }: Pick<ApiOperation, 'method' | 'path'>): string =>
  `${method.toUpperCase()} ${path}`;

/** An operation that is not offered, and why. */
export interface LeftOut {
  readonly operation: string;
  readonly reason: string;
}

export interface ReadOperations {
  readonly operations: readonly ApiOperation[];
  readonly leftOut: readonly LeftOut[];
}

/** Operations that are read, far more than models can use. Stops a document with half a million of them from filling the memory. */
const maxRead = 20_000;

/** `base`: the address of the API; operations at another origin are left out. */
export function readOperations(document: OpenApiDocument, base: URL): ReadOperations {
  const operations: ApiOperation[] = [];
  const leftOut: LeftOut[] = [];
  for (const [path, given] of Object.entries(document.root['paths'] as JsonObject)) {
    // Extensions.
    if (!path.startsWith('/')) continue;
    for (const method of methodNames) {
      try {
        const item = document.resolve(given);
        if (!isObject(item[method])) continue;
        if (operations.length + leftOut.length >= maxRead) {
          leftOut.push({ operation: titleOf({ method, path }), reason: `it and the following are beyond ${maxRead}` });
          return { operations, leftOut };
        }
        operations.push(readOperation(document, base, { path, method, item }));
      } catch (error) {
        if (!(error instanceof OpenApiError)) throw error;
        leftOut.push({ operation: titleOf({ method, path }), reason: error.message });
      }
    }
  }
  return { operations, leftOut };
}

interface Place {
  readonly path: string;
  readonly method: OperationMethod;
  readonly item: JsonObject;
}

function readOperation(document: OpenApiDocument, base: URL, { path, method, item }: Place): ApiOperation {
  const operation = item[method] as JsonObject;
  checkPath(path);
  const parameters = readParameters(document, [item['parameters'], operation['parameters']]);
  for (const [, name = ''] of path.matchAll(/\{([^}]*)\}/g)) {
    if (parameters.some((each) => each.in === 'path' && each.name === name)) continue;
    throw new OpenApiError(`has no parameter for {${name}} of its path`);
  }
  const { requestBody, tags } = operation;
  return {
    method,
    path,
    base: basePath(ownServer(operation['servers'] ?? item['servers'], base)),
    id: textOf(operation['operationId']),
    summary: textOf(operation['summary'] ?? item['summary']),
    description: textOf(operation['description'] ?? item['description']),
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [],
    isDeprecated: operation['deprecated'] === true,
    // A parameter that its path does not have would have no effect.
    parameters: parameters.filter((each) => each.in !== 'path' || path.includes(`{${each.name}}`)),
    // The body of a GET request has no meaning.
    body: requestBody === undefined || method === 'get' ? undefined : readBody(document, requestBody),
    security: readSecurity(operation['security'] ?? document.root['security']),
  };
}

/** A URL parser would make another path of these, such as that of an operation that was excluded. */
function checkPath(path: string): void {
  const fixed = path.replace(/\{[^}]*\}/g, 'x');
  if (new URL(fixed, 'http://api').pathname !== fixed) {
    throw new OpenApiError(
      'has a path that is not a plain path: with a query, a fragment, "..", or unusual characters',
    );
  }
}

/** The server of an operation that has its own. */
function ownServer(servers: unknown, base: URL): URL {
  if (!Array.isArray(servers) || servers.length === 0) return base;
  const own = serverUrl(servers, base);
  if (own.origin !== base.origin) throw new OpenApiError(`is at another address (${own.origin}) than the API`);
  return own;
}

const basePath = ({ origin, pathname }: URL): string => origin + pathname.replace(/\/+$/, '');

/** The address of the first of some servers. Variables have their defaults. */
export function serverUrl(servers: unknown, relativeTo: URL | undefined): URL {
  const [first] = Array.isArray(servers) ? (servers as unknown[]) : [];
  const { url = '/', variables = {} } = isObject(first) ? (first as { url?: unknown; variables?: unknown }) : {};
  const text = String(url).replace(/\{([^}]*)\}/g, (whole, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : whole;
  });
  try {
    return new URL(text, relativeTo);
  } catch (cause) {
    throw new OpenApiError(
      `The OpenAPI document does not say where the API is (its server is ${JSON.stringify(text.slice(0, 200))}). Set its URL`,
      { cause },
    );
  }
}

function readSecurity(given: unknown): ApiOperation['security'] {
  return Array.isArray(given) ? given.filter(isObject).map((each) => Object.keys(each)) : undefined;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
