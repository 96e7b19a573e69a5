// JSON-RPC 2.0 as all revisions share it: classifying messages, ids, and building response texts.

import { errorRows, type WireError, wireErrors } from './errors.ts';
import type { JsonObject, RequestId } from './model.ts';

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Params;
}

export interface JsonRpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params;
}

export interface JsonRpcResponse {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
}

export interface JsonRpcErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Parameters as they arrive: an object with unchecked members. */
export type Params = JsonObject;

/** Limits on one message, on every transport. */
export interface MessageLimits {
  /** Stops nesting bombs: recursive walkers overflow the stack near 10,000 levels. */
  readonly maxDepth: number;
  /** Stops a small message from causing endless work. */
  readonly maxBatch: number;
  /** Stops width bombs: 4 MB of `{},` are a million objects, and parsing them blocks all clients. Default 200,000. */
  readonly maxValues?: number;
}

export const defaultMessageLimits = {
  maxDepth: 256,
  maxBatch: 100,
  maxValues: 200_000,
} as const satisfies MessageLimits;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error of a response, if it has the form that JSON-RPC 2.0, section 5.1, requires: the code is an integer. */
export function isErrorObject(error: unknown): error is JsonRpcErrorObject {
  return isObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string';
}

/** An id this side accepts: a string, or an integer that survives a round trip through a double. */
export function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
}

/** Parses one message or batch. Depth and values are only counted when the text is long enough to hide too many. */
export function parseMessage(text: string, limits: MessageLimits): unknown {
  const { maxValues = defaultMessageLimits.maxValues } = limits;
  if (text.length > maxValues * 2 && exceedsValues(text, maxValues)) return wireErrors.tooMany(maxValues);
  if (text.length > limits.maxDepth * 2 && exceedsDepth(text, limits.maxDepth)) {
    return wireErrors.tooDeep(limits.maxDepth);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    return wireErrors.parse(describe(cause));
  }
}

/** Returns why JSON.parse failed, without repeating the peer's text at length. */
function describe(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  return message.length > 160 ? `${message.slice(0, 160)}…` : message;
}

/**
 * True when the text nests deeper than `limit`. First counts opening brackets with `indexOf`: a text with few brackets,
 * however long, is decided at the speed of a search.
 */
function exceedsDepth(text: string, limit: number): boolean {
  let openers = 0;
  for (let at = text.indexOf('['); at !== -1 && openers <= limit; at = text.indexOf('[', at + 1)) openers++;
  for (let at = text.indexOf('{'); at !== -1 && openers <= limit; at = text.indexOf('{', at + 1)) openers++;
  return openers > limit && countDepth(text) > limit;
}

/**
 * True when the text holds more than `limit` values. First counts commas with `indexOf`; only a text with too many of
 * them, which may all be inside one long string, is scanned character by character.
 */
function exceedsValues(text: string, limit: number): boolean {
  let commas = 0;
  for (let at = text.indexOf(','); at !== -1 && commas <= limit; at = text.indexOf(',', at + 1)) commas++;
  return commas > limit && countCommas(text) > limit;
}

function countCommas(text: string): number {
  let commas = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = skipString(text, i);
    else if (code === 0x2c) commas++;
  }
  return commas;
}

/** The index of the quote that ends the string starting at `from`. */
function skipString(text: string, from: number): number {
  let i = from + 1;
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) break;
  }
  return i;
}

function countDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = skipString(text, i);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > deepest) deepest = depth;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}

/** What a parsed value is. `invalid` carries the id if there was a usable one. */
export type ClassifiedMessage =
  | { readonly kind: 'request'; readonly message: JsonRpcRequest }
  | { readonly kind: 'notification'; readonly message: JsonRpcNotification }
  | { readonly kind: 'response'; readonly message: JsonRpcResponse }
  | { readonly kind: 'invalid'; readonly error: WireError; readonly id: RequestId | undefined };

/** Classifies a parsed value that did not take the engine's fast path for a plain request. */
export function classifyMessage(value: unknown): ClassifiedMessage {
  if (!isObject(value)) return invalid('a message must be a JSON object');
  const { id, method, params } = value;
  // Anything that looks like a response is one, and gets no response: two sides that respond to responses never stop,
  // and an error with the id of a response would settle a request of the other side.
  if (method === undefined && ('result' in value || 'error' in value)) {
    return { kind: 'response', message: value as unknown as JsonRpcResponse };
  }
  const usable = isRequestId(id) ? id : undefined;
  if (value['jsonrpc'] !== '2.0') return invalid('"jsonrpc" must be "2.0"', usable);
  if (id !== undefined && usable === undefined) return invalid('"id" must be a string or an integer');
  if (method === undefined) return invalid('the message has no method, result or error', usable);
  if (typeof method !== 'string') return invalid('"method" must be a string', usable);
  if (params !== undefined && !isObject(params)) return invalid('"params" must be an object', usable);
  if ('result' in value || 'error' in value) return invalid('a request must not have a result or an error', usable);
  return usable === undefined
    ? { kind: 'notification', message: value as unknown as JsonRpcNotification }
    : { kind: 'request', message: value as unknown as JsonRpcRequest };
}

function invalid(why: string, id?: RequestId): ClassifiedMessage {
  return { kind: 'invalid', error: wireErrors.notAMessage(why), id };
}

/** The text of a successful response; `result` is already JSON. */
export function resultText(id: RequestId, result: string): string {
  return `${resultPrefix(id)}${result}}`;
}

/** The text before a result; only the closing brace follows it. */
export function resultPrefix(id: RequestId): string {
  return `{"jsonrpc":"2.0","id":${typeof id === 'number' ? id : JSON.stringify(id)},"result":`;
}

/** The text of an error response, for transports that send it themselves: with the default code, for any revision. */
export function errorText(id: RequestId | null, { kind, message, data }: WireError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: errorRows[kind].code, message, data } });
}

/** The text of a notification. */
export function notificationText(method: string, params?: unknown): string {
  return params === undefined
    ? `{"jsonrpc":"2.0","method":"${method}"}`
    : `{"jsonrpc":"2.0","method":"${method}","params":${JSON.stringify(params)}}`;
}

/** The text of a request this side sends. */
export function requestText(id: RequestId, method: string, params?: unknown): string {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}"`;
  return params === undefined ? `${head}}` : `${head},"params":${JSON.stringify(params)}}`;
}
