// What each caller sees of a view with servers whose lists differ between callers. Callers with the same lists share a catalog.

import { waitAtMost } from '../../common/wait.ts';
import type { CallerCatalogs } from '../../engine/catalog/caller-catalogs.ts';
import { type Catalog, changedLists } from '../../engine/catalog/catalog.ts';
import type { CatalogKind } from '../../engine/catalog/catalog-entry.ts';
import { type ListKind, notifiedList } from '../../engine/changes/changes.ts';
import type { Caller } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { CacheHint } from '../../protocol/model.ts';
import type { CheckedLists } from '../upstreams/checked-lists.ts';
import { callerKeys, isolationKey } from '../upstreams/isolation.ts';
import type { Upstream } from '../upstreams/upstream.ts';
import { absentCaller } from './request-caller.ts';
import type { ShownView } from './shown-view.ts';
import type { ListsOf, ViewSource } from './view-source.ts';

/**
 * Catalogs that are kept for the next request; stops callers with different lists from filling the memory. One that was dropped is
 * created again from the lists.
 */
const maxCatalogs = 256;

export interface CallerViewsOptions {
  readonly server: Server;
  /** Has the entries that all callers see. */
  readonly owner: object;
  readonly firstListMs: number;
  readonly show: (listsOf: ListsOf) => ShownView;
  readonly cacheOf: (listsOf: ListsOf) => CacheHint;
}

interface CallerView {
  /** It is of this source; another one may show something else. */
  readonly source: ViewSource;
  /** Of the private upstreams. */
  readonly lists: ReadonlyMap<Upstream, CheckedLists | undefined>;
  readonly shown: ShownView;
  readonly catalog: Catalog;
}

export class CallerViews implements CallerCatalogs {
  readonly #options: CallerViewsOptions;
  #source: ViewSource;
  #upstreams: readonly Upstream[] = [];
  /** Those whose lists differ between callers. */
  #private: readonly Upstream[] = [];
  /** By the ids of the lists of private upstreams; least recently used first. */
  readonly #views = new Map<string, CallerView>();

  constructor(source: ViewSource, options: CallerViewsOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** Takes over what the view shows now. `hasTasks`: tools that only some callers see may run as tasks. */
  update(source: ViewSource, hasTasks: boolean): void {
    this.#source = source;
    this.#upstreams = [...source.upstreams.values()];
    this.#private = this.#upstreams.filter(({ isPrivate }) => isPrivate);
    // Without them, calls need not look for the catalog of their caller.
    this.#options.server.setCallerCatalogs(this.#private.length === 0 ? undefined : this, hasTasks);
  }

  /** Notifies callers of the lists in which some of them see a difference now, with the same lists of their upstreams. */
  announce(): void {
    const views = [...this.#views.values()];
    const kinds = views.flatMap(({ lists, shown }) => changedLists(shown.entries, this.#show(lists).entries));
    // They may be of upstreams that are gone.
    this.#views.clear();
    for (const kind of notified(kinds)) this.#options.server.listChanged(kind, () => true);
  }

  /** The upstreams whose lists differ between callers. */
  get private(): readonly Upstream[] {
    return this.#private;
  }

  /** What callers see who have sent requests. */
  get shown(): readonly ShownView[] {
    return [...this.#views.values()].map(({ shown }) => shown);
  }

  of(caller: Caller): Catalog {
    return this.#viewOf(caller).catalog;
  }

  shownTo(caller: Caller): ShownView {
    return this.#viewOf(caller).shown;
  }

  isKnown(caller: Caller): boolean {
    const keys = callerKeys(caller);
    return this.#upstreams.every((upstream) => upstream.listsOf(keys) !== undefined);
  }

  async known(caller: Caller): Promise<void> {
    const absent = absentCaller(caller);
    await waitAtMost(this.#options.firstListMs, Promise.all(this.#upstreams.map((upstream) => upstream.known(absent))));
  }

  all(): readonly Catalog[] {
    return [...this.#views.values()].map(({ catalog }) => catalog);
  }

  /** The lists of the callers with an isolation key have changed: they are notified of what they see of it. */
  changed(upstream: Upstream, key: string, before: CheckedLists | undefined, after: CheckedLists): void {
    const { server } = this.#options;
    const entriesWith = (lists: CheckedLists | undefined) => this.#show(new Map([[upstream, lists]])).entries;
    const kinds = changedLists(entriesWith(before), entriesWith(after));
    const { config } = upstream;
    for (const kind of notified(kinds)) {
      server.listChanged(
        kind,
        (principal, session) => isolationKey(config, callerKeys({ principal, session })) === key,
      );
    }
  }

  #viewOf(caller: Caller): CallerView {
    const keys = callerKeys(caller);
    const lists = new Map(this.#private.map((upstream) => [upstream, upstream.listsOf(keys)]));
    const key = [...lists.values()].map((each) => each?.id ?? '').join(' ');
    let view = this.#views.get(key);
    this.#views.delete(key);
    if (view?.source !== this.#source || !view.catalog.isCurrent) view = this.#create(lists);
    this.#views.set(key, view);
    const [oldest] = this.#views.keys();
    if (this.#views.size > maxCatalogs && oldest !== undefined) this.#views.delete(oldest);
    return view;
  }

  #create(lists: CallerView['lists']): CallerView {
    const { server, owner, cacheOf } = this.#options;
    const shown = this.#show(lists);
    const catalog = server.createCatalog(owner, shown.entries, cacheOf(listsWith(lists)));
    return { source: this.#source, lists, shown, catalog };
  }

  #show(lists: CallerView['lists']): ShownView {
    return this.#options.show(listsWith(lists));
  }
}

/** Those of private upstreams, and what all callers see of the others. */
function listsWith(lists: CallerView['lists']): ListsOf {
  return (upstream) => (lists.has(upstream) ? lists.get(upstream) : upstream.lists);
}

/** The lists that clients are notified of. */
function notified(kinds: readonly CatalogKind[]): ReadonlySet<ListKind> {
  return new Set(kinds.map(notifiedList));
}
