// The interface of a client codec: how a client encodes and decodes one revision. client-handshake.ts and
// client-stateless.ts implement it, client-revisions.ts picks one. The server's side is codec.ts.

import type { Capabilities, Implementation, JsonObject, LogLevel, Meta, SamplingResult } from '../model.ts';
import type { Dialect } from './dialects.ts';
import type { HeaderParam } from './headers.ts';

/** What is sent beside the params of a request. */
export interface RequestMeta {
  readonly progressToken?: number | undefined;
  /** The lowest level of log messages wanted with the response, on revisions that set it per request. */
  readonly logLevel?: LogLevel | undefined;
  /** Additional keys of the caller: trace context, extensions. */
  readonly extra?: Meta | undefined;
  /** The server must not answer with a task, on revisions where it decides. */
  readonly withoutTasks?: boolean;
  /** Declared instead of the client's own, on revisions that declare them per request. */
  readonly capabilities?: Capabilities | undefined;
}

/** How a revision has tasks: see `Dialect.tasks`. */
export type TaskDialect = NonNullable<Dialect['tasks']>;

/** A decoded result. */
export type DecodedResult =
  | { readonly kind: 'complete' }
  /** The server created a task. */
  | { readonly kind: 'task' }
  | {
      readonly kind: 'input-required';
      readonly requests: Readonly<Record<string, WireInputRequest>>;
      readonly state: string | undefined;
    }
  | { readonly kind: 'invalid'; readonly why: string };

/** One input request inside a result that requires input. */
export interface WireInputRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** How requests of this revision are sent over HTTP. */
export interface HttpBinding {
  /** Headers of every request once the revision is negotiated: names and values alternate. */
  readonly headers: readonly string[];
  /** Parts of the body are repeated in headers. */
  readonly mirrored: boolean;
  /** There are sessions: an id to send back, a standalone stream, resumable streams. */
  readonly sessions: boolean;
  /** Closing the stream of a request cancels it. */
  readonly closingCancels: boolean;
}

/** What a server returned about itself when the conversation started. */
export interface ServerFacts {
  readonly capabilities: Capabilities;
  readonly serverInfo: Implementation | undefined;
  readonly instructions: string | undefined;
}

/** The lists of changes a client can wait for. */
export interface ListenFilter {
  readonly tools?: boolean;
  readonly prompts?: boolean;
  readonly resources?: boolean;
  readonly uris?: readonly string[];
  readonly taskIds?: readonly string[];
}

/** One revision of the protocol, ready to use for one client. */
export interface ClientCodec {
  readonly date: string;
  readonly opening: 'initialize' | 'discover';
  /** How a server's input request arrives: as a request, or as a result that requires a retry. */
  readonly inputRequests: 'push' | 'retry';
  /** Capabilities and the level of log messages are part of every request, not of the start of a conversation. */
  readonly declaresPerRequest: boolean;
  /** Undefined where the revision has no tasks. */
  readonly tasks: TaskDialect | undefined;
  /** Requests that a server may support; others are not sent. */
  readonly requests: ReadonlySet<string>;
  /** Capabilities that a server can declare; a feature without one needs no declaration. */
  readonly serverCapabilities: readonly string[];
  /** Messages may arrive in arrays. */
  readonly batches: boolean;
  readonly http: HttpBinding;

  /** The text of a request; `fields` are the members of `params` as JSON without braces, maybe empty. */
  request(id: number, method: string, fields: string, meta: RequestMeta | undefined): string;
  /** The text of a notification; undefined where the revision does not have it. */
  notification(method: string, params?: JsonObject): string | undefined;
  cancelled(id: number, reason: string): string;
  /** The params that start a conversation, in the form that `request` takes. */
  openingFields(): string;
  /** Classifies the result of a request. */
  decodeResult(result: JsonObject): DecodedResult;
  /** Headers that mirror a request: names and values alternate. Empty where nothing is mirrored. */
  headers(
    method: string,
    name: string | undefined,
    params: readonly HeaderParam[],
    args: JsonObject,
  ): readonly string[];
  /** The params of a request that waits for changes. */
  listenFields(filter: ListenFilter): string;
  /** A model's response as the revision can encode it, or why it cannot. */
  samplingResult(result: SamplingResult): JsonObject | string;
}
