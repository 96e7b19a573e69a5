// What a server has: tools, resources, templates, prompts. Checks what is registered, keeps it in order, and tells
// when a list changes. Nothing here knows who asks; features/ do.

import type { Principal } from '../protocol/exchange.ts';
import type { Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.ts';
import { type HeaderParam, headerParams } from '../protocol/revisions/index.ts';
import { type CompiledSchema, compileSchema, type SchemaInput } from '../schema/index.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from './definitions.ts';
import { UriTemplate } from './uri-template.ts';

export type Kind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/** An item of a list: what clients see, and who may see it. */
export interface Entry<Item> {
  /** What clients see; spelled out when first listed, since schemas may be costly to convert. */
  describe(): Item;
  readonly key: string;
  readonly visible: ((principal: Principal | undefined) => boolean) | undefined;
}

export interface ToolEntry extends Entry<Tool> {
  readonly definition: ToolDefinition;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  /** Arguments mirrored in headers, on transports that have them. */
  headerParams(): readonly HeaderParam[];
}

export interface ResourceEntry extends Entry<Resource> {
  readonly definition: ResourceDefinition;
}

export interface TemplateEntry extends Entry<ResourceTemplate> {
  readonly definition: ResourceTemplateDefinition;
  readonly template: UriTemplate;
}

export interface PromptEntry extends Entry<Prompt> {
  readonly definition: PromptDefinition;
}

interface Entries {
  readonly tools: Map<string, ToolEntry>;
  readonly resources: Map<string, ResourceEntry>;
  readonly resourceTemplates: Map<string, TemplateEntry>;
  readonly prompts: Map<string, PromptEntry>;
}

const noArguments = { type: 'object', additionalProperties: false } as const;

export class Catalog {
  readonly #entries: Entries = {
    tools: new Map(),
    resources: new Map(),
    resourceTemplates: new Map(),
    prompts: new Map(),
  };
  readonly #changed: (kind: Kind) => void;

  constructor(changed: (kind: Kind) => void) {
    this.#changed = changed;
  }

  get tools(): ReadonlyMap<string, ToolEntry> {
    return this.#entries.tools;
  }
  get resources(): ReadonlyMap<string, ResourceEntry> {
    return this.#entries.resources;
  }
  get resourceTemplates(): ReadonlyMap<string, TemplateEntry> {
    return this.#entries.resourceTemplates;
  }
  get prompts(): ReadonlyMap<string, PromptEntry> {
    return this.#entries.prompts;
  }

  addTool(name: string, definition: ToolDefinition): () => void {
    requireName('tool', name);
    requireFunction('tool', name, 'run', definition.run);
    const where = `tool ${JSON.stringify(name)}`;
    const input = compileSchema((definition.input ?? noArguments) as SchemaInput, {
      direction: 'input',
      root: 'object',
      where: `${where}, input`,
    });
    const output =
      definition.output &&
      compileSchema(definition.output, { direction: 'output', root: 'any', where: `${where}, output` });
    let mirrored: readonly HeaderParam[] | undefined;
    let described: Tool | undefined;
    const mirror = (): readonly HeaderParam[] => {
      const found = headerParams(input.json);
      if (typeof found === 'string') throw new TypeError(`${where}: ${found}`);
      return found;
    };
    // Plain schemas are there already, so a wrong header annotation can be reported at registration.
    if (definition.input !== undefined && !('~standard' in definition.input)) mirrored = mirror();
    return this.#add('tools', {
      key: name,
      visible: definition.visible,
      definition,
      input,
      output,
      headerParams: () => (mirrored ??= mirror()),
      describe: () =>
        (described ??= clean({
          name,
          title: definition.title,
          description: definition.description,
          icons: definition.icons,
          inputSchema: input.json,
          outputSchema: output?.json,
          annotations: definition.annotations,
          _meta: definition._meta,
        })),
    });
  }

  addResource(uri: string, definition: ResourceDefinition): () => void {
    requireUri(uri);
    requireName('resource', definition.name);
    requireFunction('resource', uri, 'read', definition.read);
    const { read: _read, visible, cache: _cache, ...shown } = definition;
    const item = clean({ uri, ...shown });
    return this.#add('resources', { key: uri, visible, definition, describe: () => item });
  }

  addTemplate(uriTemplate: string, definition: ResourceTemplateDefinition): () => void {
    const template = new UriTemplate(uriTemplate);
    requireName('resource template', definition.name);
    requireFunction('resource template', uriTemplate, 'read', definition.read);
    const { read: _read, list: _list, complete, visible, cache: _cache, ...shown } = definition;
    for (const name of Object.keys(complete ?? {})) {
      if (!template.names.includes(name)) {
        throw new TypeError(
          `Resource template ${uriTemplate} completes ${name}, which is not one of ${template.names.join(', ')}`,
        );
      }
    }
    const item = clean({ uriTemplate, ...shown });
    return this.#add('resourceTemplates', { key: uriTemplate, visible, definition, template, describe: () => item });
  }

  addPrompt(name: string, definition: PromptDefinition): () => void {
    requireName('prompt', name);
    requireFunction('prompt', name, 'get', definition.get);
    const { args = {}, get: _get, visible, ...shown } = definition;
    const described = Object.entries(args).map(([argument, { complete: _complete, ...rest }]) =>
      clean({ name: argument, ...rest }),
    );
    const item = clean({ name, ...shown, ...(described.length === 0 ? {} : { arguments: described }) });
    return this.#add('prompts', { key: name, visible, definition, describe: () => item });
  }

  #add<K extends Kind>(kind: K, entry: Entries[K] extends Map<string, infer E> ? E : never): () => void {
    const table = this.#entries[kind] as Map<string, Entry<unknown>>;
    const { key } = entry as Entry<unknown>;
    if (table.has(key)) {
      throw new TypeError(
        `${words[kind]} ${JSON.stringify(key)} is registered already; remove the first or choose another name`,
      );
    }
    table.set(key, entry as Entry<unknown>);
    this.#changed(kind);
    return () => {
      if (table.get(key) !== entry) return;
      table.delete(key);
      this.#changed(kind);
    };
  }
}

const words: Readonly<Record<Kind, string>> = {
  tools: 'Tool',
  resources: 'Resource',
  resourceTemplates: 'Resource template',
  prompts: 'Prompt',
};

/** Drops members that are undefined, so that an item has exactly the fields it was given. */
function clean<T extends object>(item: T): T {
  for (const key of Object.keys(item) as (keyof T)[]) if (item[key] === undefined) delete item[key];
  return item;
}

function requireName(what: string, name: unknown): void {
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`A ${what} needs a name: a string that is not empty`);
}

function requireFunction(what: string, name: string, field: string, value: unknown): void {
  if (typeof value !== 'function') {
    throw new TypeError(
      `${what[0]?.toUpperCase()}${what.slice(1)} ${JSON.stringify(name)} needs a function "${field}"`,
    );
  }
}

function requireUri(uri: string): void {
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:./.test(uri)) {
    throw new TypeError(`Resource ${JSON.stringify(uri)} needs an absolute URI such as "server://counter"`);
  }
}
