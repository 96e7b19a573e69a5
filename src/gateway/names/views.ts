// What a view shows: the items of its servers after filters and overrides, under their names at the gateway, and where
// each name and URI leads. Pure: the same configuration and lists give the same view on every replica.

import type { Prompt, Resource, ResourceTemplate, Tool } from '../../protocol/model.ts';
import type { Skill } from '../../protocol/skills.ts';
import type { BareNames, ItemFilter, UpstreamConfig, ViewConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import { type ExposedItem, exposeItems } from './exposed-items.ts';
import { exposeSkills } from './exposed-skills.ts';
import { type CompiledFilter, compileExclusion, compileFilter } from './filters.ts';
import { overrideTool } from './overrides.ts';
import { type OwnUris, UriRoutes } from './uris.ts';

/** A server of a view and what it lists, after pins. */
export interface ListedServer {
  readonly config: UpstreamConfig;
  readonly lists: UpstreamLists;
  /** Tools that are not shown until they are accepted; calling one returns an error that says so. */
  readonly withheld?: readonly Tool[] | undefined;
}

/** What the server has itself that shows the items of a view besides its own. Its names are the same in all views. */
export interface OwnItems extends OwnUris {
  readonly tools: ReadonlySet<string>;
  readonly prompts: ReadonlySet<string>;
}

/** Everything a view shows. */
export interface ExposedView {
  readonly tools: readonly ExposedItem<Tool>[];
  readonly withheldTools: readonly ExposedItem<Tool>[];
  readonly prompts: readonly ExposedItem<Prompt>[];
  readonly resources: readonly ExposedItem<Resource>[];
  readonly resourceTemplates: readonly ExposedItem<ResourceTemplate>[];
  readonly skills: readonly ExposedItem<Skill>[];
  readonly uris: UriRoutes;
  /** Messages about names in conflict and skills that are left out, to be logged once. */
  readonly warnings: readonly string[];
  /** Messages about settings that name what does not exist. Of what one of several callers sees, they mean nothing. */
  readonly settingsWarnings: readonly string[];
}

/** Whether a server belongs to a view. */
export function isInView(view: ViewConfig, server: UpstreamConfig): boolean {
  return !server.disabled && (view.servers === '*' || view.servers.includes(server.slug));
}

/**
 * The view of a gateway with these servers, all of them, in the order of the file: a tool has the same name in every view,
 * so that policies and audit logs can use it.
 */
export function exposeView(view: ViewConfig, all: readonly ListedServer[], own?: OwnItems): ExposedView {
  const enabled = all.filter(({ config }) => !config.disabled);
  const servers = enabled.filter(({ config }) => isInView(view, config));
  const slugs = new Set(all.map(({ config }) => config.slug));
  const shown = new Set(servers.map(({ config }) => config.slug));
  const isTool = compileFilter(view.tools);
  const isPrompt = compileFilter(view.prompts);
  // Withheld tools come last: they must not take a name from a tool that is shown.
  const tools = exposeItems([...enabled.flatMap(shownTools), ...enabled.flatMap(withheldTools)], slugs, own?.tools);
  const isWithheld = new Set(
    enabled.flatMap(({ config, withheld = [] }) => withheld.map(({ name }) => keyOf(config.slug, name))),
  );
  const prompts = exposeItems(enabled.flatMap(shownPrompts), slugs, own?.prompts);
  // Only the default view is shown together with what a server has itself.
  const ownUris = view.name === '' ? own : undefined;
  const uris = new UriRoutes(
    servers.map((server) => urisOf(server, view.resources)),
    { own: ownUris },
  );
  const skills = exposeSkills(servers, uris);
  const ofView = tools.items.filter(({ slug, exposed }) => shown.has(slug) && isTool(exposed));
  return {
    tools: ofView.filter(({ slug, original }) => !isWithheld.has(keyOf(slug, original))),
    withheldTools: ofView.filter(({ slug, original }) => isWithheld.has(keyOf(slug, original))),
    prompts: prompts.items.filter(({ slug, exposed }) => shown.has(slug) && isPrompt(exposed)),
    ...exposeResources(servers, view.resources, uris),
    skills: skills.skills,
    uris,
    warnings: [...skills.warnings, ...tools.warnings, ...prompts.warnings],
    settingsWarnings: [...enabled.flatMap(unknownOverrides), ...unknownShortList(view, servers, ofView)],
  };
}

/** Tools that an override names and the server does not have; a list that is empty may not be known yet. */
function unknownOverrides({ config, lists, withheld = [] }: ListedServer): string[] {
  const names = new Set([...lists.tools, ...withheld].map(({ name }) => name));
  const unknown = Object.keys(config.override).filter((name) => !names.has(name));
  if (names.size === 0 || unknown.length === 0) return [];
  return [`"override" of ${config.slug} names tools that it does not have: ${unknown.join(', ')}`];
}

function unknownShortList(
  view: ViewConfig,
  servers: readonly ListedServer[],
  tools: readonly ExposedItem<Tool>[],
): string[] {
  const unknown = view.shortList.filter((name) => !tools.some(({ exposed }) => exposed === name));
  if (unknown.length === 0 || servers.some(({ lists }) => lists.tools.length === 0)) return [];
  const named = view.name === '' ? 'the default view' : `the view ${view.name}`;
  return [`"shortList" of ${named} names tools that it does not have: ${unknown.join(', ')}`];
}

/** A single server with its own names and URIs: what `/mcp/s/<slug>` shows. */
export function exposeServer(server: ListedServer): ExposedView {
  const same = <Item extends { readonly name: string }>(
    items: readonly { readonly original: string; readonly item: Item }[],
  ): ExposedItem<Item>[] => {
    const byName = new Map(items.map((each) => [each.item.name, each]));
    return [...byName.values()].map(({ original, item }) => ({
      slug: server.config.slug,
      original,
      exposed: item.name,
      item,
    }));
  };
  const { slug } = server.config;
  const isShown = compileFilter(server.config.resources);
  const { resources, resourceTemplates } = server.lists;
  const uris = new UriRoutes([urisOf(server, { exclude: [] })], { qualifies: false });
  return {
    tools: same(shownTools(server)),
    withheldTools: same(withheldTools(server)),
    prompts: same(shownPrompts(server)),
    resources: resources
      .filter(({ uri }) => isShown(uri))
      .map((item) => ({ slug, original: item.uri, exposed: item.uri, item })),
    resourceTemplates: resourceTemplates
      .filter(({ uriTemplate }) => isShown(uriTemplate))
      .map((item) => ({ slug, original: item.uriTemplate, exposed: item.uriTemplate, item })),
    ...exposeSkills([server], uris),
    settingsWarnings: [],
    uris,
  };
}

/** The result of looking up a tool by its bare name. */
export type BareTool =
  | { readonly ok: true; readonly tool: ExposedItem<Tool> }
  | { readonly ok: false; readonly candidates: readonly string[] };

/**
 * Finds a tool by its name without the prefix; undefined if there is none. Pages of apps call tools by the names
 * that their server gave them.
 */
export function findBareTool(view: ExposedView, name: string, allowed: BareNames): BareTool | undefined {
  if (allowed === 'off') return undefined;
  const withPages = new Set(view.tools.filter(({ item }) => hasPage(item)).map(({ slug }) => slug));
  const meant = view.tools.filter(({ original }) => original === name);
  const callable = allowed === 'unique' ? meant : meant.filter(({ slug }) => withPages.has(slug));
  const [tool] = callable;
  if (tool === undefined) return undefined;
  // Unique among all servers of the view, not only among those with pages: the wrong tool must never run.
  if (meant.length > 1) return { ok: false, candidates: meant.map(({ exposed }) => exposed) };
  return { ok: true, tool };
}

/** Whether a tool has an app page. */
function hasPage({ _meta }: Tool): boolean {
  const ui = _meta?.['ui'];
  if (typeof _meta?.['ui/resourceUri'] === 'string') return true;
  return typeof ui === 'object' && ui !== null && typeof (ui as { resourceUri?: unknown }).resourceUri === 'string';
}

const keyOf = (slug: string, name: string): string => `${slug} ${name}`;

function shownTools({ config, lists }: ListedServer) {
  return filteredTools(config, lists.tools);
}

function withheldTools({ config, withheld = [] }: ListedServer) {
  return filteredTools(config, withheld);
}

function filteredTools(config: UpstreamConfig, tools: readonly Tool[]) {
  const isShown = compileFilter(config.tools);
  return tools
    .filter(({ name }) => isShown(name))
    .map((tool) => ({
      server: config,
      original: tool.name,
      item: overrideTool(tool, ownOf(config.override, tool.name)),
    }));
}

function shownPrompts({ config, lists }: ListedServer) {
  const isShown = compileFilter(config.prompts);
  return lists.prompts
    .filter(({ name }) => isShown(name))
    .map((prompt) => ({ server: config, original: prompt.name, item: prompt }));
}

function exposeResources(
  servers: readonly ListedServer[],
  ofView: ItemFilter,
  uris: UriRoutes,
): Pick<ExposedView, 'resources' | 'resourceTemplates'> {
  const resources: ExposedItem<Resource>[] = [];
  const resourceTemplates: ExposedItem<ResourceTemplate>[] = [];
  for (const { config, lists } of servers) {
    const { slug } = config;
    const isShown = both(compileFilter(config.resources), compileFilter(ofView));
    for (const item of lists.resources) {
      if (!isShown(item.uri)) continue;
      const exposed = uris.expose(slug, item.uri);
      resources.push({ slug, original: item.uri, exposed, item: { ...item, uri: exposed } });
    }
    for (const item of lists.resourceTemplates) {
      if (!isShown(item.uriTemplate)) continue;
      const exposed = uris.exposeTemplate(slug, item.uriTemplate);
      resourceTemplates.push({ slug, original: item.uriTemplate, exposed, item: { ...item, uriTemplate: exposed } });
    }
  }
  return { resources, resourceTemplates };
}

function urisOf({ config, lists }: ListedServer, ofView: ItemFilter) {
  const { resources, resourceTemplates, skills, capabilities } = lists;
  const [ofServer, excluded] = [config.resources, compileExclusion(config.resources)];
  const excludedByView = compileExclusion(ofView);
  return {
    slug: config.slug,
    uris: resources.map(({ uri }) => uri),
    templates: resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    skills,
    hasResources:
      resources.length + resourceTemplates.length > 0 || (capabilities && capabilities['resources'] !== undefined),
    isShown: both(compileFilter(ofServer), compileFilter(ofView)),
    isExcluded: (text: string) => excluded(text) || excludedByView(text),
  };
}

function both(first: CompiledFilter, second: CompiledFilter): CompiledFilter {
  return (text) => first(text) && second(text);
}

function ownOf<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
