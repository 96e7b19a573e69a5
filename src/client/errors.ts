// Every error of the client is one row here: a code for programs, and a sentence for people that says what
// was tried, what the server said and what to do next. Sign-in errors are in auth/errors.ts.

import { isObject, type JsonRpcErrorObject } from '../protocol/json-rpc.ts';
import { clean, quote, tail } from './untrusted-text.ts';

/** What the server reported when it rejected a request: an HTTP status, a JSON-RPC error, or both. */
export interface ServerErrorInfo {
  /** The HTTP status. */
  readonly status?: number;
  /** The JSON-RPC code. */
  readonly code?: number;
  /** The message of the server. Untrusted. */
  readonly message?: string;
  /** `data` of the JSON-RPC error. Untrusted. */
  readonly data?: unknown;
  /** When to retry, where the server said so. */
  readonly retryAfterMs?: number;
}

/** The codes, one per kind of failure. */
export type ClientErrorCode =
  | 'configuration'
  | 'spawn-failed'
  | 'server-exited'
  | 'connect-failed'
  | 'connect-timeout'
  | 'connection-lost'
  | 'closed'
  | 'not-mcp'
  | 'connection-rejected'
  | 'unsupported-revision'
  | 'unauthorized'
  | 'http-error'
  | 'redirect-rejected'
  | 'session-lost'
  | 'server-error'
  | 'resource-not-found'
  | 'skill-not-found'
  | 'skill-mismatch'
  | 'not-offered'
  | 'invalid-message'
  | 'invalid-result'
  | 'invalid-arguments'
  | 'invalid-structured-content'
  | 'message-too-large'
  | 'timeout'
  | 'cancelled'
  | 'too-many-input-retries'
  | 'input-unavailable'
  | 'input-declined'
  | 'task-gone'
  | 'task-cancelled';

interface Details {
  readonly tried?: readonly string[];
  readonly serverError?: ServerErrorInfo | undefined;
  readonly stderr?: string | undefined;
  readonly cause?: unknown;
}

/** A failure on the client's side of the protocol. Branch on `code`, show `message`. */
export class ClientError extends Error {
  /** What failed, for programs. */
  readonly code: ClientErrorCode;
  /** What was attempted, in order. */
  readonly tried: readonly string[];
  /** What the server reported; undefined if the failure is not an error of the server. */
  readonly serverError: ServerErrorInfo | undefined;
  /** The last lines the server's process wrote to stderr. */
  readonly stderr: string | undefined;

  constructor(code: ClientErrorCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ClientError';
    this.code = code;
    this.tried = details.tried ?? [];
    this.serverError = details.serverError;
    this.stderr = details.stderr === undefined || details.stderr === '' ? undefined : details.stderr;
  }
}

/** The messages. `server` is the address as the user gave it: a command line or a URL. */
export const clientErrors = {
  configuration: (why: string, cause?: unknown) => new ClientError('configuration', why, { cause }),
  spawnFailed: (server: string, why: string, cause?: unknown) =>
    new ClientError('spawn-failed', `Could not start ${quote(server)}: ${why}`, { cause }),
  exited: (server: string, how: string, stderr?: string) =>
    new ClientError('server-exited', `The server ${quote(server)} ${how}${wrote(stderr)}`, { stderr }),
  unreachable: (server: string, why: string, cause?: unknown) =>
    new ClientError('connect-failed', `Could not reach ${quote(server)}: ${clean(why)}`, { cause }),
  connectTimeout: (server: string, tried: readonly string[], stderr?: string) =>
    new ClientError(
      'connect-timeout',
      `${quote(server)} did not open a connection in time; tried ${attempts(tried)}${wrote(stderr)}`,
      { tried, stderr },
    ),
  notMcp: (server: string, tried: readonly string[], serverError?: ServerErrorInfo, stderr?: string, cause?: unknown) =>
    new ClientError(
      'not-mcp',
      `${quote(server)} does not respond as an MCP server; tried ${attempts(tried)}${wrote(stderr)}`,
      { tried, serverError, stderr, cause },
    ),
  /** It responds with an error of the protocol: its own words say what is wrong. */
  rejected: (
    server: string,
    tried: readonly string[],
    serverError?: ServerErrorInfo,
    stderr?: string,
    cause?: unknown,
  ) =>
    new ClientError(
      'connection-rejected',
      `${quote(server)} rejected the connection; tried ${attempts(tried)}${wrote(stderr)}`,
      { tried, serverError, stderr, cause },
    ),
  unsupportedRevision: (server: string, why: string, tried: readonly string[], serverError?: ServerErrorInfo) =>
    new ClientError('unsupported-revision', `No revision in common with ${quote(server)}: ${why}`, {
      tried,
      serverError,
    }),
  lost: (server: string, why: string, stderr?: string, cause?: unknown) =>
    new ClientError('connection-lost', `The connection to ${quote(server)} was lost: ${clean(why)}${wrote(stderr)}`, {
      stderr,
      cause,
    }),
  notSent: (server: string, method: string, cause: unknown) =>
    new ClientError(
      'connection-lost',
      `Could not send ${method} to ${quote(server)}: ${clean(cause instanceof Error ? cause.message : String(cause))}`,
      { cause },
    ),
  closed: (server: string) => new ClientError('closed', `The connection to ${quote(server)} was closed by this client`),
  unauthorized: (server: string, serverError: ServerErrorInfo) =>
    new ClientError(
      'unauthorized',
      `${quote(server)} requires authorization (${phrase(serverError)}); pass connect() an authorizer or an Authorization header`,
      { serverError },
    ),
  http: (server: string, what: string, serverError: ServerErrorInfo) =>
    new ClientError(
      'http-error',
      `${quote(server)} rejected ${what}: ${phrase(serverError)}${whenToRetry(serverError)}`,
      { serverError },
    ),
  /** `overHttp`: the same address, for Streamable HTTP. */
  noWebSocket: (server: string, overHttp: string, serverError: ServerErrorInfo) =>
    new ClientError(
      'http-error',
      `${quote(server)} accepts no WebSocket (${phrase(serverError)}). Check the path, or connect over HTTP: ${clean(overHttp)}`,
      { serverError },
    ),
  unexpectedResponse: (server: string, what: string, why: string, serverError: ServerErrorInfo) =>
    new ClientError('http-error', `${quote(server)} answered ${what} with ${clean(why)}`, { serverError }),
  redirect: (server: string, to: string, why: string) =>
    new ClientError('redirect-rejected', `${quote(server)} redirects to ${quote(to)}: ${why}`),
  sessionLost: (server: string, serverError: ServerErrorInfo) =>
    new ClientError('session-lost', `${quote(server)} no longer knows this session (${phrase(serverError)})`, {
      serverError,
    }),
  /** `http`: the status of the response, and its `Retry-After`. */
  serverRejected: (method: string, error: JsonRpcErrorObject, http?: ServerErrorInfo) => {
    const serverError = toSaid(error, http);
    const what = `The server rejected ${method}: ${clean(error.message)} (${error.code})`;
    return new ClientError('server-error', `${what}${whenToRetry(serverError)}`, { serverError });
  },
  resourceNotFound: (uri: string, error: JsonRpcErrorObject) =>
    new ClientError('resource-not-found', `There is no resource ${quote(uri)}${beyondNotFound(uri, error.message)}`, {
      serverError: toSaid(error),
    }),
  skillNotFound: (uri: string, serverError: ServerErrorInfo) =>
    new ClientError('skill-not-found', `There is no skill ${quote(uri)}: ${phrase(serverError)}`, { serverError }),
  /** `skill`: the URI of its entry; `file`: the URI or path of the file that was read. */
  skillMismatch: (skill: string, file: string, why: string, cause?: unknown) =>
    new ClientError(
      'skill-mismatch',
      `${quote(file)} does not match the entry of its skill: ${clean(why)}. If the skill has changed, client.skills.get(${quote(skill)}) fetches the current entry`,
      { cause },
    ),
  notOffered: (what: string) =>
    new ClientError('not-offered', `According to its capabilities, this server does not offer ${what}`),
  notInRevision: (what: string, revision: string) =>
    new ClientError('not-offered', `${what} does not exist in ${revision}, the revision of this connection`),
  invalidMessage: (method: string, why: string) =>
    new ClientError('invalid-message', `The response to ${method} is not a valid message: ${why}`),
  invalidResult: (method: string, why: string) =>
    new ClientError('invalid-result', `The result of ${method} is not valid: ${why}`),
  invalidArguments: (tool: string, why: string) =>
    new ClientError('invalid-arguments', `The arguments do not match the schema of tool ${quote(tool)}: ${why}`),
  invalidStructured: (tool: string, why: string) =>
    new ClientError(
      'invalid-structured-content',
      `The result of tool ${quote(tool)} does not match its outputSchema: ${clean(why)}`,
    ),
  tooLarge: (what: string, maxBytes: number) =>
    new ClientError(
      'message-too-large',
      `${what} exceeds ${maxBytes} bytes; raise maxMessageBytes if that is expected`,
    ),
  timeout: (method: string, afterMs: number, hint: string, stderr?: string) =>
    new ClientError('timeout', `No response to ${method} within ${Math.round(afterMs)} ms${hint}${wrote(stderr)}`, {
      stderr,
    }),
  cancelled: (method: string, reason: unknown) =>
    new ClientError('cancelled', `${method} was cancelled by the caller`, { cause: reason }),
  tooManyInputRetries: (method: string, limit: number) =>
    new ClientError('too-many-input-retries', `${method} asked for input ${limit} times without returning a result`),
  inputUnavailable: (method: string, what: string) =>
    new ClientError('input-unavailable', `${method} asks for ${what}; pass connect() a handler for it`),
  inputDeclined: (method: string, why: string, cause?: unknown) =>
    new ClientError('input-declined', `${method} failed because its input request was declined: ${clean(why)}`, {
      cause,
    }),
  taskGone: (id: string, serverError?: ServerErrorInfo) =>
    new ClientError(
      'task-gone',
      `The server has no task ${quote(id)}: it has expired, was deleted, or belongs to another user`,
      { serverError },
    ),
  taskCancelled: (id: string, why: string | undefined) =>
    new ClientError('task-cancelled', `Task ${quote(id)} was cancelled${why === undefined ? '' : `: ${clean(why)}`}`),
  taskFailed: (id: string, why: string | undefined, error: JsonRpcErrorObject) =>
    new ClientError(
      'server-error',
      `Task ${quote(id)} failed: ${clean(error.message)} (${error.code})${why === undefined || error.message.includes(why) ? '' : `; ${clean(why)}`}`,
      { serverError: toSaid(error) },
    ),
} as const;

/** What a server adds to "not found" and the URI; nothing, mostly. */
function beyondNotFound(uri: string, message: string): string {
  const rest = message.replace(/^resource not found:?\s*/i, '').replace(/…$/, '');
  return uri.startsWith(rest) ? '' : `: ${clean(message)}`;
}

function toSaid(
  { code, message, data }: JsonRpcErrorObject,
  { status, retryAfterMs }: ServerErrorInfo = {},
): ServerErrorInfo {
  const afterMs = retryAfterMs ?? retryAfterIn(data);
  return {
    ...(status === undefined ? {} : { status }),
    code,
    message,
    data,
    ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
  };
}

/** Where there is no HTTP, servers made with Mooring say it in the error. */
function retryAfterIn(data: unknown): number | undefined {
  const ms = isObject(data) ? data['retryAfterMs'] : undefined;
  return typeof ms === 'number' && ms >= 0 && Number.isFinite(ms) ? ms : undefined;
}

function whenToRetry({ retryAfterMs = 0 }: ServerErrorInfo): string {
  if (retryAfterMs <= 0) return '';
  const seconds = Math.ceil(retryAfterMs / 1_000);
  if (seconds <= 120) return `. Retry after ${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return `. Retry after ${minutes <= 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`}`;
}

/** What a server reported, as a phrase. */
export function phrase({ status, code, message }: ServerErrorInfo): string {
  const parts = [
    status === undefined ? undefined : `HTTP ${status}`,
    message === undefined || message === '' ? undefined : clean(message),
    code === undefined ? undefined : String(code),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? 'no reason given' : parts.join(', ');
}

function attempts(tried: readonly string[]): string {
  return tried.length === 0 ? 'nothing' : tried.map((each) => clean(each)).join('; ');
}

function wrote(stderr: string | undefined): string {
  const last = stderr === undefined ? '' : tail(stderr);
  return last === '' ? '' : `. Last lines of its stderr:\n${last}`;
}
