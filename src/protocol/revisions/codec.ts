// The interface of a codec: how one revision encodes the neutral model on the wire. handshake.ts and stateless.ts
// implement it, index.ts picks one per message.

import type { Ability } from '../abilities.ts';
import type { ErrorKind, WireError } from '../errors.ts';
import type {
  CacheHint,
  Capabilities,
  Completion,
  JsonObject,
  LogLevel,
  Meta,
  ProgressToken,
  Prompt,
  PromptResult,
  ReadResult,
  RequestId,
  Resource,
  ResourceTemplate,
  Tool,
  ToolResult,
} from '../model.ts';
import type { ResolvedRules } from '../rules.ts';
import type { Skill } from '../skills.ts';
import type { Dialect } from './dialects.ts';

/** The lists a server has, with the neutral type of their items. */
export interface ListItemTypes {
  readonly tools: Tool;
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
  readonly prompts: Prompt;
  readonly skills: Skill;
}

/** What a server returns about itself when a conversation starts. */
export interface ServerDescription {
  readonly capabilities: Capabilities;
  readonly instructions?: string;
  readonly cache: CacheHint;
  /** Supported revisions, where the response lists them. */
  readonly versions: readonly string[];
}

/** The kind of change a server announces, and the URI where it is about one resource. */
export interface ChangeNotification {
  readonly kind: 'tools' | 'prompts' | 'resources' | 'resource';
  readonly uri?: string;
}

/** One revision of the protocol, ready to use for one server. Results are the JSON text of `result`. */
export interface Codec {
  readonly date: string;
  readonly rules: ResolvedRules;
  /** Requests a client may send; anything else is "not found" by absence. */
  readonly requests: ReadonlySet<string>;
  /** How a handler's input request reaches the client: as a request, or as a result that requires a retry. */
  readonly inputRequests: 'push' | 'retry';
  readonly batches: boolean;
  /** A stream may be closed early and resumed: it starts with an event that is only an id. */
  readonly polling: boolean;
  readonly invalidArguments: 'error' | 'result';
  /** Whether the revision has this ability, whatever the client declared. */
  supports(ability: Ability): boolean;

  serverDescription(welcome: ServerDescription): string;
  empty(): string;
  /** A result of these members, as JSON text without braces. */
  result(members: string): string;
  /** The result of a method that is not built in. */
  custom(result: JsonObject): string;
  /**
   * A result that another server encoded in this revision, as it is sent on; undefined if it must be encoded again. `meta`:
   * its `_meta`.
   */
  passOn(text: string, meta: Meta | undefined): string | undefined;
  toolResult(result: ToolResult, outputSchema: JsonObject | undefined): string;
  promptResult(result: PromptResult): string;
  readResult(result: ReadResult, cache: CacheHint): string;
  completion(completion: Completion): string;
  skill(skill: Skill, cache: CacheHint): string;
  list<K extends keyof ListItemTypes>(
    key: K,
    items: readonly ListItemTypes[K][],
    nextCursor: string | undefined,
    cache: CacheHint,
  ): string;
  inputRequired(requests: JsonObject, state: string | undefined): string;
  subscriptionEnd(id: RequestId): string;

  codeOf(kind: ErrorKind): number;
  /** The text of an error response; `id` is undefined when it could not be read. */
  error(id: RequestId | undefined, error: WireError): string;
  /** The HTTP status that goes with an error. */
  statusOf(error: WireError): number;

  progress(token: ProgressToken, progress: number, total: number | undefined, message: string | undefined): string;
  log(level: LogLevel, logger: string | undefined, data: unknown): string;
  /** `subscription`: the listen request this belongs to, on revisions that tag notifications with it. */
  change(change: ChangeNotification, subscription?: RequestId): string;
  acknowledged(subscription: RequestId, honoured: JsonObject): string;
  cancelled(id: RequestId, reason: string | undefined, meta?: Meta): string;

  /** For input requests, which input-requests.ts encodes: few servers send any, so it is loaded on demand. */
  readonly dialect: Dialect;
}
