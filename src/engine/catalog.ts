// The tools, resources, templates and prompts of a server. Checks what is registered, holds it in order, and reports when a
// list changes. It does not know the caller; features/ do.

import type { Principal } from '../protocol/exchange.ts';
import type { Prompt, Resource, ResourceTemplate, Tool } from '../protocol/model.ts';
import { type HeaderParam, headerParams } from '../protocol/revisions/index.ts';
import { type CompiledSchema, compileSchema, type SchemaInput } from '../schema/index.ts';
import { metaWithUi } from './apps.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from './definitions.ts';
import type { CatalogKind, Visibility } from './ports.ts';
import { type ResolvedTaskOptions, resolveTaskOptions } from './tasks/task-options.ts';
import { UriTemplate } from './uri-template.ts';

export type { CatalogKind } from './ports.ts';

/** An item of a list: what clients see, and who may see it. */
export interface CatalogEntry<Item> {
  /** What clients see; created when first listed, since converting schemas may be slow. */
  describe(): Item;
  readonly key: string;
  readonly visible: ((principal: Principal | undefined) => boolean) | undefined;
  /** False: it can be used, but is not in its list. */
  readonly listed?: boolean | undefined;
  /** It is another server's: arguments and results are passed on as they are. */
  readonly relayed?: boolean;
  /** The name of that server. */
  readonly upstream?: string | undefined;
}

export interface ToolEntry extends CatalogEntry<Tool> {
  readonly definition: ToolDefinition;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  /** How it runs as a task; undefined: never. */
  readonly task: ResolvedTaskOptions | undefined;
  /** Arguments that are mirrored in headers, on transports that have headers. */
  headerParams(): readonly HeaderParam[];
}

export interface ResourceEntry extends CatalogEntry<Resource> {
  readonly definition: ResourceDefinition;
}

export interface TemplateEntry extends CatalogEntry<ResourceTemplate> {
  readonly definition: ResourceTemplateDefinition;
  readonly template: Pick<UriTemplate, 'match' | 'names'>;
}

export interface PromptEntry extends CatalogEntry<Prompt> {
  readonly definition: PromptDefinition;
}

type VisibleTo = (principal: Principal | undefined) => boolean;

/** Whether a principal may see and use an item. */
export function isVisible(entry: CatalogEntry<unknown>, principal: Principal | undefined): boolean {
  return entry.visible === undefined || entry.visible(principal);
}

/** The kind of entry in each list. */
export interface Entries {
  readonly tools: ToolEntry;
  readonly resources: ResourceEntry;
  readonly resourceTemplates: TemplateEntry;
  readonly prompts: PromptEntry;
}

/** All entries of one owner. */
export type OwnedEntries = { readonly [K in CatalogKind]?: readonly Entries[K][] };

/** Is notified of what is registered and removed. If `added` throws, the entry is not registered. */
export interface CatalogFollower {
  added(kind: CatalogKind, entry: Entries[CatalogKind]): void;
  /** May be called for an entry whose `added` failed. */
  removed(entry: Entries[CatalogKind]): void;
}

const noArguments = { type: 'object', additionalProperties: false } as const;

export class Catalog {
  readonly #entries: { readonly [K in CatalogKind]: Map<string, Entries[K]> } = {
    tools: new Map(),
    resources: new Map(),
    resourceTemplates: new Map(),
    prompts: new Map(),
  };
  readonly #changed: (kind: CatalogKind) => void;
  readonly #followers = new Set<CatalogFollower>();
  /** The `visible` of the definition itself, without restrictions. */
  readonly #ownVisibility = new WeakMap<object, VisibleTo | undefined>();
  readonly #owned = new WeakMap<object, OwnedEntries>();
  #restrictions: readonly Visibility[] = [];
  /** Something may be hidden from some callers. */
  #hides = false;
  #hasTasks = false;
  #hasFacade = false;

  constructor(changed: (kind: CatalogKind) => void) {
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

  /** Whether lists may differ between callers. */
  get hides(): boolean {
    return this.#hides;
  }

  /** Whether a tool was registered that runs as a task. */
  get hasTasks(): boolean {
    return this.#hasTasks;
  }

  /** Whether one was registered that clients without tasks can use in the same way. */
  get hasFacade(): boolean {
    return this.#hasFacade;
  }

  /** Adds a restriction to everything that is registered now or later. */
  restrict(visibility: Visibility): void {
    this.#restrictions = [...this.#restrictions, visibility];
    this.#hides = true;
    for (const kind of Object.keys(this.#entries) as CatalogKind[]) {
      for (const entry of this.#entries[kind].values()) {
        this.#applyRestrictions(kind, entry);
        // Added again, because its visibility is not the same any more.
        this.#notifyRemoved(entry);
        this.#notifyAdded(kind, entry);
      }
      this.#changed(kind);
    }
  }

  /** Whether restrictions allow a key, which need not be registered. */
  allows(kind: CatalogKind, key: string, principal: Principal | undefined): boolean {
    for (const visibility of this.#restrictions) if (!visibility(kind, key, principal)) return false;
    return true;
  }

  /** Whether a caller may know of a resource, registered by itself or covered by a template. */
  isVisibleUri(uri: string, principal: Principal | undefined): boolean {
    if (!this.#hides) return true;
    const entry = this.resources.get(uri);
    if (entry !== undefined) return isVisible(entry, principal);
    if (!this.allows('resources', uri, principal)) return false;
    const templates = [...this.resourceTemplates.values()].filter(({ template }) => template.match(uri) !== undefined);
    return templates.length === 0 || templates.some((each) => isVisible(each, principal));
  }

  #applyRestrictions(kind: CatalogKind, entry: CatalogEntry<unknown>): void {
    const own = this.#ownVisibility.get(entry);
    if (own === undefined && this.#restrictions.length === 0) return;
    this.#hides = true;
    const guarded: VisibleTo = (principal) => own?.(principal) !== false && this.allows(kind, entry.key, principal);
    (entry as { visible: VisibleTo | undefined }).visible = this.#restrictions.length === 0 ? own : guarded;
  }

  /** Notifies a follower of every entry that is registered now or later. */
  follow(follower: CatalogFollower): void {
    this.#followers.add(follower);
    for (const kind of Object.keys(this.#entries) as CatalogKind[]) {
      for (const entry of this.#entries[kind].values()) follower.added(kind, entry);
    }
  }

  unfollow(follower: CatalogFollower): void {
    this.#followers.delete(follower);
  }

  #notifyAdded(kind: CatalogKind, entry: Entries[CatalogKind]): void {
    try {
      for (const follower of this.#followers) follower.added(kind, entry);
    } catch (error) {
      this.#notifyRemoved(entry);
      throw error;
    }
  }

  #notifyRemoved(entry: Entries[CatalogKind]): void {
    for (const follower of this.#followers) follower.removed(entry);
  }

  addTool(name: string, definition: ToolDefinition): () => void {
    requireName('tool', name);
    requireFunction('tool', name, 'run', definition?.run);
    const where = `tool ${JSON.stringify(name)}`;
    const input = compileSchema((definition.input ?? noArguments) as SchemaInput, {
      direction: 'input',
      root: 'object',
      where: `${where}, input`,
    });
    const output =
      definition.output &&
      compileSchema(definition.output, { direction: 'output', root: 'any', where: `${where}, output` });
    const task = resolveTaskOptions(where, definition.task);
    const { ui } = definition;
    const meta =
      ui === undefined ? definition._meta : metaWithUi(where, ui, definition._meta, (uri) => this.resources.has(uri));
    let mirrored: readonly HeaderParam[] | undefined;
    let described: Tool | undefined;
    const mirror = (): readonly HeaderParam[] => {
      const found = headerParams(input.json);
      if (typeof found === 'string') throw new TypeError(`${where}: ${found}`);
      return found;
    };
    // Plain schemas need no conversion, so an invalid header annotation can be reported at registration.
    if (definition.input !== undefined && !('~standard' in definition.input)) mirrored = mirror();
    return this.add('tools', {
      key: name,
      visible: definition.visible,
      definition,
      input,
      output,
      task,
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
          execution: task && { taskSupport: task.support },
          _meta: meta,
        })),
    });
  }

  addResource(uri: string, definition: ResourceDefinition): () => void {
    requireUri(uri);
    requireName('resource', definition.name);
    requireFunction('resource', uri, 'read', definition.read);
    const { name, title, description, icons, mimeType, size, annotations, _meta, visible, listed } = definition;
    const item = clean({ uri, name, title, description, icons, mimeType, size, annotations, _meta });
    return this.add('resources', { key: uri, visible, listed, definition, describe: () => item });
  }

  addTemplate(uriTemplate: string, definition: ResourceTemplateDefinition): () => void {
    const template = new UriTemplate(uriTemplate);
    requireName('resource template', definition.name);
    requireFunction('resource template', uriTemplate, 'read', definition.read);
    const { name, title, description, icons, mimeType, annotations, _meta, complete, visible } = definition;
    for (const variable of Object.keys(complete ?? {})) {
      if (!template.names.includes(variable)) {
        throw new TypeError(
          `Resource template ${uriTemplate} has a completer for ${variable}, which is not one of ${template.names.join(', ')}`,
        );
      }
    }
    const item = clean({ uriTemplate, name, title, description, icons, mimeType, annotations, _meta });
    return this.add('resourceTemplates', { key: uriTemplate, visible, definition, template, describe: () => item });
  }

  addPrompt(name: string, definition: PromptDefinition): () => void {
    requireName('prompt', name);
    requireFunction('prompt', name, 'get', definition?.get);
    const { title, description, icons, _meta, args = {}, visible } = definition;
    const described = Object.entries(args).map(([argument, each]) =>
      clean({ name: argument, title: each.title, description: each.description, required: each.required }),
    );
    const listed = described.length === 0 ? undefined : described;
    const item = clean({ name, title, description, icons, arguments: listed, _meta });
    return this.add('prompts', { key: name, visible, definition, describe: () => item });
  }

  /**
   * Replaces all entries of one owner in one step. A list is reported as changed once, and only if clients see a difference.
   * Entries whose key is registered by another owner are left out; their keys are returned.
   */
  replace(owner: object, next: OwnedEntries): readonly string[] {
    const before = this.#owned.get(owner) ?? {};
    const after: { [K in CatalogKind]?: readonly Entries[K][] } = {};
    const rejected: string[] = [];
    this.#owned.set(owner, after);
    for (const kind of Object.keys(this.#entries) as CatalogKind[]) {
      const table = this.#entries[kind] as Map<string, Entries[CatalogKind]>;
      const earlier = before[kind] ?? [];
      for (const entry of earlier) {
        table.delete(entry.key);
        this.#notifyRemoved(entry);
      }
      const added: Entries[CatalogKind][] = [];
      for (const entry of next[kind] ?? []) {
        if (table.has(entry.key)) rejected.push(entry.key);
        else {
          this.#insert(kind, entry);
          added.push(entry);
        }
      }
      (after as Record<CatalogKind, unknown>)[kind] = added;
      if (!isSameList(earlier, added)) this.#changed(kind);
    }
    return rejected;
  }

  /** Adds an entry as it is; returns a function that removes it. */
  add<K extends CatalogKind>(kind: K, entry: Entries[K]): () => void {
    const table = this.#entries[kind] as Map<string, Entries[K]>;
    const { key } = entry;
    if (table.has(key)) {
      throw new TypeError(
        `${kindNames[kind]} ${JSON.stringify(key)} is already registered; remove it first or choose another name`,
      );
    }
    this.#insert(kind, entry);
    this.#changed(kind);
    return () => {
      if (table.get(key) !== entry) return;
      table.delete(key);
      this.#notifyRemoved(entry);
      this.#changed(kind);
    };
  }

  #insert(kind: CatalogKind, entry: Entries[CatalogKind]): void {
    // An entry that its owner registers again has the restrictions applied already.
    if (!this.#ownVisibility.has(entry)) this.#ownVisibility.set(entry, entry.visible);
    this.#applyRestrictions(kind, entry);
    this.#notifyAdded(kind, entry);
    (this.#entries[kind] as Map<string, Entries[CatalogKind]>).set(entry.key, entry);
    const task = kind === 'tools' ? (entry as ToolEntry).task : undefined;
    if (task !== undefined) this.#hasTasks = true;
    if (task?.facade) this.#hasFacade = true;
  }
}

/** Whether clients see no difference between two lists. */
function isSameList(before: readonly Entries[CatalogKind][], after: readonly Entries[CatalogKind][]): boolean {
  if (before.length !== after.length) return false;
  return before.every((entry, i) => {
    const other = after[i] as Entries[CatalogKind];
    if (entry === other) return true;
    if (entry.key !== other.key || entry.listed !== other.listed) return false;
    return entry.listed === false || JSON.stringify(entry.describe()) === JSON.stringify(other.describe());
  });
}

const kindNames: Readonly<Record<CatalogKind, string>> = {
  tools: 'Tool',
  resources: 'Resource',
  resourceTemplates: 'Resource template',
  prompts: 'Prompt',
};

/** Removes undefined members, so that an item has exactly the given fields. */
function clean<T extends object>(item: T): T {
  for (const key of Object.keys(item) as (keyof T)[]) if (item[key] === undefined) delete item[key];
  return item;
}

function requireName(what: string, name: unknown): void {
  if (typeof name !== 'string' || name === '') throw new TypeError(`A ${what} needs a name: a non-empty string`);
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
