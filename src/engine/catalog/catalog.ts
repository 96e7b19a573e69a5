// The tools, resources, templates, prompts and skills of a server. Holds what is registered in order, and reports when a list
// changes. It does not know the caller; features/ do.

import type { Principal } from '../../protocol/exchange.ts';
import type { CacheHint } from '../../protocol/model.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  SkillDefinition,
  ToolDefinition,
} from '../definitions.ts';
import type { RestrictedKind, Visibility } from '../ports.ts';
import { requireFunctionArgument } from '../server-arguments.ts';
import {
  type CatalogEntry,
  type CatalogKind,
  type EntryKinds,
  isVisible,
  type OwnedEntries,
  type PromptEntry,
  type ResourceEntry,
  type SkillEntry,
  type TemplateEntry,
  type ToolEntry,
} from './catalog-entry.ts';
import { promptEntry, resourceEntry, skillEntry, templateEntry, toolEntry } from './new-entries.ts';

type VisibleTo = (principal: Principal | undefined) => boolean;

/** Is notified of what is registered and removed. If `added` throws, the entry is not registered. */
export interface CatalogFollower {
  added(kind: CatalogKind, entry: EntryKinds[CatalogKind]): void;
  /** May be called for an entry whose `added` failed. */
  removed(entry: EntryKinds[CatalogKind]): void;
}

let catalogs = 0;

export class Catalog {
  /** Distinguishes it from the other catalogs of its server. */
  readonly id = ++catalogs;
  readonly #entries: { readonly [K in CatalogKind]: Map<string, EntryKinds[K]> } = {
    tools: new Map(),
    resources: new Map(),
    resourceTemplates: new Map(),
    prompts: new Map(),
    skills: new Map(),
  };
  readonly #changed: (kind: CatalogKind) => void;
  readonly #followers = new Set<CatalogFollower>();
  /** The `visible` of the definition itself, without restrictions. */
  readonly #ownVisibility: WeakMap<object, VisibleTo | undefined>;
  readonly #owned = new WeakMap<object, OwnedEntries>();
  #restrictions: readonly Visibility[] = [];
  /** Something may be hidden from some callers. */
  #hides = false;
  #hasTasks = false;
  #hasFacade = false;
  /** Counts entries that are added or removed, and restrictions. */
  #version = 0;
  readonly #base: Catalog | undefined;
  readonly #baseVersion: number = 0;
  /** How long its lists may be cached; undefined: as its server says. */
  readonly cache: CacheHint | undefined;

  /** `base`: the catalog that it is a variant of. */
  constructor(changed: (kind: CatalogKind) => void, base?: Catalog, cache?: CacheHint) {
    this.#changed = changed;
    this.#base = base;
    this.cache = cache;
    this.#ownVisibility = base === undefined ? new WeakMap() : base.#ownVisibility;
    if (base === undefined) return;
    this.#baseVersion = base.#version;
    this.#restrictions = base.#restrictions;
    this.#hides = base.#hides;
    this.#hasTasks = base.#hasTasks;
    this.#hasFacade = base.#hasFacade;
  }

  /** Whether the catalog that it is a variant of is still the same. */
  get isCurrent(): boolean {
    return this.#base === undefined || this.#base.#version === this.#baseVersion;
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
  get skills(): ReadonlyMap<string, SkillEntry> {
    return this.#entries.skills;
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
    requireFunctionArgument('restrict', '(kind, key, principal) => true', visibility);
    this.#restrictions = [...this.#restrictions, visibility];
    this.#hides = true;
    this.#version++;
    for (const kind of Object.keys(this.#entries) as CatalogKind[]) {
      // A list that changes is a capability of the server from then on, so an empty one does not change.
      if (this.#entries[kind].size === 0) continue;
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
  allows(kind: RestrictedKind, key: string, principal: Principal | undefined): boolean {
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
    const restricted = kind === 'skills' ? 'resources' : kind;
    const guarded: VisibleTo = (principal) =>
      own?.(principal) !== false && this.allows(restricted, entry.key, principal);
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

  #notifyAdded(kind: CatalogKind, entry: EntryKinds[CatalogKind]): void {
    try {
      for (const follower of this.#followers) follower.added(kind, entry);
    } catch (error) {
      this.#notifyRemoved(entry);
      throw error;
    }
  }

  #notifyRemoved(entry: EntryKinds[CatalogKind]): void {
    for (const follower of this.#followers) follower.removed(entry);
  }

  addTool(name: string, definition: ToolDefinition): () => void {
    return this.add(
      'tools',
      toolEntry(name, definition, (uri) => this.resources.has(uri)),
    );
  }

  addResource(uri: string, definition: ResourceDefinition): () => void {
    return this.add('resources', resourceEntry(uri, definition));
  }

  addTemplate(uriTemplate: string, definition: ResourceTemplateDefinition): () => void {
    return this.add('resourceTemplates', templateEntry(uriTemplate, definition));
  }

  addPrompt(name: string, definition: PromptDefinition): () => void {
    return this.add('prompts', promptEntry(name, definition));
  }

  addSkill(definition: SkillDefinition): () => void {
    return this.add('skills', skillEntry(definition));
  }

  /**
   * Replaces all entries of one owner in one step. A list is reported as changed once, and only if clients see a difference.
   * Entries whose key is registered by another owner are left out; their keys are returned.
   */
  replace(owner: object, next: OwnedEntries): readonly string[] {
    const before = this.#owned.get(owner) ?? {};
    const after: { [K in CatalogKind]?: readonly EntryKinds[K][] } = {};
    const rejected: string[] = [];
    this.#owned.set(owner, after);
    for (const kind of Object.keys(this.#entries) as CatalogKind[]) {
      const table = this.#entries[kind] as Map<string, EntryKinds[CatalogKind]>;
      const earlier = before[kind] ?? [];
      for (const entry of earlier) {
        table.delete(entry.key);
        this.#version++;
        this.#notifyRemoved(entry);
      }
      const added: EntryKinds[CatalogKind][] = [];
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

  /**
   * A catalog with other entries of one owner, for callers that see those. Everything else is as it is here now. Entries whose
   * key another owner has registered are left out, as with `replace`.
   */
  withEntries(owner: object, entries: OwnedEntries, cache: CacheHint): Catalog {
    const other = new Catalog(() => {}, this, cache);
    const replaced = this.#owned.get(owner) ?? {};
    for (const kind of Object.keys(this.#entries) as CatalogKind[]) {
      const left = new Set<unknown>(replaced[kind]);
      const table = other.#entries[kind] as Map<string, EntryKinds[CatalogKind]>;
      for (const [key, entry] of this.#entries[kind]) if (!left.has(entry)) table.set(key, entry);
      for (const entry of entries[kind] ?? []) if (!table.has(entry.key)) other.#insert(kind, entry);
    }
    return other;
  }

  /** Adds an entry as it is; returns a function that removes it. */
  add<K extends CatalogKind>(kind: K, entry: EntryKinds[K]): () => void {
    const table = this.#entries[kind] as Map<string, EntryKinds[K]>;
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
      this.#version++;
      this.#notifyRemoved(entry);
      this.#changed(kind);
    };
  }

  #insert(kind: CatalogKind, entry: EntryKinds[CatalogKind]): void {
    this.#version++;
    // An entry that its owner registers again has the restrictions applied already.
    if (!this.#ownVisibility.has(entry)) this.#ownVisibility.set(entry, entry.visible);
    this.#applyRestrictions(kind, entry);
    this.#notifyAdded(kind, entry);
    (this.#entries[kind] as Map<string, EntryKinds[CatalogKind]>).set(entry.key, entry);
    const task = kind === 'tools' ? (entry as ToolEntry).task : undefined;
    if (task !== undefined) this.#hasTasks = true;
    if (task?.facade) this.#hasFacade = true;
  }
}

/** The lists in which clients see a difference between these entries. */
export function changedLists(before: OwnedEntries, after: OwnedEntries): readonly CatalogKind[] {
  return (Object.keys(kindNames) as CatalogKind[]).filter((kind) => !isSameList(before[kind] ?? [], after[kind] ?? []));
}

/** Whether clients see no difference between two lists. */
function isSameList(before: readonly EntryKinds[CatalogKind][], after: readonly EntryKinds[CatalogKind][]): boolean {
  const [known, others] = [before.filter(isKnown), after.filter(isKnown)];
  if (known.length !== others.length) return false;
  return known.every((entry, i) => {
    const other = others[i] as EntryKinds[CatalogKind];
    if (entry === other) return true;
    if (entry.key !== other.key || entry.listed !== other.listed) return false;
    return entry.listed === false || JSON.stringify(entry.describe()) === JSON.stringify(other.describe());
  });
}

const isKnown = ({ removed }: EntryKinds[CatalogKind]): boolean => removed !== true;

const kindNames: Readonly<Record<CatalogKind, string>> = {
  tools: 'Tool',
  resources: 'Resource',
  resourceTemplates: 'Resource template',
  prompts: 'Prompt',
  skills: 'Skill',
};
