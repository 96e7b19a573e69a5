// The contract of a codec: how one revision spells the neutral model on the wire. Contract only; handshake.ts and
// stateless.ts implement it, index.ts picks one per message.

import type { Ability } from '../abilities.ts';
import type { ErrorKind, WireError } from '../errors.ts';
import type {
  CacheHint,
  Capabilities,
  Completion,
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
import type { SettledRules } from '../rules.ts';
import type { Spelling } from './spelling.ts';

type Schema = { readonly [key: string]: unknown };

/** The lists a server has, with the neutral type of their items. */
export interface Listed {
  readonly tools: Tool;
  readonly resources: Resource;
  readonly resourceTemplates: ResourceTemplate;
  readonly prompts: Prompt;
}

/** What a server says of itself at the beginning. */
export interface Welcome {
  readonly capabilities: Capabilities;
  readonly instructions?: string;
  readonly cache: CacheHint;
  /** Revisions to name where the greeting lists them. */
  readonly versions: readonly string[];
}

/** The kind of change a server announces, and the URI where it is about one resource. */
export interface Change {
  readonly kind: 'tools' | 'prompts' | 'resources' | 'resource';
  readonly uri?: string;
}

/** One revision of the protocol, ready to speak for one server. Results are the JSON text of `result`. */
export interface Revision {
  readonly date: string;
  readonly rules: SettledRules;
  /** Requests a client may send; anything else is "not found" by absence. */
  readonly requests: ReadonlySet<string>;
  /** How a handler's question reaches the client: as a request of ours, or as an answer that asks for a retry. */
  readonly asks: 'push' | 'retry';
  readonly batches: boolean;
  /** A stream may be closed early and asked for again: it opens with an event that is only an id. */
  readonly polling: boolean;
  readonly invalidArguments: 'error' | 'result';
  /** Whether the revision has words for this, whatever the client declared. */
  knows(ability: Ability): boolean;

  greeting(welcome: Welcome): string;
  empty(): string;
  /** An answer of a method this runtime does not know itself. */
  custom(result: Schema): string;
  toolResult(result: ToolResult, outputSchema: Schema | undefined): string;
  promptResult(result: PromptResult): string;
  readResult(result: ReadResult, cache: CacheHint): string;
  completion(completion: Completion): string;
  list<K extends keyof Listed>(
    key: K,
    items: readonly Listed[K][],
    nextCursor: string | undefined,
    cache: CacheHint,
  ): string;
  inputRequired(requests: Schema, state: string | undefined): string;
  subscriptionEnd(id: RequestId): string;

  codeOf(kind: ErrorKind): number;
  /** The text of an error answer; `id` is undefined when it could not be read. */
  error(id: RequestId | undefined, error: WireError): string;
  /** The HTTP status that goes with an error. */
  statusOf(error: WireError): number;

  progress(token: ProgressToken, progress: number, total: number | undefined, message: string | undefined): string;
  log(level: LogLevel, logger: string | undefined, data: unknown): string;
  /** `subscription`: the listen request this goes to, on revisions that tag what they announce. */
  change(change: Change, subscription?: RequestId): string;
  acknowledged(subscription: RequestId, honoured: Schema): string;
  cancelled(id: RequestId, reason: string | undefined, meta?: Meta): string;

  /** For questions to the client, which inputs.ts spells: few servers ask any, so it is loaded by those who do. */
  readonly spelling: Spelling;
}
