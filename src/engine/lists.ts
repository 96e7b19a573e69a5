// Lists as text: spelled once per revision, page and set of visible items, and forgotten when the catalog changes.

import { CachedText } from '../protocol/cached-text.ts';
import { wireErrors } from '../protocol/errors.ts';
import type { Principal } from '../protocol/exchange.ts';
import { isObject } from '../protocol/json-rpc.ts';
import type { CacheHint } from '../protocol/model.ts';
import type { Codec, ListItemTypes } from '../protocol/revisions/index.ts';
import { type Catalog, type CatalogEntry, type CatalogKind, isVisible } from './catalog.ts';
import type { Limits } from './limits.ts';
import { principalKey, type RequestInfo, type Sealer } from './ports.ts';

const purpose = 'cursor';

/** How many different pages are kept; stops callers with ever different views from filling memory. */
const maxPages = 512;
/** The same in characters, for long lists. */
const maxPagesLength = 16 * 1024 * 1024;

/** From here on the bytes of a page are worth keeping. */
const longText = 4096;

/** One item of a list with the key that a cursor points behind. */
export interface ListItem<K extends CatalogKind> {
  readonly key: string;
  readonly item: ListItemTypes[K];
}

/** What lists are made from. */
export interface ListSource {
  readonly catalog: Catalog;
  readonly listCache: CacheHint;
  readonly limits: Limits;
  readonly sealer: Sealer;
}

/** The request for a page. */
export interface PageRequest extends Pick<RequestInfo, 'params' | 'peer'> {
  readonly codec: Codec;
}

export class ListCache {
  readonly #source: ListSource;
  readonly #pages = new Map<string, string>();
  #pagesLength = 0;
  /** Lists of one page that are the same for everybody, by revision: what nearly every server has. */
  readonly #whole: Record<CatalogKind, Map<Codec, string>> = {
    tools: new Map(),
    resources: new Map(),
    resourceTemplates: new Map(),
    prompts: new Map(),
  };
  /** The long ones of both, with their bytes. */
  readonly #cachedTexts = new Map<string, CachedText>();
  /** Counts changes; a page spelled before one is not kept after it. */
  #generation = 0;

  constructor(source: ListSource) {
    this.#source = source;
  }

  forget(kind: CatalogKind): void {
    this.#generation++;
    for (const text of this.#whole[kind].values()) this.#cachedTexts.delete(text);
    this.#whole[kind].clear();
    for (const [key, text] of this.#pages) {
      if (!key.startsWith(`${kind} `)) continue;
      this.#pages.delete(key);
      this.#pagesLength -= text.length;
      this.#cachedTexts.delete(text);
    }
  }

  /** The page a request asks for. `more`: items that are not in the catalog and differ from call to call. */
  page<K extends CatalogKind>(kind: K, call: PageRequest, more?: readonly ListItem<K>[]): string | Promise<string> {
    const { cursor } = call.params;
    const whole = cursor === undefined && more === undefined ? this.#whole[kind].get(call.codec) : undefined;
    if (whole !== undefined) return whole;
    const { principal } = call.peer;
    // What differs between callers must not be shared by a cache, whatever was configured.
    const scope = this.#source.catalog.hides || more !== undefined ? 'private' : this.#source.listCache.cacheScope;
    const cache: CacheHint = { ...this.#source.listCache, cacheScope: scope };
    const entries = this.#source.catalog[kind] as unknown as ReadonlyMap<string, CatalogEntry<ListItemTypes[K]>>;
    if (cursor === undefined && more === undefined) {
      const view = this.#source.catalog.hides ? viewOf(entries, principal) : '';
      // A page that is not the last carries a cursor, which is bound to its caller.
      const paged = entries.size > this.#source.limits.pageSize;
      const principalPart = paged ? principalKey(principal) : '';
      const key = `${kind} ${call.codec.date} ${view} ${principalPart}`;
      const known = this.#pages.get(key);
      if (known !== undefined) return known;
      const spelled = this.#encodePage(kind, call, visibleRows(entries, principal), 0, cache);
      const generation = this.#generation;
      const keep = (text: string): string => {
        if (generation !== this.#generation) return text;
        if (text.length >= longText) this.#cachedTexts.set(text, new CachedText(text));
        if (view === '' && !paged) this.#whole[kind].set(call.codec, text);
        else if (!this.#pages.has(key)) {
          if (this.#pages.size >= maxPages || this.#pagesLength >= maxPagesLength) this.#forgetPages();
          this.#pages.set(key, text);
          this.#pagesLength += text.length;
        }
        return text;
      };
      return typeof spelled === 'string' ? keep(spelled) : spelled.then(keep);
    }
    const rows = [...visibleRows(entries, principal), ...(more ?? [])];
    if (cursor === undefined) return this.#encodePage(kind, call, rows, 0, cache);
    return this.#resume(kind, cursor as string, rows, principal).then((start) =>
      this.#encodePage(kind, call, rows, start, cache),
    );
  }

  #forgetPages(): void {
    for (const text of this.#pages.values()) this.#cachedTexts.delete(text);
    this.#pages.clear();
    this.#pagesLength = 0;
  }

  /** A page as it is sent: with its bytes, where it is long and will be asked for again. */
  encode(page: string): string | CachedText {
    return page.length < longText ? page : (this.#cachedTexts.get(page) ?? page);
  }

  #encodePage<K extends CatalogKind>(
    kind: K,
    { codec, peer }: PageRequest,
    rows: readonly ListItem<K>[],
    start: number,
    cache: CacheHint,
  ): string | Promise<string> {
    const { limits, sealer } = this.#source;
    const end = start + limits.pageSize;
    const items = rows.slice(start, end).map((row) => row.item);
    if (end >= rows.length) return codec.list(kind, items, undefined, cache);
    const position = { after: (rows[end - 1] as ListItem<K>).key, index: end };
    const sealed = sealer.seal(purpose, position, contextOf(kind, peer.principal));
    return Promise.resolve(sealed).then((next) => codec.list(kind, items, next, cache));
  }

  /** Where a cursor points: behind the item it names, or to its old place when that item is gone. */
  async #resume<K extends CatalogKind>(
    kind: K,
    cursor: string,
    rows: readonly ListItem<K>[],
    principal: Principal | undefined,
  ): Promise<number> {
    const position = await this.#source.sealer.open(purpose, cursor, contextOf(kind, principal));
    if (!isObject(position)) throw wireErrors.invalidCursor();
    const found = rows.findIndex((row) => row.key === position['after']);
    return found === -1 ? Math.min(position['index'] as number, rows.length) : found + 1;
  }
}

function contextOf(kind: CatalogKind, principal: Principal | undefined): string {
  return `${kind}\u0000${principalKey(principal)}`;
}

/** Names a set of visible items; the same set has the same name. */
function viewOf(entries: ReadonlyMap<string, CatalogEntry<unknown>>, principal: Principal | undefined): string {
  let view = '';
  for (const entry of entries.values()) if (entry.visible !== undefined) view += entry.visible(principal) ? '1' : '0';
  return view;
}

function visibleRows<K extends CatalogKind>(
  entries: ReadonlyMap<string, CatalogEntry<ListItemTypes[K]>>,
  principal: Principal | undefined,
): ListItem<K>[] {
  const rows: ListItem<K>[] = [];
  for (const entry of entries.values()) {
    if (isVisible(entry, principal)) rows.push({ key: entry.key, item: entry.describe() });
  }
  return rows;
}
