// What a view shows to callers for whom its servers list the same: its items, and the entries that its server has for them.

import type { OwnedEntries, ToolEntry } from '../../engine/catalog/catalog-entry.ts';
import type { Tool } from '../../protocol/model.ts';
import type { BareNames } from '../config/gateway-config.ts';
import type { ExposedItem, ExposedView } from '../names/index.ts';
import type { HeldCalls } from '../relays/held-calls.ts';
import { isShortListed, listModeOf } from '../search/index.ts';
import { type ViewEntriesOptions, viewEntries } from './view-entries.ts';
import type { ListsOf, ViewSource } from './view-source.ts';

export interface ShownView {
  readonly exposed: ExposedView;
  readonly entries: OwnedEntries;
  readonly bareNames: BareNames;
  /** Names of the tools that can be found with the search tools. */
  readonly offered: ReadonlySet<string>;
  /** The warning to log if the list of tools is too long but shown anyway. */
  readonly warning: string | undefined;
}

export interface ShowOptions {
  readonly held: HeldCalls;
  readonly allows: ViewEntriesOptions['allows'];
  readonly searchTools: () => readonly ToolEntry[];
}

export function showView(source: ViewSource, listsOf: ListsOf, { held, allows, searchTools }: ShowOptions): ShownView {
  const exposed = source.expose(listsOf);
  const { isSearch, warning } = modeOf(source, exposed.tools);
  const { view } = source;
  const entries = viewEntries(exposed, {
    ...source,
    listsOf,
    held,
    allows,
    isListed: view !== undefined && isSearch ? (name) => isShortListed(view, name) : () => true,
    searchTools: isSearch ? searchTools() : [],
  });
  const offered = new Set(exposed.tools.map((tool) => tool.exposed));
  return { exposed, entries, bareNames: source.bareNames, offered, warning };
}

function modeOf({ view }: ViewSource, tools: readonly ExposedItem<Tool>[]) {
  if (view === undefined) return { isSearch: false, warning: undefined };
  const { search, warning } = listModeOf(
    view,
    tools.map(({ item }) => item),
  );
  return { isSearch: search, warning };
}
