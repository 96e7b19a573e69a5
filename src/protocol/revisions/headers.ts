// Header values that mirror the body on stateless revisions: sentinel encoding, and the comparison of headers with the
// body. 2026-07-28, Transports, "Streamable HTTP".

import { type WireError, wireErrors } from '../errors.ts';
import type { ReadHeader } from '../exchange.ts';
import { isObject, type JsonRpcNotification, type JsonRpcRequest } from '../json-rpc.ts';
import { methodRow } from '../methods.ts';
import type { JsonObject } from '../model.ts';

const sentinel = /^=\?base64\?(.*)\?=$/s;

/** Recently decoded values: clients mirror the same few names again and again. Bounded against made-up names. */
const decoded = new Map<string, string>();
const maxDecoded = 512;
const maxDecodedLength = 128;

/** Decodes a mirrored value; undefined when it is marked as encoded and is not well-formed. */
export function decodeHeaderValue(raw: string): string | undefined {
  const known = decoded.get(raw);
  if (known !== undefined) return known;
  const value = decodeUncached(raw);
  if (value !== undefined && raw.length <= maxDecodedLength) {
    if (decoded.size >= maxDecoded) decoded.clear();
    decoded.set(raw, value);
  }
  return value;
}

function decodeUncached(raw: string): string | undefined {
  const value = raw.replace(/^[ \t]+|[ \t]+$/g, '');
  const encoded = sentinel.exec(value)?.[1];
  if (encoded === undefined) return /[^\t\x20-\x7e]/.test(value) ? undefined : value;
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (each) => each.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not base64 or not UTF-8: the caller reports the mismatch.
    return undefined;
  }
}

/** Encodes a value for a mirrored header: plain if possible, otherwise in the sentinel form. */
export function encodeHeaderValue(value: string): string {
  const plain = /^[\t\x20-\x7e]*$/.test(value) && value.trim() === value && !sentinel.test(value);
  if (plain) return value;
  let binary = '';
  for (const byte of new TextEncoder().encode(value)) binary += String.fromCharCode(byte);
  return `=?base64?${btoa(binary)}?=`;
}

/** Checks headers that are present. A contradiction is reported before an unsupported version is. */
export function checkPresentHeaders(
  message: JsonRpcRequest | JsonRpcNotification,
  version: string,
  header: ReadHeader,
): WireError | undefined {
  const value = header('mcp-protocol-version');
  if (value !== undefined && value.trim() !== version) {
    return wireErrors.headerMismatch(`MCP-Protocol-Version is ${quote(value)} but the body says ${quote(version)}`);
  }
  return checkMethodHeader(message, header);
}

function checkMethodHeader(
  { method }: JsonRpcRequest | JsonRpcNotification,
  header: ReadHeader,
): WireError | undefined {
  const value = header('mcp-method');
  if (value === undefined || value.trim() === method) return undefined;
  return wireErrors.headerMismatch(`Mcp-Method is ${quote(value)} but the body says ${quote(method)}`);
}

/** The headers of a notification: none is required, but one that is present must not contradict the body. */
export function checkNotificationHeaders(
  notification: JsonRpcNotification,
  version: unknown,
  header: ReadHeader,
): WireError | undefined {
  if (typeof version === 'string') return checkPresentHeaders(notification, version, header);
  return checkMethodHeader(notification, header);
}

/** Headers that are required, and the name of the target. */
export function checkRequiredHeaders(request: JsonRpcRequest, header: ReadHeader): WireError | undefined {
  if (header('mcp-protocol-version') === undefined) return wireErrors.headerMismatch('MCP-Protocol-Version is missing');
  if (header('mcp-method') === undefined) return wireErrors.headerMismatch('Mcp-Method is missing');
  const nameIn = methodRow(request.method)?.nameIn;
  const named = nameIn === undefined ? undefined : request.params?.[nameIn];
  // Without a usable name in the body, the params are wrong and are reported instead.
  if (nameIn === undefined || typeof named !== 'string') return undefined;
  const raw = header('mcp-name');
  if (raw === undefined) return wireErrors.headerMismatch(`Mcp-Name is missing; it mirrors params.${nameIn}`);
  const name = decodeHeaderValue(raw);
  if (name === undefined) return wireErrors.headerMismatch('Mcp-Name is not a valid encoding');
  return name === named
    ? undefined
    : wireErrors.headerMismatch(`Mcp-Name is ${quote(name)} but the body says ${quote(named)}`);
}

/** One argument that a tool's schema mirrors in a header. */
export interface HeaderParam {
  readonly header: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly path: readonly string[];
}

/** Collects the `x-mcp-header` arguments of a schema, or returns why one is not allowed. */
export function headerParams(schema: JsonObject): readonly HeaderParam[] | string {
  let text: string | undefined;
  try {
    text = JSON.stringify(schema) as string | undefined;
  } catch (error) {
    // A circular reference or a bigint. The first line says which; the others draw the circle.
    return `the schema cannot be serialized to JSON: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
  }
  if (text === undefined) return 'the schema cannot be serialized to JSON: its toJSON() returns nothing';
  // Most schemas mirror nothing, and a search of their text shows that faster.
  if (!text.includes('"x-mcp-header"')) return [];
  const found: HeaderParam[] = [];
  const problem = collect(schema, [], found, true);
  if (problem !== undefined) return problem;
  const seen = new Set<string>();
  for (const { header } of found) {
    const key = header.toLowerCase();
    if (seen.has(key)) return `x-mcp-header ${quote(header)} is used twice`;
    seen.add(key);
  }
  return found;
}

function collect(node: unknown, path: readonly string[], found: HeaderParam[], reachable: boolean): string | undefined {
  if (Array.isArray(node)) {
    for (const each of node) {
      const problem = collect(each, path, found, false);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (!isObject(node)) return undefined;
  if (Object.hasOwn(node, 'x-mcp-header')) {
    const name = node['x-mcp-header'];
    if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      return `x-mcp-header at ${path.join('.') || 'the root'} must be a non-empty HTTP token`;
    }
    if (!reachable || path.length === 0)
      return `x-mcp-header ${quote(name)} must be on a property reached by properties only`;
    if (!['string', 'integer', 'boolean'].includes(node['type'] as string)) {
      return `x-mcp-header ${quote(name)} needs type string, integer or boolean`;
    }
    found.push({ header: name, type: node['type'] as HeaderParam['type'], path });
  }
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) {
        const problem = collect(property, [...path, name], found, reachable);
        if (problem !== undefined) return problem;
      }
    } else if (typeof value === 'object' && !['const', 'enum', 'default', 'examples', 'x-mcp-header'].includes(key)) {
      const problem = collect(value, path, found, false);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** A number as clients may write an integer: `42`, `42.0` and `4.2e1` are equal (2026-07-28, "Server Validation"). */
const decimal = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** An argument as the text of its header. */
export function headerText(value: string | number | boolean): string {
  // Integers are written in decimal, also those that String() writes with an exponent.
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

/** Compares `Mcp-Param-*` headers with the arguments they mirror. */
export function checkParamHeaders(
  params: readonly HeaderParam[],
  args: JsonObject,
  header: ReadHeader,
): WireError | undefined {
  for (const { header: name, type, path } of params) {
    let value: unknown = args;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    const raw = header(`mcp-param-${name.toLowerCase()}`);
    if (value === undefined || value === null) {
      if (raw !== undefined) return wireErrors.headerMismatch(`Mcp-Param-${name} is sent but the argument is absent`);
      continue;
    }
    // A value of another type is reported by argument validation.
    if (type === 'integer' ? !Number.isInteger(value) : typeof value !== type) continue;
    if (raw === undefined) return wireErrors.headerMismatch(`Mcp-Param-${name} is missing`);
    const decoded = decodeHeaderValue(raw);
    const same =
      decoded !== undefined &&
      (typeof value === 'number' ? decimal.test(decoded) && Number(decoded) === value : decoded === String(value));
    if (!same) return wireErrors.headerMismatch(`Mcp-Param-${name} does not equal the argument ${path.join('.')}`);
  }
  return undefined;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
