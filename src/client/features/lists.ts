// Lists come in pages: one by one, or all of them, from the cache where the server allows it.

import { isObject } from '../../protocol/json-rpc.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import type { CacheHint, JsonObject } from '../../protocol/model.ts';
import { OutgoingCall } from '../calls/outgoing-call.ts';
import { ClientError, clientErrors } from '../errors.ts';
import { assertCallOptions } from '../known-call-options.ts';
import { assertTimeLimits, type ReadOptions, resolveTimeLimits } from '../options.ts';
import { clean } from '../untrusted-text.ts';
import { type FeatureContext, offers } from './feature-context.ts';

/** One page of a list. */
export interface Page<T> {
  /** In the order of the server. */
  readonly items: readonly T[];
  /** Request the next page with it; an empty string is a cursor too. Absent: this was the last one. */
  readonly nextCursor?: string;
}

/** A kind of list: its method, and which members an item must have. */
export interface ListRow {
  readonly row: MethodRow;
  readonly key: 'tools' | 'resources' | 'resourceTemplates' | 'prompts' | 'skills';
  readonly strings: readonly string[];
  /** The methods of the client that read it, all pages or one, for errors about their options. */
  readonly readBy?: readonly [all: string, page: string];
  /** Sent with each request, where a method lists what is in one place. Such lists are not cached. */
  readonly uri?: string;
}

/** Returns why an item cannot be used; undefined accepts it. */
export type ItemCheck<T> = (item: T) => string | undefined;

/** Reads one kind of list. */
export class ListReader<T> {
  readonly #context: FeatureContext;
  readonly #kind: ListRow;
  readonly #check: ItemCheck<T>;

  constructor(context: FeatureContext, kind: ListRow, check: ItemCheck<T> = () => undefined) {
    this.#context = context;
    this.#kind = kind;
    this.#check = check;
  }

  /** One page; the first without a cursor. */
  async page(cursor?: string, options: ReadOptions = {}): Promise<Page<T>> {
    const { row, uri, readBy } = this.#kind;
    if (readBy !== undefined) assertCallOptions(readBy[1], options, 'read');
    const { cache, caller } = this.#context;
    if (!offers(this.#context, row)) return { items: [] };
    const key = cursor === undefined ? '' : `cursor ${cursor}`;
    const { cache: use = 'use' } = uri === undefined ? options : { cache: 'bypass' };
    if (use === 'use') {
      const known = cache?.get(row.name, key) as Page<T> | undefined;
      if (known !== undefined) {
        // Another client may have fetched it; this one has not examined its items yet.
        for (const item of known.items) this.#check(item);
        return known;
      }
    }
    const params = { ...(uri === undefined ? {} : { uri }), ...(cursor === undefined ? {} : { cursor }) };
    const fields = JSON.stringify(params).slice(1, -1);
    const call = new OutgoingCall(
      row,
      fields,
      (result) => {
        const page = this.#decode(result);
        const hint = options.onCacheHint === undefined ? undefined : cacheHintOf(result);
        if (hint !== undefined) options.onCacheHint?.(hint);
        if (use !== 'bypass') cache?.set(row.name, key, page, result);
        return page;
      },
      options,
    );
    call.idempotent = true;
    return caller.start<Page<T>>(call);
  }

  /** All pages. */
  async all(options: ReadOptions = {}): Promise<T[]> {
    const { readBy } = this.#kind;
    if (readBy !== undefined) assertCallOptions(readBy[0], options, 'read');
    try {
      return await this.#collect(options);
    } catch (error) {
      // A cursor may go stale between two pages, above all one from the cache: once more, from the beginning.
      if (!(error instanceof StaleCursor)) throw error;
      this.#context.cache?.drop(this.#kind.row.name);
      const afresh = { ...options, cache: options.cache === 'bypass' ? 'bypass' : 'refresh' } as const;
      return this.#collect(afresh).catch((again: unknown) => {
        throw again instanceof StaleCursor ? again.cause : again;
      });
    }
  }

  async #collect(options: ReadOptions): Promise<T[]> {
    const { row } = this.#kind;
    const { limits } = this.#context;
    const { maxPages } = limits;
    const items: T[] = [];
    const seen = new Set<string>();
    assertTimeLimits(options);
    const { timeoutMs, maxTimeoutMs } = resolveTimeLimits(options, limits);
    const until = performance.now() + maxTimeoutMs;
    let cursor: string | undefined;
    for (let pages = 0; pages < maxPages; pages++) {
      // A thousand pages, each just within its time limit, must not take forever.
      const leftMs = Math.max(until - performance.now(), 1);
      const inTime = { ...options, timeoutMs: Math.min(timeoutMs, leftMs), maxTimeoutMs: leftMs };
      const page: Page<T> = await this.page(cursor, inTime).catch((error: unknown) => {
        throw cursor !== undefined && isInvalidParams(error) ? new StaleCursor(error) : error;
      });
      for (const item of page.items) items.push(item);
      cursor = page.nextCursor;
      if (cursor === undefined) return items;
      if (seen.has(cursor)) throw clientErrors.invalidResult(row.name, 'its cursors repeat');
      seen.add(cursor);
    }
    throw clientErrors.invalidResult(
      row.name,
      `it has more than ${maxPages} pages; raise maxPages if that is expected`,
    );
  }

  #decode(result: JsonObject): Page<T> {
    const { key, row } = this.#kind;
    const { [key]: list, nextCursor } = result;
    if (!Array.isArray(list)) throw clientErrors.invalidResult(row.name, `"${key}" is not an array`);
    if (nextCursor !== undefined && nextCursor !== null && typeof nextCursor !== 'string') {
      throw clientErrors.invalidResult(row.name, '"nextCursor" is not a string');
    }
    const items = list.filter((item) => this.#isUseful(item));
    return typeof nextCursor === 'string' ? { items, nextCursor } : { items };
  }

  #isUseful(item: unknown): item is T {
    const { row, strings } = this.#kind;
    const missing = isObject(item) ? strings.find((name) => typeof item[name] !== 'string') : 'everything';
    const why = missing === undefined ? this.#check(item as T) : `${missing} is missing`;
    if (why === undefined) return true;
    const name = isObject(item) ? (item['name'] ?? item['uri']) : undefined;
    const known = typeof name === 'string' ? clean(name) : undefined;
    this.#context.logger.warn(`left out an item of ${row.name}`, { name: known, why: clean(why) });
    return false;
  }
}

function cacheHintOf({ ttlMs, cacheScope }: JsonObject): CacheHint | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined;
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}

class StaleCursor extends Error {
  constructor(cause: unknown) {
    super('stale cursor', { cause });
  }
}

function isInvalidParams(error: unknown): boolean {
  return error instanceof ClientError && error.serverError?.code === -32602;
}
