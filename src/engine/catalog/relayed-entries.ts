// Entries of a catalog that other servers described: what they listed is shown as it is, schemas are not compiled, and
// arguments are not validated, because the other server does that.

import type { CacheHint, Prompt, Resource, ResourceTemplate, Tool } from '../../protocol/model.ts';
import { type HeaderParam, headerParams } from '../../protocol/revisions/index.ts';
import type { Skill } from '../../protocol/skills.ts';
import type { CompiledSchema, JsonSchema, Validator } from '../../schema/index.ts';
import type { Completer, PromptDefinition, ResourceTemplateDefinition, ToolDefinition } from '../definitions.ts';
import { resolveTaskOptions } from '../tasks/task-options.ts';
import type { PromptEntry, ResourceEntry, SkillEntry, TemplateEntry, ToolEntry } from './catalog-entry.ts';
import { UriTemplate } from './uri-template.ts';

/** Accepts everything. */
const unchecked: Validator = { check: () => undefined, validate: (value) => ({ ok: true, value }) };
const accepting = (json: JsonSchema): CompiledSchema => ({ json, validator: unchecked });

const noHeaders: readonly HeaderParam[] = [];

/** How an entry is shown besides what its item says. */
export interface RelayedOptions {
  /** False: it can be used, but is not in lists. */
  readonly listed?: boolean;
  /** It only continues calls from before; it should not be listed. */
  readonly removed?: boolean;
}

export interface RelayedToolOptions extends RelayedOptions {
  readonly run: ToolDefinition['run'];
  /** Validates arguments before the handler runs. Default: none. */
  readonly input?: CompiledSchema | undefined;
  /** Whether calls may run as tasks of this server. */
  readonly task?: ToolDefinition['task'] | undefined;
  /** The name of the server that it belongs to, for limits. */
  readonly upstream?: string;
}

/** A tool. It has no time limit of its own. */
export function relayedTool(
  tool: Tool,
  { run, input, task, listed, removed, upstream }: RelayedToolOptions,
): ToolEntry {
  const { name, inputSchema, outputSchema, execution: _execution, ...shown } = tool;
  const resolved = resolveTaskOptions(`tool ${JSON.stringify(name)}`, task);
  const execution = resolved && { taskSupport: resolved.support };
  const item: Tool = {
    name,
    ...shown,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(execution && { execution }),
  };
  let mirrored: readonly HeaderParam[] | undefined;
  return {
    key: name,
    visible: undefined,
    listed,
    removed,
    relayed: true,
    upstream,
    definition: { run, timeoutMs: 0 },
    input: input ?? accepting(inputSchema),
    output: outputSchema && accepting(outputSchema),
    task: resolved,
    headerParams() {
      if (mirrored === undefined) {
        const found = headerParams(inputSchema);
        // A tool whose annotations are invalid can still be called, without headers.
        mirrored = typeof found === 'string' ? noHeaders : found;
      }
      return mirrored;
    },
    describe: () => item,
  };
}

export interface RelayedReadOptions extends RelayedOptions {
  readonly read: (
    uri: string,
    ctx: Parameters<ResourceTemplateDefinition['read']>[1],
  ) => ReturnType<ResourceTemplateDefinition['read']>;
  readonly cache?: CacheHint | undefined;
}

/** A resource. Its read returns whole results. */
export function relayedResource(
  resource: Resource,
  { read, cache, listed, removed }: RelayedReadOptions,
): ResourceEntry {
  const { uri, name } = resource;
  const definition = { name, read: (ctx: Parameters<typeof read>[1]) => read(uri, ctx), ...(cache && { cache }) };
  return {
    key: uri,
    visible: undefined,
    listed,
    removed,
    relayed: true,
    definition,
    describe: () => resource,
  };
}

export interface RelayedTemplateOptions extends RelayedReadOptions {
  /** Suggests values for any of its variables. */
  readonly complete?: ((argument: string) => Completer) | undefined;
}

/** A resource template. One that cannot be parsed is listed and matches nothing. */
export function relayedTemplate(item: ResourceTemplate, options: RelayedTemplateOptions): TemplateEntry {
  const { read, cache, complete, listed } = options;
  const { uriTemplate, name } = item;
  const template = parse(uriTemplate);
  const completers =
    complete && Object.fromEntries(template.names.map((variable) => [variable, complete(variable)] as const));
  const definition: ResourceTemplateDefinition = {
    name,
    read: (_variables, ctx, uri) => read(uri, ctx),
    ...(cache && { cache }),
    ...(completers && { complete: completers }),
  };
  return {
    key: uriTemplate,
    visible: undefined,
    listed,
    relayed: true,
    definition,
    template,
    describe: () => item,
  };
}

export interface RelayedReaderOptions extends Pick<RelayedReadOptions, 'read' | 'removed'> {
  /** Default: that of the one reader for all that exists. */
  readonly key?: string;
  /** Whether a URI may be read. */
  readonly has: (uri: string) => boolean;
}

/** A template that everything matches. */
export const readerKey = '{+uri}';

/** Reads resources that are in no list and match no template: a server need not list everything it can read. */
export function relayedReader({ read, has, removed, key = readerKey }: RelayedReaderOptions): TemplateEntry {
  const uriTemplate = readerKey;
  return {
    key,
    visible: undefined,
    listed: false,
    removed,
    relayed: true,
    definition: { name: 'any', read: (_variables, ctx, uri) => read(uri, ctx) },
    template: { match: (uri) => (has(uri) ? {} : undefined), names: [] },
    describe: () => ({ uriTemplate, name: 'any' }),
  };
}

function parse(uriTemplate: string): Pick<UriTemplate, 'match' | 'names'> {
  try {
    return new UriTemplate(uriTemplate);
  } catch {
    return { match: () => undefined, names: [] };
  }
}

export interface RelayedPromptOptions extends RelayedOptions {
  readonly get: (
    args: Readonly<Record<string, string>>,
    ctx: Parameters<PromptDefinition['get']>[1],
  ) => ReturnType<PromptDefinition['get']>;
  readonly complete?: ((argument: string) => Completer) | undefined;
}

/** A prompt. It gets all arguments that the client sent. */
export function relayedPrompt(prompt: Prompt, { get, complete, listed, removed }: RelayedPromptOptions): PromptEntry {
  const args = Object.fromEntries(
    (prompt.arguments ?? []).map(({ name }) => [name, complete === undefined ? {} : { complete: complete(name) }]),
  );
  return {
    key: prompt.name,
    visible: undefined,
    listed,
    removed,
    relayed: true,
    definition: { args, get: get as PromptDefinition['get'] },
    describe: () => prompt,
  };
}

/** A skill. `skills/get` asks its server for it. */
export function relayedSkill(skill: Skill): SkillEntry {
  return { key: skill.uri, visible: undefined, relayed: true, describe: () => skill };
}
