// Reads an OpenAPI document from a file or an address, and resolves the references within it.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { decodeText } from '../../common/decode-text.ts';
import { reasonText } from '../../common/errno-text.ts';
import { parseYaml } from '../../common/parse-yaml.ts';
import { UserError } from '../../common/user-error.ts';
import { WireError } from '../../protocol/errors.ts';
import { isObject, type MessageLimits, parseMessage } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { NetworkPolicy } from '../../security/network/fetcher.ts';
import { fetcherFor } from '../remote/fetcher-for.ts';

/** The largest documents of well-known APIs have about 12 MB; stops an address that leads to something else. */
const maxDocumentBytes = 32 * 1024 * 1024;
/** Stops a YAML document from blocking the start: reading 1 MiB takes about a second, and its values more memory than text. */
const maxYamlBytes = 4 * 1024 * 1024;
/** Stops nesting and width bombs. */
const jsonLimits: MessageLimits = { maxDepth: 200, maxValues: 4_000_000, maxBatch: Number.POSITIVE_INFINITY };
/** References from one to the next; more of them are a circle. */
const maxReferences = 32;

/** Why an operation, or a whole document, cannot be used. The text of an operation follows its name. */
export class OpenApiError extends UserError {
  override name = 'OpenApiError';
}

export class OpenApiDocument {
  readonly root: JsonObject;
  /** Where it was read from; undefined for a file or an object. */
  readonly url: URL | undefined;
  /** Schemas of 3.0 differ from JSON Schema; those of later versions are JSON Schema. */
  readonly isVersion30: boolean;

  constructor(root: unknown, url?: URL) {
    if (!isObject(root)) throw new OpenApiError('The OpenAPI document is not an object');
    const { openapi, swagger, paths } = root;
    if (swagger !== undefined) {
      throw new OpenApiError('The document is Swagger 2.0, not OpenAPI 3. Convert it first: npx swagger2openapi FILE');
    }
    if (typeof openapi !== 'string' || !/^3\.\d/.test(openapi)) {
      const found = openapi === undefined ? 'it has no "openapi"' : `its "openapi" is ${JSON.stringify(openapi)}`;
      throw new OpenApiError(`The document is not OpenAPI 3.0 or 3.1: ${found.slice(0, 100)}`);
    }
    if (!isObject(paths)) throw new OpenApiError('The OpenAPI document has no "paths", so it has no operations');
    this.root = root;
    this.url = url;
    this.isVersion30 = openapi.startsWith('3.0');
  }

  /** The security schemes by name. */
  get securitySchemes(): JsonObject {
    const { components } = this.root;
    const schemes = isObject(components) ? components['securitySchemes'] : undefined;
    return isObject(schemes) ? schemes : {};
  }

  /** The object itself, or the one that its `$ref` leads to. */
  resolve(value: unknown): JsonObject {
    let found = value;
    for (let count = 0; isObject(found) && typeof found['$ref'] === 'string'; count++) {
      if (count === maxReferences) throw new OpenApiError('has references that form a circle');
      found = this.at(found['$ref']);
    }
    if (!isObject(found)) throw new OpenApiError('refers to something that is not an object');
    return found;
  }

  /** What a reference within the document leads to. */
  at(reference: string): unknown {
    const shown = JSON.stringify(reference.slice(0, 200));
    if (!reference.startsWith('#/')) {
      throw new OpenApiError(`refers to another document (${shown}); combine them into one first`);
    }
    let found: unknown = this.root;
    for (const part of reference.slice(2).split('/')) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const isHolder = isObject(found) || Array.isArray(found);
      found = isHolder && Object.hasOwn(found as object, key) ? (found as JsonObject)[key] : undefined;
    }
    if (found === undefined) throw new OpenApiError(`refers to ${shown}, which does not exist`);
    return found;
  }
}

/** References are URI fragments. A stray `%` stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** `given`: a path, a URL, or the parsed document. */
export async function loadDocument(
  given: string | URL | object,
  network: NetworkPolicy | undefined,
): Promise<OpenApiDocument> {
  if (typeof given === 'object' && !(given instanceof URL)) return new OpenApiDocument(given);
  const text = String(given);
  try {
    if (!/^https?:\/\//i.test(text)) {
      const file = text.startsWith('file:') ? fileURLToPath(text) : text;
      return new OpenApiDocument(await parse(await readText(file)));
    }
    const url = new URL(text);
    const fetcher = fetcherFor(url, { given: true, network, maxBytes: maxDocumentBytes });
    const response = await fetcher.fetch(url);
    if (response.status !== 200) {
      response.discard();
      throw new OpenApiError(`the server responded with status ${response.status}`);
    }
    return new OpenApiDocument(await parse(await response.text()), new URL(response.url));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new OpenApiError(`${nameOf(text)}: ${error.message}`, { cause: error });
  }
}

/** Without what may be secret in a URL. */
function nameOf(given: string): string {
  if (!/^https?:/i.test(given)) return given;
  const { protocol, host, pathname } = new URL(given);
  return `${protocol}//${host}${pathname}`;
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new OpenApiError(`the file cannot be read: ${reasonText(cause, 'file')}`, { cause });
  }
  if (bytes.length > maxDocumentBytes) throw new OpenApiError(`the file has more than ${maxDocumentBytes} bytes`);
  try {
    return decodeText(bytes);
  } catch (cause) {
    throw new OpenApiError(`the file cannot be read: ${(cause as Error).message}`, { cause });
  }
}

async function parse(given: string): Promise<unknown> {
  const text = given.replace(/^\uFEFF/, '');
  if (/^\s*[[{]/.test(text)) {
    const parsed = parseMessage(text, jsonLimits);
    if (!(parsed instanceof WireError)) return parsed;
    if (parsed.kind !== 'parse') {
      throw new OpenApiError('the document is nested too deeply, or has too many values', { cause: parsed });
    }
  }
  if (text.length > maxYamlBytes) {
    throw new OpenApiError(`the document is not JSON, and for YAML it has more than ${maxYamlBytes} bytes`);
  }
  try {
    return await parseYaml(text);
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    throw new OpenApiError(`the document is neither JSON nor YAML: ${reason}`, { cause });
  }
}
