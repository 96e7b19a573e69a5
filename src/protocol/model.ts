// The revision-neutral model: the types that engine, client and packs share, in the shape of the newest revision.
// How a revision encodes them on the wire is in revisions/; nothing here depends on a date.

/** Any value JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object whose members have not been checked. */
export type JsonObject = { readonly [key: string]: unknown };

/** The `_meta` object of a message, item or content block. */
export type Meta = JsonObject;

/** The id of a JSON-RPC request; `0` and the empty string are ids. */
export type RequestId = string | number;
/** Chosen by the sender of a request; notifications about its progress have it. */
export type ProgressToken = string | number;

/** Severities of a log message, mildest first. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
/** A severity of RFC 5424. */
export type LogLevel = (typeof logLevels)[number];

/** An image a client may show beside a name. Consumers take `https:` and `data:` sources only. */
export interface Icon {
  /** The address of the image, or its content as a `data:` URI. */
  readonly src: string;
  /** Such as `image/png`, if the source does not tell. */
  readonly mimeType?: string;
  /** Such as `48x48`, or `any` for an image that scales. */
  readonly sizes?: readonly string[];
  /** The background that it is made for. Default: any. */
  readonly theme?: 'light' | 'dark';
}

/** Identifies a client or a server. Unverified; never a basis for a decision. */
export interface Implementation {
  /** Identifies the program for other programs. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
  /** The name that is shown to people. Default: `name`. */
  readonly title?: string;
  /** What it does. */
  readonly description?: string;
  /** The address of its website. */
  readonly websiteUrl?: string;
  /** Images that may be shown beside its name. */
  readonly icons?: readonly Icon[];
}

/** Hints about who content is for and how much it matters. */
export interface Annotations {
  /** Who it is for. Default: both. */
  readonly audience?: readonly ('user' | 'assistant')[];
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number;
  /** When it was last changed: ISO 8601. */
  readonly lastModified?: string;
}

interface Annotated {
  /** Who it is for, and how much it matters. */
  readonly annotations?: Annotations;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** A text. */
export interface TextContent extends Annotated {
  readonly type: 'text';
  /** The text. */
  readonly text: string;
}

/** An image. */
export interface ImageContent extends Annotated {
  readonly type: 'image';
  /** base64 */
  readonly data: string;
  /** Such as `image/png`. */
  readonly mimeType: string;
}

/** A sound. */
export interface AudioContent extends Annotated {
  readonly type: 'audio';
  /** base64 */
  readonly data: string;
  /** Such as `audio/wav`. */
  readonly mimeType: string;
}

/** The contents of a resource: text, or base64 in `blob`. */
export interface ResourceContents {
  /** The URI of the resource. */
  readonly uri: string;
  /** The type of the contents. */
  readonly mimeType?: string;
  /** The contents, if they are text. */
  readonly text?: string;
  /** The contents in base64, if they are not text. */
  readonly blob?: string;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** A resource with its contents. */
export interface EmbeddedResource extends Annotated {
  readonly type: 'resource';
  /** The contents. */
  readonly resource: ResourceContents;
}

/** A resource that the client can read, without its contents. */
export interface ResourceLink extends Resource {
  readonly type: 'resource_link';
}

/** One block of a tool result or prompt message. */
export type Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;

/** A tool call that the model requests, in sampling. */
export interface ToolUseContent {
  readonly type: 'tool_use';
  /** Identifies the call; its result has the same id. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly input: JsonObject;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** The result of a tool call that the model requested, in sampling. */
export interface ToolResultContent {
  readonly type: 'tool_result';
  /** The id of the call. */
  readonly toolUseId: string;
  /** The result for the model. */
  readonly content: readonly Content[];
  /** The result as a JSON value. */
  readonly structuredContent?: unknown;
  /** Whether the call failed. Default false. */
  readonly isError?: boolean;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** One block of a message in sampling. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** What a tool says about itself beyond its schema. Hints, never a basis for policy. */
export interface ToolAnnotations {
  /** The name that is shown to people; `title` of the tool comes first. */
  readonly title?: string;
  /** It changes nothing. Default false. */
  readonly readOnlyHint?: boolean;
  /** It may delete or overwrite something. Default true. Without meaning if it is read-only. */
  readonly destructiveHint?: boolean;
  /** A second call with the same arguments changes nothing more. Default false. */
  readonly idempotentHint?: boolean;
  /** It reaches things that are not known in advance, such as the web. Default true. */
  readonly openWorldHint?: boolean;
}

interface Named {
  /** Identifies it for programs. */
  readonly name: string;
  /** The name that is shown to people. Default: `name`. */
  readonly title?: string;
  /** What it is, for models and people. */
  readonly description?: string;
  /** Images that may be shown beside its name. */
  readonly icons?: readonly Icon[];
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** A tool as clients see it. */
export interface Tool extends Named {
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** The JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonObject;
  /** Hints about what it does. */
  readonly annotations?: ToolAnnotations;
  /** Whether a call may, or must, be a task; only on revisions where the client requests them. Default: it may not. */
  readonly execution?: { readonly taskSupport?: 'forbidden' | 'optional' | 'required' };
}

/** A resource as clients see it. */
export interface Resource extends Named {
  /** What it is read by. */
  readonly uri: string;
  /** The type of its contents. */
  readonly mimeType?: string;
  /** The size of its contents in bytes. */
  readonly size?: number;
  /** Who it is for, and how much it matters. */
  readonly annotations?: Annotations;
}

/** Resources with URIs of one form, as clients see them. */
export interface ResourceTemplate extends Named {
  /** An RFC 6570 template. */
  readonly uriTemplate: string;
  /** The type of the contents, if all have the same. */
  readonly mimeType?: string;
  /** Who they are for, and how much they matter. */
  readonly annotations?: Annotations;
}

/** An argument of a prompt as clients see it. */
export interface PromptArgument {
  /** Identifies it for programs. */
  readonly name: string;
  /** The name that is shown to people. */
  readonly title?: string;
  /** What to enter. */
  readonly description?: string;
  /** Whether it must be given. Default false. */
  readonly required?: boolean;
}

/** A prompt as clients see it. */
export interface Prompt extends Named {
  /** Its arguments; their values are strings. */
  readonly arguments?: readonly PromptArgument[];
}

/** One message of a prompt. */
export interface PromptMessage {
  /** Who the message is from. */
  readonly role: 'user' | 'assistant';
  /** The content of the message. */
  readonly content: Content;
}

/** The result of a tool call, before a codec encodes it. */
export interface ToolResult {
  /** The result for the model. */
  readonly content: readonly Content[];
  /** Present when the tool returned a value of its own rather than content blocks; may be any JSON value. */
  readonly structuredContent?: unknown;
  /** Whether the call failed; the content says why. Default false. */
  readonly isError?: boolean;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** The messages of a prompt. */
export interface PromptResult {
  /** What the prompt does. */
  readonly description?: string;
  /** The messages, in their order. */
  readonly messages: readonly PromptMessage[];
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** For how long, and for whom, a response may be cached. */
export interface CacheHint {
  /** Milliseconds; 0: not at all. Sent as a whole number from 0. */
  readonly ttlMs: number;
  /** `public`: one response may be used for all callers. `private`: only for the one that requested it. */
  readonly cacheScope: 'public' | 'private';
}

/** What reading a resource returns. */
export interface ReadResult {
  /** Several, if the resource has parts. */
  readonly contents: readonly ResourceContents[];
  /** How long it may be cached; absent: not at all. */
  readonly cache?: CacheHint;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** Suggested values for an argument. */
export interface Completion {
  /** At most 100 are sent. */
  readonly values: readonly string[];
  /** How many there are in all. */
  readonly total?: number;
  /** Whether there are more than `values`. */
  readonly hasMore?: boolean;
}

/** What the argument belongs to: a prompt, or a resource template by its text. */
export type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string; readonly title?: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** A folder or file that the client lets the server work in. */
export interface Root {
  /** A `file:` URI. */
  readonly uri: string;
  /** The name that is shown to people. */
  readonly name?: string;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** One message of a conversation with a model. */
export interface SamplingMessage {
  /** Who the message is from. */
  readonly role: 'user' | 'assistant';
  /** One block, or several. */
  readonly content: SamplingContent | readonly SamplingContent[];
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** What a server requests from the client's model. */
export interface SamplingParams {
  /** The conversation so far. */
  readonly messages: readonly SamplingMessage[];
  /** The longest text that the model may write, in tokens. */
  readonly maxTokens: number;
  /** Which model to use; the client decides. */
  readonly modelPreferences?: {
    /** Parts of names of models, the preferred one first. */
    readonly hints?: readonly { readonly name?: string }[];
    /** How much low cost matters, from 0 to 1. */
    readonly costPriority?: number;
    /** How much speed matters, from 0 to 1. */
    readonly speedPriority?: number;
    /** How much the abilities of the model matter, from 0 to 1. */
    readonly intelligencePriority?: number;
  };
  /** The client may change or ignore it. */
  readonly systemPrompt?: string;
  /** Which other messages the client should add. Default `none`. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  /** How much the text may vary. */
  readonly temperature?: number;
  /** Texts at which the model stops. */
  readonly stopSequences?: readonly string[];
  /** Passed to the provider of the model. */
  readonly metadata?: JsonObject;
  /** Tools that the model may call. The client needs the ability `sampling.tools`. */
  readonly tools?: readonly Tool[];
  /** Whether the model may (`auto`, default), must or must not call a tool. */
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
}

/** The response of the model. */
export interface SamplingResult {
  /** `assistant`. */
  readonly role: 'user' | 'assistant';
  /** One block, or several. */
  readonly content: SamplingContent | readonly SamplingContent[];
  /** The name of the model that was used. */
  readonly model: string;
  /** Such as `endTurn`, `maxTokens`, `stopSequence` or `toolUse`. */
  readonly stopReason?: string;
  /** Additional data for programs. */
  readonly _meta?: Meta;
}

/** What the user did: `decline` is a no, `cancel` closed the form without a decision. */
export type ElicitAction = 'accept' | 'decline' | 'cancel';

/** The client's response to an elicitation; `content` comes with an accepted form. */
export interface ElicitResult {
  /** What the user did. */
  readonly action: ElicitAction;
  /** The values of the form. */
  readonly content?: JsonObject;
}

/** Capabilities are open records: unknown keys are preserved. */
export type Capabilities = JsonObject;

/** The W3C trace context a request carried. */
export interface TraceContext {
  /** The id of the trace and of the span that caused the request. */
  readonly traceparent?: string;
  /** Data of tracing systems. */
  readonly tracestate?: string;
  /** Values that go along with the trace. */
  readonly baggage?: string;
}
