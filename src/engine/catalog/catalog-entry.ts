// What is in a catalog: the entry of each kind of list. Only types, and who may see an entry.

import type { Principal } from '../../protocol/exchange.ts';
import type { Prompt, Resource, ResourceTemplate, Tool } from '../../protocol/model.ts';
import type { HeaderParam } from '../../protocol/revisions/index.ts';
import type { Skill } from '../../protocol/skills.ts';
import type { CompiledSchema } from '../../schema/index.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from '../definitions.ts';
import type { CatalogKind } from '../ports.ts';
import type { ResolvedTaskOptions } from '../tasks/task-options.ts';
import type { UriTemplate } from './uri-template.ts';

export type { CatalogKind } from '../ports.ts';

/** An item of a list: what clients see, and who may see it. */
export interface CatalogEntry<Item> {
  /** What clients see; created when first listed, since converting schemas may be slow. */
  describe(): Item;
  readonly key: string;
  readonly visible: ((principal: Principal | undefined) => boolean) | undefined;
  /** False: it can be used, but is not in its list. */
  readonly listed?: boolean | undefined;
  /** Clients were notified that it is gone: it is in no list, and only continues calls from before. */
  readonly removed?: boolean | undefined;
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

export type SkillEntry = CatalogEntry<Skill>;

/** Whether a principal may see and use an item. */
export function isVisible(entry: CatalogEntry<unknown>, principal: Principal | undefined): boolean {
  return entry.visible === undefined || entry.visible(principal);
}

/** The kind of entry in each list. */
export interface EntryKinds {
  readonly tools: ToolEntry;
  readonly resources: ResourceEntry;
  readonly resourceTemplates: TemplateEntry;
  readonly prompts: PromptEntry;
  readonly skills: SkillEntry;
}

/** All entries of one owner. */
export type OwnedEntries = { readonly [K in CatalogKind]?: readonly EntryKinds[K][] };
