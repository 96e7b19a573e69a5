// Where a server may deviate from the official specification. A profile is one object of these options; `{}` is the
// official behaviour. Stateless revisions always follow the official rules.

import type { WireError } from './errors.ts';
import type { LogLevel } from './model.ts';

/** Why a tool result reports an error, so that a profile can choose a text for each reason. */
export type ToolFailure = 'handler' | 'arguments' | 'unknownTool' | 'missingArguments' | 'timeout';

/** Where a server deviates from the specification; without options it does not. Revisions without a handshake ignore them. */
export interface Rules {
  /** What `initialize` may return. Default: every handshake revision. */
  readonly handshakeVersions?: readonly string[];
  /** The beginning of a session. */
  readonly lifecycle?: {
    /** Accept an `initialize` without protocolVersion, clientInfo or capabilities. Default true. */
    readonly lenientInitialize?: boolean;
    /** When other requests are accepted: after the response to `initialize` (default), or at `notifications/initialized`. */
    readonly requestsFrom?: 'initialize' | 'initialized';
    /** Whether `ping` is accepted before that. Default true. */
    readonly pingBeforeInit?: boolean;
    /** Additional names of `notifications/initialized`. Default `["initialized"]`. */
    readonly initializedAliases?: readonly string[];
  };
  /** Whether arrays are accepted. Default: as the negotiated revision defines. */
  readonly batch?: boolean;
  /** How errors are reported. */
  readonly errors?: {
    /** `message` (default): the sentence is the message. `details`: a generic message, with the sentence in `data.details`. */
    readonly style?: 'message' | 'details';
    /** Generic messages of a profile's own codes, for the style `details`. */
    readonly titles?: Readonly<Record<number, string>>;
    /** Default `invalidParams`. */
    readonly unknownTool?: 'invalidParams' | 'methodNotFound' | 'result';
    /** Default: as the revision defines. */
    readonly invalidArguments?: 'error' | 'result';
    /** Default: as the revision defines. */
    readonly resourceNotFound?: 'invalidParams' | 'resourceNotFound';
    /** Turns what a tool handler threw into a protocol error; undefined keeps it a tool result with `isError`. */
    readonly handler?: (error: unknown, tool: string) => WireError | undefined;
    /** The text of a tool result that reports an error. Default: the unchanged message. */
    readonly toolText?: (message: string, failure: ToolFailure) => string;
  };
  /** Calls of tools, and their results. */
  readonly tools?: {
    /** A `tools/call` without `arguments`: treated as `{}` (default) or rejected with an error result. */
    readonly missingArguments?: 'empty' | 'error';
    /** Write `isError: false` on success. Default false. */
    readonly explicitIsErrorFalse?: boolean;
    /** Indentation of a plain value returned as JSON text. Default 0. */
    readonly jsonIndent?: number;
  };
  /** How content is encoded. */
  readonly content?: {
    /** Emit embedded resources in the flat form `{type, uri, mimeType, text}`. Default false. */
    readonly flatResource?: boolean;
  };
  /** Log messages for clients. */
  readonly logging?: {
    /** Additional level names that a client may use. Default `{ warn: "warning" }`. */
    readonly levelAliases?: Readonly<Record<string, LogLevel>>;
  };
  /** How calls run. */
  readonly execution?: {
    /** How many requests of one connection run at a time. Default: no limit. */
    readonly concurrency?: number;
    /** How long one call may take, not counting the time it waits for the client's input. Default 60,000; 0 = no limit. */
    readonly timeoutMs?: number;
  };
}

/** Rules with all defaults filled in; only what depends on the revision may be undefined. */
export interface ResolvedRules {
  readonly lenientInitialize: boolean;
  readonly requestsFrom: 'initialize' | 'initialized';
  readonly pingBeforeInit: boolean;
  readonly initializedNames: ReadonlySet<string>;
  readonly batch: boolean | undefined;
  readonly detailsStyle: boolean;
  readonly titles: Readonly<Record<number, string>>;
  readonly unknownTool: 'invalidParams' | 'methodNotFound' | 'result';
  readonly invalidArguments: 'error' | 'result' | undefined;
  readonly resourceNotFound: 'invalidParams' | 'resourceNotFound' | undefined;
  readonly handlerError: ((error: unknown, tool: string) => WireError | undefined) | undefined;
  readonly toolText: ((message: string, failure: ToolFailure) => string) | undefined;
  readonly missingArguments: 'empty' | 'error';
  readonly explicitIsErrorFalse: boolean;
  readonly jsonIndent: number;
  readonly flatResource: boolean;
  readonly levelAliases: ReadonlyMap<string, LogLevel>;
  readonly concurrency: number;
  readonly timeoutMs: number;
}

export function resolveRules(rules: Rules = {}): ResolvedRules {
  const { lifecycle = {}, errors = {}, tools = {}, content = {}, logging = {}, execution = {} } = rules;
  return {
    lenientInitialize: lifecycle.lenientInitialize ?? true,
    requestsFrom: lifecycle.requestsFrom ?? 'initialize',
    pingBeforeInit: lifecycle.pingBeforeInit ?? true,
    initializedNames: new Set(['notifications/initialized', ...(lifecycle.initializedAliases ?? ['initialized'])]),
    batch: rules.batch,
    detailsStyle: errors.style === 'details',
    titles: errors.titles ?? {},
    unknownTool: errors.unknownTool ?? 'invalidParams',
    invalidArguments: errors.invalidArguments,
    resourceNotFound: errors.resourceNotFound,
    handlerError: errors.handler,
    toolText: errors.toolText,
    missingArguments: tools.missingArguments ?? 'empty',
    explicitIsErrorFalse: tools.explicitIsErrorFalse ?? false,
    jsonIndent: tools.jsonIndent ?? 0,
    flatResource: content.flatResource ?? false,
    levelAliases: new Map(Object.entries(logging.levelAliases ?? { warn: 'warning' })),
    concurrency: execution.concurrency ?? Number.POSITIVE_INFINITY,
    timeoutMs: execution.timeoutMs ?? 60_000,
  };
}
