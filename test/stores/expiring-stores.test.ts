// Every expiring store keeps the same promises.
import { afterEach, describe, expect, test } from 'vitest';
import { createMemoryExpiringStore } from '../../src/engine/expiring-store.ts';
import type { ExpiringStore } from '../../src/protocol/ports.ts';
import { openRedis } from '../../src/stores/redis/index.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cleaning: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
});

async function openSqlite(): Promise<ExpiringStore> {
  const data = await openDataFolder(temporaryFolder());
  cleaning.push(() => data.close());
  return data.expiring;
}

async function openRedisStore(): Promise<ExpiringStore> {
  const redis = await startRedis();
  const stores = await openRedis({ url: redis.url, name: 'test' });
  cleaning.push(
    () => redis.close(),
    () => stores.close(),
  );
  return stores.store;
}

const stores: [string, () => Promise<ExpiringStore>, boolean][] = [
  ['memory', async () => createMemoryExpiringStore(), true],
  ['sqlite', openSqlite, true],
  ['redis', openRedisStore, hasRedis()],
];

describe.each(stores)('%s', (_name, open, isAvailable) => {
  const strange = 'NUL \u0000, 🌍, "quotes", \r\n';
  const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

  test.skipIf(!isAvailable)('a value comes back as it was given, until it is replaced or deleted', async () => {
    const store = await open();
    expect(await store.get('key')).toBeUndefined();
    for (const value of [null, false, 0, '', strange, [1, [2]], { [strange]: { deep: null } }]) {
      await store.set(`key ${strange}`, value, 60_000, 'owner');
      expect(await store.get(`key ${strange}`)).toEqual(value);
    }
    await store.delete(`key ${strange}`);
    expect(await store.get(`key ${strange}`)).toBeUndefined();
  });

  test.skipIf(!isAvailable)('a mark is added once, however many try', async () => {
    const store = await open();
    const added = await Promise.all(Array.from({ length: 30 }, () => store.add('used', true, 60_000)));
    expect(added.filter((each) => each)).toHaveLength(1);
    expect(await store.get('used')).toBe(true);
  });

  test.skipIf(!isAvailable)('what has expired is absent, and can be added again', async () => {
    const store = await open();
    await store.set('value', 1, 30);
    expect(await store.add('mark', true, 30)).toBe(true);
    await soon();
    expect([await store.get('value'), await store.get('mark')]).toEqual([undefined, undefined]);
    expect(await store.add('mark', true, 60_000)).toBe(true);
  });

  test.skipIf(!isAvailable)('of replacements at the same time one counts', async () => {
    const store = await open();
    const replace = store.replace?.bind(store) as NonNullable<ExpiringStore['replace']>;
    expect(await replace('key', { n: 0 }, { n: 1 }, 60_000)).toBe(false);
    const created = await Promise.all([1, 2, 3].map((n) => replace('key', undefined, { n }, 60_000)));
    expect(created.filter((each) => each)).toHaveLength(1);
    const value = (await store.get('key')) as { n: number };
    const changed = await Promise.all([4, 5, 6].map((n) => replace('key', value, { n }, 60_000)));
    expect(changed.filter((each) => each)).toHaveLength(1);
  });
});
