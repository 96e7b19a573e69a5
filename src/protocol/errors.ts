// Every error that is sent to a peer is one row here. A row names what went wrong. The code may depend on the revision,
// so rows are looked up by kind and a codec may override the code.

/** What went wrong, independent of how a revision numbers it. */
export type ErrorKind = keyof typeof errorRows;

/** Default code and the generic title JSON-RPC gives it. */
export const errorRows = {
  parse: { code: -32700, title: 'Parse error' },
  invalidRequest: { code: -32600, title: 'Invalid Request' },
  notAcceptable: { code: -32600, title: 'Invalid Request' },
  methodNotFound: { code: -32601, title: 'Method not found' },
  invalidParams: { code: -32602, title: 'Invalid params' },
  invalidEnvelope: { code: -32602, title: 'Invalid params' },
  unknownTool: { code: -32602, title: 'Invalid params' },
  invalidArguments: { code: -32602, title: 'Invalid params' },
  internal: { code: -32603, title: 'Internal error' },
  resourceNotFound: { code: -32002, title: 'Resource not found' },
  urlElicitationRequired: { code: -32042, title: 'URL elicitation required' },
  headerMismatch: { code: -32020, title: 'Header mismatch' },
  missingCapability: { code: -32021, title: 'Missing required client capability' },
  unsupportedVersion: { code: -32022, title: 'Unsupported protocol version' },
  transport: { code: -32000, title: 'Bad Request' },
  rateLimited: { code: -32000, title: 'Rate limit exceeded' },
  overloaded: { code: -32000, title: 'Server overloaded' },
  forbidden: { code: -32000, title: 'Forbidden' },
  application: { code: -32000, title: 'Server error' },
} as const satisfies Record<string, { code: number; title: string }>;

/** How HTTP reports an error, where its status and headers say more than the revision does. */
export interface HttpErrorInfo {
  readonly status: number;
  /** Names and values alternate. */
  readonly headers?: readonly string[];
}

/**
 * An error with a wire form. Anything else thrown becomes "Internal error" outside and a full cause in the log. It has no
 * stack: it says what the peer did, and recording stacks took a sixth of the time of a burst of rejected requests (soak).
 */
export class WireError extends Error {
  /** Which error it is; each revision has its own code for it. */
  readonly kind: ErrorKind;
  /** Set only when the code that throws needs this number; otherwise the codec chooses by kind. */
  readonly code: number | undefined;
  /** Sent as `data` of the error. */
  readonly data: unknown;
  /** The status and headers over HTTP; undefined: those of the revision. */
  readonly http: HttpErrorInfo | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { code?: number; data?: unknown; cause?: unknown; http?: HttpErrorInfo } = {},
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'WireError';
    this.kind = kind;
    this.code = options.code;
    this.data = options.data;
    this.http = options.http;
  }
}

/** The error messages. Each says what was wrong and, where it helps, what is allowed. */
export const wireErrors = {
  parse: (why: string) => new WireError('parse', `Parse error: ${why}`),
  tooLarge: (limit: number) => new WireError('invalidRequest', `Message exceeds ${limit} bytes`),
  tooMany: (limit: number) => new WireError('invalidRequest', `Message holds more than ${limit} values`),
  tooDeep: (limit: number) => new WireError('invalidRequest', `Message is nested deeper than ${limit} levels`),
  notAMessage: (why: string) => new WireError('invalidRequest', `Invalid Request: ${why}`),
  responseWithoutSession: () =>
    new WireError('invalidRequest', 'Invalid Request: a response must be sent in the session of its request'),
  duplicateId: (id: string | number) =>
    new WireError('invalidRequest', `Invalid Request: id ${JSON.stringify(id)} is still in flight; use a new one`),
  idTooLong: (limit: number) =>
    new WireError('invalidRequest', `Invalid Request: "id" must have at most ${limit} characters`),
  batchNotSupported: () =>
    new WireError(
      'invalidRequest',
      'Invalid Request: this revision does not support batches; send one message at a time',
    ),
  batchTooLarge: (limit: number) =>
    new WireError('invalidRequest', `Invalid Request: a batch may contain at most ${limit} messages`),
  batchResponseTooLarge: (limit: number) =>
    new WireError(
      'internal',
      `The responses to this batch have more than ${limit} characters; send this request in a batch of its own`,
    ),
  emptyBatch: () => new WireError('invalidRequest', 'Invalid Request: the batch is empty'),
  initializeInBatch: () => new WireError('invalidRequest', 'Invalid Request: initialize may not be part of a batch'),
  notInitialized: () =>
    new WireError('invalidRequest', 'Server not initialized: send initialize first', {
      data: { details: 'Server not initialized' },
    }),
  alreadyInitialized: () => new WireError('invalidRequest', 'Invalid Request: Server already initialized'),
  methodNotFound: (method: string) => new WireError('methodNotFound', `Method not found: ${clip(method)}`),
  invalidParams: (why: string, data?: unknown) => new WireError('invalidParams', `Invalid params: ${why}`, { data }),
  invalidMeta: (why: string) => new WireError('invalidEnvelope', `Invalid params: ${why}`),
  unknownTool: (name: string) => new WireError('unknownTool', `Unknown tool: ${clip(name)}`),
  unknownPrompt: (name: string) => new WireError('invalidParams', `Unknown prompt: ${clip(name)}`),
  unknownSkill: (uri: string) => new WireError('invalidParams', `Unknown skill: ${clip(uri)}`),
  notAFolder: (uri: string) => new WireError('invalidParams', `Not a folder of a skill: ${clip(uri)}`),
  missingArgument: (prompt: string, name: string) =>
    new WireError('invalidParams', `Missing required argument ${JSON.stringify(name)} of prompt ${clip(prompt)}`),
  invalidArguments: (tool: string, why: string) =>
    new WireError('invalidArguments', `Invalid arguments for tool ${clip(tool)}: ${why}`),
  /** Invalid arguments, explained by the tool itself. */
  explainedArguments: (explanation: string) => new WireError('invalidArguments', explanation),
  invalidCursor: () =>
    new WireError('invalidParams', 'Invalid cursor: start again without a cursor and pass nextCursor back unchanged'),
  unknownLevel: (level: unknown, allowed: readonly string[]) =>
    new WireError(
      'invalidParams',
      `Unknown log level ${clip(JSON.stringify(level))}; use one of ${allowed.join(', ')}`,
    ),
  resourceNotFound: (uri: string) =>
    new WireError('resourceNotFound', `Resource not found: ${clip(uri)}`, { data: { uri } }),
  /** For a handler that cannot start before the user has visited these pages; needs 2025-11-25. */
  urlElicitationRequired: (
    message: string,
    elicitations: readonly { readonly message: string; readonly url: string; readonly elicitationId: string }[],
  ) =>
    new WireError('urlElicitationRequired', message, {
      data: { elicitations: elicitations.map((each) => ({ mode: 'url', ...each })) },
    }),
  /** The message of a `UserError`. */
  failed: (message: string) => new WireError('internal', message),
  internal: (cause?: unknown) => new WireError('internal', 'Internal error', { cause }),
  callTimedOut: (name: string) => new WireError('internal', `${name} timed out`),
  /** For a handler that did not catch the failure of an input request. */
  inputRequestFailed: (why: string) => new WireError('internal', why),
  resultTooLarge: (limit: number) => new WireError('internal', `The result exceeds ${limit} bytes; ask for less`),
  resultNotStored: (why: string) => new WireError('internal', `The result of the task was not stored: ${why}`),
  tooManyInFlight: (limit: number) =>
    new WireError('internal', `Too many requests in flight; at most ${limit} at a time`),
  /** For a message that the engine failed on before it became a call. */
  unhandled: (cause: unknown) => new WireError('internal', 'Internal error', { cause, http: { status: 500 } }),
  /** In place of a response that is not buffered, because the peer has not read those before it. */
  tooMuchUnread: () =>
    new WireError('internal', 'Too many responses wait to be read; read them, then send the request again'),
  /** For a call whose client disconnected and did not reconnect. */
  abandoned: () => new WireError('internal', 'The client disconnected and did not return for the response'),
  /** For a call whose process was killed; only its client can know whether it may be repeated. */
  processEnded: () =>
    new WireError('internal', 'The process that worked on this request has ended', { data: { mayHaveRun: true } }),
  closing: () => new WireError('internal', 'The server is shutting down'),
  /** For requests admitted with a token that is no longer valid; `why`: expired or revoked. */
  tokenEnded: (why: 'expired' | 'revoked') =>
    new WireError('forbidden', `Unauthorized: the access token ${tokenEnds[why]}; authenticate again`, {
      http: { status: 401, headers: ['WWW-Authenticate', 'Bearer error="invalid_token"'] },
    }),
  missingCapability: (required: Record<string, unknown>) =>
    new WireError(
      'missingCapability',
      `Missing required client capability: ${namesOf(required)}; declare it in clientCapabilities`,
      { data: { requiredCapabilities: required } },
    ),
  /** The same for tasks that do not exist, have expired, or belong to another caller. */
  taskNotFound: () => new WireError('invalidParams', 'Task not found'),
  taskEnded: (status: string) => new WireError('invalidParams', `The task has ended: its status is ${status}`),
  taskCancelled: () => new WireError('internal', 'The task was cancelled', { data: { status: 'cancelled' } }),
  /** For a tool that never runs as a task, called as one. */
  taskForbidden: (tool: string) =>
    new WireError('methodNotFound', `Tool ${clip(tool)} cannot run as a task; call it without "task"`),
  /** For a tool that only runs as a task, called without one. */
  taskRequired: (tool: string) =>
    new WireError('methodNotFound', `Tool ${clip(tool)} only runs as a task; call it with "task"`),
  tooManyTasks: (limit: number) =>
    new WireError('internal', `Too many tasks; at most ${limit} at a time`, { data: { retryAfterMs: 10_000 } }),
  tasksUnavailable: (cause: unknown) =>
    new WireError('internal', 'Tasks are unavailable: they cannot be stored; try again later', {
      cause,
      data: { retryAfterMs: 5_000 },
    }),
  tooManyWaiting: (limit: number) =>
    new WireError('internal', `Too many requests wait for the result of this task; at most ${limit}`),
  unsupportedVersion: (version: unknown, supported: readonly string[]) => {
    // A peer may send any value here: a value that is not a string is shown as JSON, and long values are cut.
    const requested = clip(typeof version === 'string' ? version : JSON.stringify(version));
    return new WireError(
      'unsupportedVersion',
      `Unsupported protocol version ${requested}; this server supports ${supported.join(', ')}`,
      { data: { supported, requested } },
    );
  },
  /** For a stateless request on a transport that has only handshake revisions; the code is that of its own revision. */
  handshakeRequired: (version: unknown, supported: readonly string[]) => {
    const { kind, message, data } = wireErrors.unsupportedVersion(version, supported);
    return new WireError(kind, message, { code: errorRows.unsupportedVersion.code, data });
  },
  /** For what the transport rejects before it reads a message. */
  transport: (message: string) => new WireError('transport', message),
  unknownEventId: () =>
    new WireError('transport', 'Bad Request: this Last-Event-ID is not known any more; send the request again'),
  unknownSession: () => new WireError('transport', 'Session not found: initialize again', { code: -32001 }),
  needsStream: (method: string) =>
    new WireError(
      'notAcceptable',
      `Not Acceptable: ${method} responds with an event stream; add text/event-stream to Accept`,
    ),
  headerMismatch: (why: string) => new WireError('headerMismatch', `Header mismatch: ${why}`),
  invalidRequestState: (why: string) =>
    new WireError('invalidParams', `Invalid requestState: ${why}; call again without it`),
  rateLimited: (retryAfterMs: number) =>
    new WireError('rateLimited', 'Rate limit exceeded', {
      data: { retryAfterMs },
      http: { status: 429, headers: retryAfter(retryAfterMs) },
    }),
  /** Something that the request needs is stored elsewhere, and that cannot be reached. */
  storeUnavailable: (cause?: unknown) =>
    new WireError('internal', 'The store of this server cannot be reached; try again later', {
      cause,
      http: { status: 503, headers: retryAfter(1_000) },
    }),
  overloaded: (retryAfterMs: number) => unavailable('Server overloaded: try again later', retryAfterMs),
  /** A request is large, and its caller, or all callers together, have too many large ones running. */
  tooMuchPending: () => unavailable('Server overloaded: too many large requests are running; wait for some to end'),
  /** The data stored in memory for this caller, or for all callers together, has reached its limit. */
  tooMuchKept: () =>
    unavailable('Server overloaded: too much data is stored for this caller; end subscriptions that are not needed'),
  tooManyWatched: (limit: number) => new WireError('internal', `Too many subscriptions; at most ${limit} resources`),
  watchedTooLong: (limit: number) =>
    new WireError('internal', `Too many subscriptions; their URIs may have at most ${limit} characters in total`),
  tooManySubscriptions: (limit: number) =>
    new WireError('internal', `Too many subscriptions; at most ${limit} on one connection`),
  /** A call that must be recorded and cannot be is not run. */
  auditUnavailable: (retryAfterMs: number) =>
    unavailable('Audit log unavailable: the request was not run; try again later', retryAfterMs),
  /** The disk failed while the call ran. The result is not sent: whatever a client receives must be in the log. */
  unrecorded: (cause: unknown) =>
    new WireError('internal', 'Audit log unavailable: the request was run, but it could not be recorded', { cause }),
  /** `challenge`: the value of `WWW-Authenticate`, if a better token would help. */
  forbidden: (why: string, challenge?: string, data?: unknown) =>
    new WireError('forbidden', `Forbidden: ${why}`, {
      data,
      http: { status: 403, ...(challenge === undefined ? {} : { headers: ['WWW-Authenticate', challenge] }) },
    }),
} as const;

/** The capabilities that are required; extensions by their identifiers. */
function namesOf({ extensions, ...others }: Record<string, unknown>): string {
  const names = Object.entries(others).flatMap(([name, value]) => {
    // An upstream of a gateway may have sent anything here.
    const parts = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    return parts.length === 0 ? name : parts.map((part) => `${name}.${part}`);
  });
  return [...names, ...Object.keys((extensions as object | undefined) ?? {})].join(', ');
}

const tokenEnds = { expired: 'has expired', revoked: 'was revoked' } as const;

function unavailable(message: string, retryAfterMs = 1_000): WireError {
  return new WireError('overloaded', message, {
    data: { retryAfterMs },
    http: { status: 503, headers: retryAfter(retryAfterMs) },
  });
}

/** The header is in whole seconds. */
const retryAfter = (ms: number): readonly string[] => ['Retry-After', String(Math.max(1, Math.ceil(ms / 1000)))];

/** Text from the peer is repeated, but never at length. */
function clip(text: string, max = 200): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
