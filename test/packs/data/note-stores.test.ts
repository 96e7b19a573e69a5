// Every store of notes keeps the same promises: the one in memory and the one in the data folder.

import { rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { createMemoryNotes, type Note, type NoteStore } from '../../../src/packs/reference/index.ts';
import { openDataFolder } from '../../../src/stores/sqlite/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const cleaning: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
});

type Limits = { readonly maxBytesPerCaller?: number; readonly maxBytesTotal?: number };

const stores: Record<string, (limits?: Limits) => Promise<NoteStore>> = {
  memory: async (limits) => createMemoryNotes(limits),
  sqlite: async (limits) => {
    const folder = temporaryFolder();
    const data = await openDataFolder(folder, limits);
    cleaning.push(
      () => rmSync(folder, { recursive: true, force: true }),
      () => data.close(),
    );
    return data.notes;
  },
};

const all = { maxCharacters: 1_000_000 };

describe.each(Object.entries(stores))('%s', (_name, open) => {
  const list = async (store: NoteStore, owner: string, query: object = {}): Promise<Note[]> =>
    JSON.parse((await store.list(owner, { ...all, ...query })).json);

  test('notes are numbered from 1 for each owner, and shown newest first', async () => {
    const store = await open();
    expect(await store.add('a', { content: 'one', tags: ['x'] })).toMatchObject({
      id: '1',
      content: 'one',
      tags: ['x'],
    });
    expect((await store.add('a', { content: 'two', tags: [] })).id).toBe('2');
    expect((await store.add('b', { content: 'other', tags: [] })).id).toBe('1');
    expect((await list(store, 'a')).map((note) => note.content)).toEqual(['two', 'one']);
    expect(await list(store, 'nobody')).toEqual([]);
    expect(JSON.parse((await store.get('a', '1')) as string)).toMatchObject({ content: 'one' });
    for (const id of ['0', '3', '01', '1.0', '', 'x']) expect(await store.get('a', id)).toBeUndefined();
    expect(new Date((await list(store, 'a'))[0]?.created as string).toISOString()).toBe(
      (await list(store, 'a'))[0]?.created,
    );
  });

  test('tags, limits and lengths bound a list, and total counts what fits the query', async () => {
    const store = await open();
    for (let n = 1; n <= 6; n++)
      await store.add('a', { content: `n${n}`, tags: n % 2 === 0 ? ['even', 'all'] : ['all'] });
    expect((await list(store, 'a', { tags: ['even'] })).map((note) => note.id)).toEqual(['6', '4', '2']);
    expect((await list(store, 'a', { tags: ['even', 'all'] })).map((note) => note.id)).toHaveLength(6);
    expect(await store.list('a', { ...all, tags: ['even'], limit: 2 })).toMatchObject({ count: 2, total: 3 });
    expect(await store.list('a', { ...all, limit: 4 })).toMatchObject({ count: 4, total: 6 });
    expect(await store.list('a', { maxCharacters: 10 })).toEqual({ json: '[]', count: 0, total: 6 });
  });

  test('ids are completed by their first digits, newest first', async () => {
    const store = await open();
    for (let n = 0; n < 12; n++) await store.add('a', { content: '', tags: [] });
    expect(await store.ids('a', '1', 3)).toEqual({ values: ['12', '11', '10'], total: 4 });
    expect((await store.ids('a', '', 100)).total).toBe(12);
    for (const none of ['0', '13', 'x', '1x']) expect((await store.ids('a', none, 100)).total).toBe(0);
  });

  test('the counter of an owner adds up and stays exact', async () => {
    const store = await open();
    expect(await store.counter('a')).toBe(0);
    expect(await Promise.all([store.increment('a', 1), store.increment('a', 2), store.increment('b', 5)])).toEqual([
      1, 3, 5,
    ]);
    await expect(store.increment('a', Number.MAX_SAFE_INTEGER)).rejects.toThrow('exact integers');
    expect(await store.counter('a')).toBe(3);
  });

  test('changes are announced with their owner until the last listener is removed', async () => {
    const store = await open();
    const heard: object[] = [];
    const stop = store.watch((change) => heard.push(change));
    await store.add('a', { content: 'x', tags: [] });
    await store.increment('b', 1);
    stop();
    await store.increment('b', 1);
    expect(heard).toEqual([
      { owner: 'a', counter: false, notes: true },
      { owner: 'b', counter: true, notes: false },
    ]);
  });

  test('a deleted note is in no list, its id is not used again, and other owners are not affected', async () => {
    const store = await open();
    for (const content of ['one', 'two', 'three']) await store.add('a', { content, tags: ['t', 't', 'ż'] });
    await store.add('b', { content: 'other', tags: ['t'] });
    const heard: object[] = [];
    store.watch((change) => heard.push(change));
    expect(await store.delete('a', '2')).toBe(true);
    expect(heard).toEqual([{ owner: 'a', counter: false, notes: true }]);
    for (const id of ['2', '4', '0', 'x', '']) expect(await store.delete('a', id), id).toBe(false);
    expect(await store.delete('nobody', '1')).toBe(false);
    expect((await list(store, 'a')).map((note) => note.id)).toEqual(['3', '1']);
    expect((await list(store, 'a', { tags: ['ż'] })).map((note) => note.id)).toEqual(['3', '1']);
    expect(await store.list('a', all)).toMatchObject({ count: 2, total: 2 });
    expect(await store.get('a', '2')).toBeUndefined();
    expect(await store.ids('a', '', 10)).toEqual({ values: ['3', '1'], total: 2 });
    expect(await store.ids('a', '2', 10)).toEqual({ values: [], total: 0 });
    expect((await store.add('a', { content: 'four', tags: [] })).id).toBe('4');
    expect((await list(store, 'a')).map((note) => note.id)).toEqual(['4', '3', '1']);
    expect(await list(store, 'b')).toHaveLength(1);
    for (const id of ['1', '3', '4']) expect(await store.delete('a', id)).toBe(true);
    expect(await store.list('a', all)).toEqual({ json: '[]', count: 0, total: 0 });
  });

  test('a caller has a share of bytes, and gets it back by deleting; the others have theirs', async () => {
    const store = await open({ maxBytesPerCaller: 3_000 });
    const note = { content: 'ż'.repeat(500), tags: ['tag'] };
    await store.add('a', note);
    await store.add('a', note);
    await expect(store.add('a', note)).rejects.toThrow('the limit is 3000. Delete some first');
    await store.add('b', note);
    await store.delete('a', '1');
    expect((await store.add('a', note)).id).toBe('3');
  });

  test('all notes together have a limit', async () => {
    const store = await open({ maxBytesTotal: 200_000 });
    const note = { content: 'x'.repeat(30_000), tags: [] };
    let kept = 0;
    for (const full = () => {}; kept < 20; kept++) {
      const added = await store.add(`caller ${kept}`, note).catch(full);
      if (added === undefined) break;
    }
    expect(kept).toBeGreaterThan(1);
    expect(kept).toBeLessThan(7);
    await expect(store.add('another', note)).rejects.toThrow('200000 bytes. Delete some notes first');
    await store.delete('caller 0', '1');
    expect((await store.add('another', note)).id).toBe('1');
  });
});
