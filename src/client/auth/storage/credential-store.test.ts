import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts';
import { type CredentialStore, createMemoryStore } from './credential-store.ts';
import { createFileStore } from './file-store.ts';

const folders: string[] = [];
afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true })));
});

const stores: [string, () => Promise<CredentialStore>][] = [
  ['memory', async () => createMemoryStore()],
  [
    'file',
    async () => {
      const folder = temporaryFolder();
      folders.push(folder);
      return createFileStore(join(folder, 'inner', 'credentials.json'));
    },
  ],
];

describe.each(stores)('the %s store', (_name, open) => {
  test('gives back what was put in, as a copy, and forgets on undefined', async () => {
    const store = await open();
    const value = { token: 't', list: [1] };
    await store.set('k', value);
    value.list.push(2);
    expect(await store.get('k')).toEqual({ token: 't', list: [1] });
    expect(await store.get('other')).toBeUndefined();
    await store.set('k', undefined);
    expect(await store.get('k')).toBeUndefined();
  });

  test('takes any word as a key', async () => {
    const store = await open();
    for (const key of ['__proto__', 'constructor', 'toString', '../../etc', '']) {
      expect(await store.get(key)).toBeUndefined();
      await store.set(key, { key });
      expect(await store.get(key)).toEqual({ key });
    }
  });

  test('loses no write when many happen at once', async () => {
    const store = await open();
    await Promise.all(Array.from({ length: 20 }, (_, n) => store.set(`k${n}`, n)));
    expect(await Promise.all(Array.from({ length: 20 }, (_, n) => store.get(`k${n}`)))).toEqual([...Array(20).keys()]);
  });

  test('runs locked tasks one after the other, failures included', async () => {
    const store = await open();
    let inside = 0;
    const task = (fail: boolean) => async () => {
      expect(++inside).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
      if (fail) throw new Error('task failed');
      return 'done';
    };
    const results = await Promise.allSettled([1, 2, 3, 4].map((n) => store.lock('k', task(n === 2))));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('does not make different keys wait for each other', async () => {
    const store = await open();
    await store.lock('a', () => store.lock('b', async () => undefined));
  });

  test('lets a waiter leave, and the next one in', async () => {
    const store = await open();
    const controller = new AbortController();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const first = store.lock('k', () => held);
    const second = store.lock('k', async () => 'second', { signal: controller.signal });
    const third = store.lock('k', async () => 'third');
    controller.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    release();
    await first;
    expect(await third).toBe('third');
  });
});
