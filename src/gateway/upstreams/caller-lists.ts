// The lists of an upstream whose lists differ between callers, by isolation key. Callers that see the same share them.

import { Moment } from '../../common/clock.ts';
import type { CacheHint } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import { sha256 } from '../sha256.ts';
import { CheckedLists, type ListSettings } from './checked-lists.ts';
import type { ConnectionCaller } from './contract.ts';

/** Stops callers that come and go from filling the memory: lists of those that used them least recently are dropped. */
const maxKeys = 1_000;
/** The same for long lists, in characters; lists that several callers share count once. */
const maxChars = 64 * 1024 * 1024;
/** Lists that were not used for this long are dropped when others are read. */
const maxUnusedMs = 60 * 60 * 1_000;
/** Of callers whose lists were dropped, or could not be read; they are notified when lists are there again. */
const maxBehind = 10_000;
/**
 * How often callers are notified of lists that differ from those before because of other headers. Stops two clients of one user with
 * different headers from telling each other to read their lists again and again.
 */
const minHeadersMs = 60 * 1_000;

interface SharedLists {
  checked: CheckedLists;
  readonly chars: number;
  keys: number;
}

interface KeptLists {
  readonly digest: string;
  /** Of the last response, which may name a different time from the one before. */
  readonly cache: CacheHint | undefined;
  readonly read: Moment;
  /** They were read with these headers; undefined: without those that a caller has. */
  readonly headers: string | undefined;
  /** When callers were notified of lists that were read with other headers. */
  readonly headersAtMs: number;
  usedAtMs: number;
}

/** The caller that lists are read for. */
export type ListedFor = Pick<ConnectionCaller, 'headers'>;

/** What a read has changed. */
export interface ListUpdate {
  readonly before: CheckedLists | undefined;
  readonly after: CheckedLists;
  /** Its callers may have seen something else. */
  readonly isChange: boolean;
}

export class CallerLists {
  readonly #config: UpstreamConfig;
  readonly #settings: ListSettings;
  readonly #byKey = new Map<string, KeptLists>();
  /** By the digest of what the server sent. */
  readonly #shared = new Map<string, SharedLists>();
  readonly #behind = new Set<string>();
  #chars = 0;

  constructor(config: UpstreamConfig, settings: ListSettings) {
    this.#config = config;
    this.#settings = settings;
  }

  /** How many callers have lists. */
  get size(): number {
    return this.#byKey.size;
  }

  /** Different lists that callers have now. */
  get all(): readonly CheckedLists[] {
    return [...this.#shared.values()].map(({ checked }) => checked);
  }

  /** The lists for calls of a caller; undefined until they have been read. */
  get(key: string): CheckedLists | undefined {
    const kept = this.#byKey.get(key);
    if (kept?.headers === undefined) return undefined;
    kept.usedAtMs = Date.now();
    return this.#shared.get(kept.digest)?.checked;
  }

  /** The last lists that were read over the connection with this key. */
  read(key: string): CheckedLists | undefined {
    return this.#shared.get(this.#byKey.get(key)?.digest ?? '')?.checked;
  }

  /** Their server says that they are not valid any more. */
  isExpired(key: string): boolean {
    const { cache, read } = this.#byKey.get(key) ?? {};
    return cache !== undefined && read !== undefined && read.ageMs >= cache.ttlMs;
  }

  /** Takes over what was read. `caller`: for whom, with its headers; undefined: to find out what the server offers. */
  update(key: string, { cache, ...lists }: UpstreamLists, caller: ListedFor | undefined): ListUpdate {
    const before = this.get(key);
    const kept = this.#byKey.get(key);
    const headers = this.#headersOf(caller);
    // What a caller sees with its headers stays.
    if (before !== undefined && headers === undefined) return { before, after: before, isChange: false };
    // Without the time that they may be cached: some servers count it down.
    const text = JSON.stringify(lists);
    const digest = sha256(text);
    let shared = this.#shared.get(digest);
    if (shared === undefined) {
      const checked = new CheckedLists(this.#config, this.#settings, { ...lists, cache }, { isPrivate: true });
      this.#shared.set(digest, (shared = { checked, chars: text.length, keys: 0 }));
      this.#chars += text.length;
    }
    shared.keys++;
    this.#release(key);
    const now = Date.now();
    const after = shared.checked;
    const { headersAtMs = 0 } = kept ?? {};
    const isSameCaller = before === undefined || kept?.headers === headers;
    const isDue = isSameCaller || now - headersAtMs >= minHeadersMs;
    const times = { read: new Moment(), usedAtMs: now, headersAtMs: isSameCaller || !isDue ? headersAtMs : now };
    this.#byKey.set(key, { digest, cache, headers, ...times });
    this.#makeRoom(key, now);
    const wasBehind = this.#behind.delete(key);
    return { before, after, isChange: before === undefined ? wasBehind : before !== after && isDue };
  }

  /** A request of this caller did not get the lists. */
  missed(key: string): void {
    this.#behind.delete(key);
    this.#behind.add(key);
    const [oldest] = this.#behind;
    if (this.#behind.size > maxBehind && oldest !== undefined) this.#behind.delete(oldest);
  }

  /** The caller is gone. */
  delete(key: string): void {
    this.#release(key);
    this.#behind.delete(key);
  }

  /** Compares all lists with the pins again. Returns the keys whose lists have changed. */
  recheck(): readonly (readonly [key: string, update: ListUpdate])[] {
    const updates = new Map<string, ListUpdate>();
    for (const [digest, shared] of this.#shared) {
      const { received, prepared } = shared.checked;
      const checked = new CheckedLists(this.#config, this.#settings, received, { stored: prepared, isPrivate: true });
      updates.set(digest, { before: shared.checked, after: checked, isChange: true });
      shared.checked = checked;
    }
    return [...this.#byKey].map(([key, { digest }]) => [key, updates.get(digest) as ListUpdate]);
  }

  /** Undefined: lists that were read without a caller may lack what its headers would give it. */
  #headersOf(caller: ListedFor | undefined): string | undefined {
    if (caller === undefined && this.#config.forwardHeaders.length > 0) return undefined;
    return JSON.stringify(caller?.headers ?? {});
  }

  #release(key: string): void {
    const kept = this.#byKey.get(key);
    const shared = kept && this.#shared.get(kept.digest);
    if (kept === undefined || shared === undefined) return;
    this.#byKey.delete(key);
    if (--shared.keys > 0) return;
    this.#shared.delete(kept.digest);
    this.#chars -= shared.chars;
  }

  #makeRoom(newest: string, now: number): void {
    const isFull = (): boolean => this.#byKey.size > maxKeys || this.#chars > maxChars;
    const isUnused = ({ usedAtMs }: KeptLists): boolean => now - usedAtMs >= maxUnusedMs;
    if (!isFull() && ![...this.#byKey.values()].some(isUnused)) return;
    const oldest = [...this.#byKey].sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    for (const [key, kept] of oldest) {
      if (key === newest) continue;
      if (!isFull() && !isUnused(kept)) return;
      this.#release(key);
      this.missed(key);
    }
  }
}
