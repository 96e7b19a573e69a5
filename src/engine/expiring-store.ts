// The in-memory ExpiringStore: bounded by count, swept when touched. Ends with the process.

import type { Json } from '../protocol/model.ts';
import type { ExpiringStore } from './ports.ts';

/** `maxEntries` stops a client from filling memory with marks; the oldest give way first. */
export function createMemoryStore(maxEntries = 100_000, now: () => number = Date.now): ExpiringStore {
  const entries = new Map<string, { readonly value: Json; readonly until: number }>();

  function live(key: string): Json | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now()) return entry.value;
    entries.delete(key);
    return undefined;
  }

  function put(key: string, value: Json, ttlMs: number): void {
    entries.delete(key);
    if (entries.size >= maxEntries) makeRoom();
    entries.set(key, { value, until: now() + ttlMs });
  }

  function makeRoom(): void {
    const time = now();
    for (const [key, { until }] of entries) if (until <= time) entries.delete(key);
    for (const key of entries.keys()) {
      if (entries.size < maxEntries) break;
      entries.delete(key);
    }
  }

  return {
    get: live,
    set: put,
    add(key, value, ttlMs) {
      if (live(key) !== undefined) return false;
      put(key, value, ttlMs);
      return true;
    },
    delete: (key) => void entries.delete(key),
  };
}
