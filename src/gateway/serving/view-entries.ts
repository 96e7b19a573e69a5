// The entries of a view's server: one for each item that the view shows, which passes requests on to its upstream.

import type {
  OwnedEntries,
  PromptEntry,
  ResourceEntry,
  TemplateEntry,
  ToolEntry,
} from '../../engine/catalog/catalog-entry.ts';
import {
  relayedPrompt,
  relayedReader,
  relayedResource,
  relayedSkill,
  relayedTemplate,
  relayedTool,
} from '../../engine/catalog/relayed-entries.ts';
import type { Completer } from '../../engine/definitions.ts';
import type { Caller } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { CompletionRef, JsonObject, Tool } from '../../protocol/model.ts';
import { type CompiledSchema, compileSchema, SchemaError } from '../../schema/index.ts';
import type { ViewConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import type { ExposedItem, ExposedView } from '../names/index.ts';
import { withExposedPage } from '../relays/app-page.ts';
import { callTool, complete, type FeatureTarget, getPrompt, readResource } from '../relays/features.ts';
import type { HeldCalls } from '../relays/held-calls.ts';
import type { SeenLists } from '../upstreams/checked-lists.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { signInEntry } from './sign-in-entry.ts';
import { taskSupport } from './task-support.ts';
import type { ListsOf } from './view-source.ts';

export interface ViewEntriesOptions {
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** What callers see of them. */
  readonly listsOf: ListsOf;
  readonly held: HeldCalls;
  /** Whether policies allow a caller to read a resource with this URI at the gateway. */
  readonly allows: (uri: string, caller: Caller) => boolean;
  /** The view is a single server: input requests need no server name, and its clients know its extensions. */
  readonly isSingle: boolean;
  /** Tools that are listed; the others can be called. */
  readonly isListed: (exposedName: string) => boolean;
  /** Of a search view. */
  readonly searchTools: readonly ToolEntry[];
  /** Absent for a single server. */
  readonly view?: Pick<ViewConfig, 'tasks'> | undefined;
}

export function viewEntries(view: ExposedView, options: ViewEntriesOptions): OwnedEntries {
  const { upstreams, listsOf, held, allows, isSingle, isListed, searchTools } = options;
  const tasks = options.view?.tasks;
  const targets = new Map<string, FeatureTarget>();
  for (const [slug, upstream] of upstreams) {
    const expose = (uri: string): string => view.uris.expose(slug, uri);
    targets.set(slug, { upstream, held, namesServer: !isSingle, passesExtensions: isSingle, expose });
  }
  const targetOf = (slug: string): FeatureTarget => targets.get(slug) as FeatureTarget;
  const hasResources = [...upstreams.values()].some((upstream) => offersResources(listsOf(upstream)?.shown));
  return {
    tools: [
      ...searchTools,
      ...[...upstreams]
        .filter(([, upstream]) => listsOf(upstream)?.shown.mustSignIn)
        .map(([slug]) => signInEntry(targetOf(slug), isSingle)),
      ...view.tools.map((item) => toolEntry(item, targetOf(item.slug), isListed(item.exposed), tasks)),
      ...view.withheldTools.map((item) => withheldEntry(item, listsOf(targetOf(item.slug).upstream))),
    ],
    prompts: view.prompts.map((item) => promptEntry(item, targetOf(item.slug))),
    resources: view.resources.map((item) => resourceEntry(item, targetOf(item.slug))),
    resourceTemplates: [
      ...view.resourceTemplates.map((item) => templateEntry(item, view, targetOf)),
      ...(hasResources ? [anyResource(view, targetOf, allows)] : []),
    ],
    skills: view.skills.map(({ item }) => relayedSkill(item)),
  };
}

function offersResources(lists: UpstreamLists | undefined): boolean {
  if (lists === undefined) return false;
  const { resources, resourceTemplates, capabilities } = lists;
  return resources.length + resourceTemplates.length > 0 || capabilities?.['resources'] !== undefined;
}

/** A tool that is withheld until it is accepted: calls return an error that says so. */
function withheldEntry({ item, original }: ExposedItem<Tool>, lists: SeenLists | undefined): ToolEntry {
  const text = lists?.withheld.get(original) ?? 'This tool was not accepted.';
  return relayedTool(item, { listed: false, run: () => ({ content: [{ type: 'text', text }], isError: true }) });
}

function toolEntry(
  { item, original }: ExposedItem<Tool>,
  target: FeatureTarget,
  listed: boolean,
  tasks: ViewConfig['tasks'] | undefined,
): ToolEntry {
  const meta = withExposedPage(item._meta, target.expose);
  const shown = meta === item._meta ? item : { ...item, _meta: meta };
  const run = (args: unknown, ctx: Parameters<ToolEntry['definition']['run']>[1]) =>
    callTool(target, original, item, args as JsonObject, ctx);
  const { validate, slug, override } = target.upstream.config;
  const support = Object.hasOwn(override, original) ? override[original]?.taskSupport : undefined;
  const task = taskSupport(target.upstream.facts, item, { support, tasks });
  if (!validate) return relayedTool(shown, { run, listed, task, upstream: slug });
  const where = `tool ${JSON.stringify(original)} of ${slug}`;
  return relayedTool(shown, {
    upstream: slug,
    run,
    listed,
    task,
    input: compileInput(item.inputSchema, where),
  });
}

/** An invalid schema of a server rejects the calls of its tool; the view is shown nevertheless. */
function compileInput(json: Tool['inputSchema'], where: string): CompiledSchema {
  try {
    return compileSchema(json, { direction: 'input', root: 'any', where });
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const issues = [{ path: [], message: `The schema is not valid: ${error.message}` }];
    return { json, validator: { check: () => issues, validate: () => ({ ok: false, issues }) } };
  }
}

function completerFor(target: FeatureTarget, ref: CompletionRef): ((argument: string) => Completer) | undefined {
  if (target.upstream.facts?.capabilities?.['completions'] === undefined) return undefined;
  return (name) => (value, known, ctx) => complete(target, ref, { name, value }, known, ctx);
}

function promptEntry({ item, original }: ExposedView['prompts'][number], target: FeatureTarget): PromptEntry {
  return relayedPrompt(item, {
    get: (args, ctx) => getPrompt(target, original, args, ctx),
    complete: completerFor(target, { type: 'ref/prompt', name: original }),
  });
}

function resourceEntry({ item, original }: ExposedView['resources'][number], target: FeatureTarget): ResourceEntry {
  return relayedResource(item, { read: (uri, ctx) => readResource(target, original, uri, ctx) });
}

function templateEntry(
  { item, original, slug }: ExposedView['resourceTemplates'][number],
  view: ExposedView,
  targetOf: (slug: string) => FeatureTarget,
): TemplateEntry {
  return relayedTemplate(item, {
    read: (uri, ctx) => readRouted(view, targetOf, uri, ctx),
    complete: completerFor(targetOf(slug), { type: 'ref/resource', uri: original }),
  });
}

/** Reads what its upstream may have. Policies are about URIs as they are shown, whatever form the client uses. */
function anyResource(
  view: ExposedView,
  targetOf: (slug: string) => FeatureTarget,
  allows: ViewEntriesOptions['allows'],
): TemplateEntry {
  const shownAs = (uri: string): string | undefined => {
    const route = view.uris.route(uri);
    return route && view.uris.expose(route.slug, route.uri);
  };
  return relayedReader({
    has: (uri) => shownAs(uri) !== undefined,
    read: (uri, ctx) => {
      const shown = shownAs(uri);
      if (shown !== undefined && shown !== uri && !allows(shown, ctx)) throw wireErrors.resourceNotFound(uri);
      return readRouted(view, targetOf, uri, ctx);
    },
  });
}

function readRouted(
  view: ExposedView,
  targetOf: (slug: string) => FeatureTarget,
  uri: string,
  ctx: Parameters<typeof readResource>[3],
): ReturnType<typeof readResource> {
  const route = view.uris.route(uri);
  if (route === undefined) throw wireErrors.resourceNotFound(uri);
  return readResource(targetOf(route.slug), route.uri, uri, ctx);
}
