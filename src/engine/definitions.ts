// What a user registers on a server: tools, resources, templates, prompts, skills. The types are generic here; in catalog.ts and
// below, an entry is plain functions over unknown.

import type { Awaitable } from '../common/awaitable.ts';
import type { Ability } from '../protocol/abilities.ts';
import type { AppCsp, AppPermissions, ToolAudience } from '../protocol/apps.ts';
import type { Principal } from '../protocol/exchange.ts';
import type {
  Annotations,
  CacheHint,
  Completion,
  Content,
  Icon,
  Meta,
  PromptMessage,
  PromptResult,
  ReadResult,
  Resource,
  ResourceContents,
  ToolAnnotations,
  ToolResult,
} from '../protocol/model.ts';
import type { Skill } from '../protocol/skills.ts';
import type { InferOutput, Issue, SchemaInput } from '../schema/index.ts';
import type { Context } from './context.ts';
import type { InputRequired } from './input-requests/input-required.ts';
import type { TaskOptions, TaskSupport } from './tasks/task-options.ts';

/** What tools, resources, templates, prompts and apps have in common. */
interface Described {
  /** The name that clients show to people. */
  readonly title?: string;
  /** What it does, for models and people. */
  readonly description?: string;
  /** Images that clients may show beside it. */
  readonly icons?: readonly Icon[];
  /** Sent to clients as it is, on revisions that have it. */
  readonly _meta?: Meta;
  /** Who may see and use this; for all others it does not exist. Default: all callers. */
  readonly visible?: (principal: Principal | undefined) => boolean;
}

/**
 * What a tool handler may return: text, content blocks, a whole result, or any JSON value of its own, which becomes
 * structured content with a text copy.
 */
export type ToolReturn = string | Content | readonly Content[] | ToolResult | InputRequired | unknown;

/** A tool. `input` and `output` take any Standard Schema library or plain JSON Schema. */
export interface ToolDefinition<I extends SchemaInput = SchemaInput, O extends SchemaInput = SchemaInput>
  extends Described {
  /** The schema of the arguments, which must describe an object. Without it, the tool takes no arguments. */
  readonly input?: I;
  /** The schema of the structured result. It is published, and the value that `run` returns is validated against it. */
  readonly output?: O;
  /**
   * The text beside structured content, if `run` returned none. Some clients give both to their model. `always` (default):
   * the JSON of the value. `short`: that JSON up to 250 characters, otherwise one line about what the value contains.
   * `never`: none. Failures, and clients of revisions without structured content, always get the whole text.
   */
  readonly textCopy?: 'always' | 'short' | 'never';
  /** Hints for clients, such as `readOnlyHint`. They do not control access. */
  readonly annotations?: ToolAnnotations;
  /** Capabilities the client must have; checked before the handler runs. */
  readonly needs?: readonly Ability[];
  /** Overrides the server's time limit; 0 = none. */
  readonly timeoutMs?: number;
  /** A sealed state of this tool is accepted only once. */
  readonly singleUse?: boolean;
  /** Whether and how calls may run as tasks, detached from their request. Default: they never do. */
  readonly task?: TaskSupport | TaskOptions;
  /**
   * The URI of an app of this server, which hosts with MCP Apps show for the result. The tool still returns content that is
   * useful without it.
   */
  readonly ui?: string | ToolUi;
  /** Returns a message of your own for invalid arguments; undefined keeps the standard one. */
  readonly explain?: (issues: readonly Issue[], args: unknown) => string | undefined;
  /**
   * Runs the tool with validated arguments. Returns a value of `output` or a whole result; without `output`, any of
   * `ToolReturn`. What it throws becomes a result with `isError`; see `UserError`.
   */
  readonly run: (args: ArgumentsOf<I>, ctx: Context) => Awaitable<InferOutput<O> | WholeResult<O>>;
}

/**
 * Without `input` there are no arguments. `object`, and not `unknown`: if a handler reads an argument because `input` has another
 * name, the compiler reports that name.
 */
type ArgumentsOf<I> = SchemaInput extends I ? object : InferOutput<I>;

/**
 * What a handler may return besides a value of `output`. `never`: the compiler reads a handler before it has inferred `O`.
 * Then every value is accepted, and `Literals` preserves the `'C'` of `{ unit: 'C' }`, which would be a `string` otherwise.
 */
type WholeResult<O> = [O] extends [never] ? NonNullable<unknown> | Literals : ToolResult | InputRequired;
type Literals = '' | 0 | false | null | undefined | readonly Literals[] | { readonly [key: string]: Literals };

/** A tool that declared its output returns that value, or a whole result such as a failure. */
export interface StructuredToolDefinition<I extends SchemaInput, O extends SchemaInput> extends ToolDefinition<I, O> {
  /** The schema of the structured result. It is published, and the value that `run` returns is validated against it. */
  readonly output: O;
}

/** What reading a resource may return; undefined or null: there is no such resource. */
export type ReadReturn =
  | string
  | Uint8Array
  | ResourceContents
  | readonly ResourceContents[]
  | ReadResult
  | undefined
  | null;

/** A resource with a fixed URI. */
export interface ResourceDefinition extends Described {
  /** Identifies the resource for people and programs; `title` is shown instead if there is one. */
  readonly name: string;
  /** The type of contents that have none of their own. */
  readonly mimeType?: string;
  /** The size of the contents in bytes, if it is known. */
  readonly size?: number;
  /** Hints for clients: audience, priority, last change. */
  readonly annotations?: Annotations;
  /** False: it can be read, but is not in `resources/list`. Default true. */
  readonly listed?: boolean;
  /** How long clients may cache what they read. Default: not at all. */
  readonly cache?: CacheHint;
  /** Returns the contents. Text is a string, binary data a `Uint8Array`; undefined: there is no such resource. */
  readonly read: (ctx: Context) => Awaitable<ReadReturn | InputRequired>;
}

/** An app: a page that hosts with MCP Apps show for a tool. */
export interface AppDefinition extends Described {
  /** Default: the URI. */
  readonly name?: string;
  /** The page, a whole HTML document, or a function that returns it, called for each read. */
  readonly html: string | ((ctx: Context) => string | Promise<string>);
  /** The origins that the page uses; hosts block all others. */
  readonly csp?: AppCsp;
  /** What the page asks the host for, such as the camera or the clipboard. */
  readonly permissions?: AppPermissions;
  /** An origin of its own, in the form that the host documents. */
  readonly domain?: string;
  /** Whether the host draws a border around the page. */
  readonly prefersBorder?: boolean;
  /** Whether the page is in `resources/list`. Default false: hosts find it by its tools. */
  readonly listed?: boolean;
}

/** The app of a tool. */
export interface ToolUi {
  /** The URI of an app that is registered with `server.app`. */
  readonly resource: string;
  /** Who may call the tool. `['app']`: only the page itself; hosts do not offer it to their model. Default: both. */
  readonly visibility?: readonly ToolAudience[];
}

/** The variable names of a URI template, as far as the type system can find them. */
export type TemplateNames<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? BareName<Name> | TemplateNames<Rest>
  : never;
type BareName<N extends string> = N extends `+${infer R}` | `#${infer R}` | `/${infer R}` | `.${infer R}`
  ? BareName<R>
  : N extends `?${string}` | `&${string}` | `;${string}` | `${string},${string}`
    ? string
    : N extends `${infer R}*`
      ? R
      : N;

/** The variables of a URI that matches. Beside a list such as `{?page,sort}`, the other names are still found. */
type TemplateVariables<T extends string> =
  string extends TemplateNames<T>
    ? Readonly<Record<string, string>> & Readonly<Record<SingleNames<T>, string>>
    : Readonly<Record<TemplateNames<T>, string>>;
type SingleNames<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? (string extends BareName<Name> ? never : BareName<Name>) | SingleNames<Rest>
  : never;

/** Suggests values for one argument, given its current value and the other arguments known so far. */
export type Completer = (
  value: string,
  known: Readonly<Record<string, string>>,
  ctx: Context,
) => Awaitable<readonly string[] | Completion>;

/** Resources addressed by a URI template (RFC 6570). */
export interface ResourceTemplateDefinition<T extends string = string> extends Described {
  /** Identifies the template for people and programs; `title` is shown instead if there is one. */
  readonly name: string;
  /** The type of contents that have none of their own. */
  readonly mimeType?: string;
  /** Hints for clients: audience, priority, last change. */
  readonly annotations?: Annotations;
  /** How long clients may cache what they read. Default: not at all. */
  readonly cache?: CacheHint;
  /** Returns the contents of the resource with these variables; undefined: there is no such resource. */
  readonly read: (variables: TemplateVariables<T>, ctx: Context, uri: string) => Awaitable<ReadReturn | InputRequired>;
  /** The resources of this template that should appear in `resources/list`. */
  readonly list?: (principal: Principal | undefined) => Awaitable<readonly Resource[]>;
  /** Suggests values for the variables while the user types. */
  readonly complete?: Readonly<Partial<Record<TemplateNames<T>, Completer>>>;
}

/** An argument of a prompt. */
export interface PromptArgumentDefinition {
  /** The name that clients show to people. */
  readonly title?: string;
  /** What to enter, for people. */
  readonly description?: string;
  /** Whether it must be given. Default false. */
  readonly required?: boolean;
  /** Suggests values while the user types. */
  readonly complete?: Completer;
}

/** The arguments of a prompt by name. */
export type PromptArguments = Readonly<Record<string, PromptArgumentDefinition>>;

/** The arguments of a prompt: required ones are present, the others may be. */
export type PromptValues<A extends PromptArguments> = {
  readonly [K in keyof A]: A[K] extends { readonly required: true } ? string : string | undefined;
};

/** What a prompt may return: the text of one user message, messages, or the whole result. */
export type PromptReturn = string | PromptMessage | readonly PromptMessage[] | PromptResult;

/** A prompt. */
export interface PromptDefinition<A extends PromptArguments = PromptArguments> extends Described {
  /** The arguments by name. Their values are strings on every revision. */
  readonly args?: A;
  /** Returns the messages. It does not run if a required argument is missing. */
  readonly get: (args: PromptValues<A>, ctx: Context) => Awaitable<PromptReturn | InputRequired>;
}

/** A skill, as clients see it. Its files are resources, which are registered separately. */
export interface SkillDefinition extends Skill {
  /** Whether a principal may see it. Default: everyone who may read its `SKILL.md`. */
  readonly visible?: (principal: Principal | undefined) => boolean;
  /** False: it is not in the list, and clients find it by its URI. Default: true. */
  readonly listed?: boolean;
}

/** Returned by every method that registers something. */
export interface Registration {
  /** Removes the item; clients that follow the list are notified. */
  remove(): void;
}
