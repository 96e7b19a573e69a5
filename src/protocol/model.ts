// The revision-neutral model: the types that engine, client and packs share, in the shape of the newest revision.
// How a revision encodes them on the wire is in revisions/; nothing here depends on a date.

/** Any value JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object whose members have not been checked. */
export type JsonObject = { readonly [key: string]: unknown };

/** The `_meta` object of a message, item or content block. */
export type Meta = JsonObject;

export type RequestId = string | number;
export type ProgressToken = string | number;

/** Severities of a log message, mildest first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof logLevels)[number];

/** An image a client may show beside a name. Consumers take `https:` and `data:` sources only. */
export interface Icon {
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: readonly string[];
  readonly theme?: 'light' | 'dark';
}

/** Identifies a client or a server. Unverified; never a basis for a decision. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

/** Hints about who content is for and how much it matters. */
export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[];
  readonly priority?: number;
  readonly lastModified?: string;
}

interface Annotated {
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

export interface TextContent extends Annotated {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageContent extends Annotated {
  readonly type: 'image';
  /** base64 */
  readonly data: string;
  readonly mimeType: string;
}

export interface AudioContent extends Annotated {
  readonly type: 'audio';
  /** base64 */
  readonly data: string;
  readonly mimeType: string;
}

/** The contents of a resource: text, or base64 in `blob`. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: Meta;
}

export interface EmbeddedResource extends Annotated {
  readonly type: 'resource';
  readonly resource: ResourceContents;
}

export interface ResourceLink extends Resource {
  readonly type: 'resource_link';
}

/** One block of a tool result or prompt message. */
export type Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;

export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: Meta;
}

export interface ToolResultContent {
  readonly type: 'tool_result';
  readonly toolUseId: string;
  readonly content: readonly Content[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** What a tool says about itself beyond its schema. Hints, never a basis for policy. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

interface Named {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: Meta;
}

/** A tool as clients see it. */
export interface Tool extends Named {
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** Whether a call may, or must, be a task; only on revisions where the client requests them. Default: it may not. */
  readonly execution?: { readonly taskSupport?: 'forbidden' | 'optional' | 'required' };
}

export interface Resource extends Named {
  readonly uri: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
}

export interface ResourceTemplate extends Named {
  readonly uriTemplate: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface Prompt extends Named {
  readonly arguments?: readonly PromptArgument[];
}

export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: Content;
}

/** The result of a tool call, before a codec encodes it. */
export interface ToolResult {
  readonly content: readonly Content[];
  /** Present when the tool returned a value of its own rather than content blocks; may be any JSON value. */
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: Meta;
}

/** For how long, and for whom, a response may be cached. */
export interface CacheHint {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

export interface ReadResult {
  readonly contents: readonly ResourceContents[];
  readonly cache?: CacheHint;
  readonly _meta?: Meta;
}

export interface Completion {
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}

export type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string; readonly title?: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

export interface Root {
  readonly uri: string;
  readonly name?: string;
  readonly _meta?: Meta;
}

export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: SamplingContent | readonly SamplingContent[];
  readonly _meta?: Meta;
}

/** What a server requests from the client's model. */
export interface SamplingParams {
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly modelPreferences?: {
    readonly hints?: readonly { readonly name?: string }[];
    readonly costPriority?: number;
    readonly speedPriority?: number;
    readonly intelligencePriority?: number;
  };
  readonly systemPrompt?: string;
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly metadata?: JsonObject;
  readonly tools?: readonly Tool[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
}

export interface SamplingResult {
  readonly role: 'user' | 'assistant';
  readonly content: SamplingContent | readonly SamplingContent[];
  readonly model: string;
  readonly stopReason?: string;
  readonly _meta?: Meta;
}

export type ElicitAction = 'accept' | 'decline' | 'cancel';

/** The client's response to an elicitation; `content` comes with an accepted form. */
export interface ElicitResult {
  readonly action: ElicitAction;
  readonly content?: JsonObject;
}

/** Capabilities are open records: unknown keys are preserved. */
export type Capabilities = JsonObject;

/** The W3C trace context a request carried. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}
