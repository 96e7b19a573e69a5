import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { Database } from './database.ts';
import { connectSqlite } from './driver.ts';
import { type DataFolder, type DataFolderOptions, openDataFolder, StoreError } from './index.ts';
import { migrate, schemaVersion, versionOf } from './migrations.ts';
import { countIds, idRanges } from './note-ids.ts';

let folder = '';
const opened: DataFolder[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const data of opened.splice(0)) await data.close();
});

async function open(options: DataFolderOptions = {}): Promise<DataFolder> {
  const data = await openDataFolder(folder, options);
  opened.push(data);
  return data;
}

const file = (): string => join(folder, 'mooring.db');
const everything = { maxCharacters: Number.MAX_SAFE_INTEGER };
const me = '';

async function contents(data: DataFolder, query: { tags?: string[]; limit?: number } = {}): Promise<string[]> {
  const { json } = await data.notes.list(me, { ...everything, ...query });
  return (JSON.parse(json) as { content: string }[]).map((each) => each.content);
}

test('notes come back as they were given, newest first, and survive a restart', async () => {
  const data = await open();
  const strange = 'NUL \u0000, half a pair \ud800, 🌍, "quotes", \r\n';
  await data.notes.add(me, { content: 'first', tags: [] });
  const note = await data.notes.add(me, { content: strange, tags: ['a\u0000b', 'ż'] });
  expect(note).toMatchObject({ id: '2', content: strange, tags: ['a\u0000b', 'ż'] });
  await data.close();
  const again = await open();
  expect(await contents(again)).toEqual([strange, 'first']);
  expect(await contents(again, { tags: ['a\u0000b'] })).toEqual([strange]);
  expect(JSON.parse((await again.notes.get(me, '2')) as string)).toEqual(note);
});

test('tags select notes that have one of them, each once; limit counts from the newest', async () => {
  const data = await open();
  await data.notes.add(me, { content: 'a', tags: ['x', 'y', 'x'] });
  await data.notes.add(me, { content: 'b', tags: ['y'] });
  await data.notes.add(me, { content: 'c', tags: [] });
  expect(await contents(data, { tags: ['x', 'y'] })).toEqual(['b', 'a']);
  expect(await contents(data, { tags: ['y'], limit: 1 })).toEqual(['b']);
  expect(await contents(data, { limit: 2 })).toEqual(['c', 'b']);
  expect(await contents(data, { tags: ['z'] })).toEqual([]);
  expect((await data.notes.list(me, { ...everything, tags: ['y'], limit: 1 })).total).toBe(2);
});

test('a list ends before it grows beyond its limit and says how many there are', async () => {
  const data = await open();
  for (let n = 0; n < 10; n++) await data.notes.add(me, { content: 'x'.repeat(100), tags: ['t'] });
  for (const tags of [undefined, ['t']]) {
    const { json, count, total } = await data.notes.list(me, { maxCharacters: 600, tags });
    expect(total).toBe(10);
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThan(6);
    expect(JSON.parse(json)).toHaveLength(count);
    expect(json.length).toBeLessThanOrEqual(601);
  }
});

test('owners have notes and counters of their own', async () => {
  const data = await open();
  await data.notes.add('issuer\u0000ada', { content: 'secret', tags: ['t'] });
  await data.notes.increment('issuer\u0000ada', 5);
  expect(await data.notes.get('issuer\u0000ada', '1')).toContain('secret');
  for (const other of ['', 'issuer', 'issuer\u0000eve']) {
    expect(await data.notes.get(other, '1')).toBeUndefined();
    expect((await data.notes.list(other, { ...everything, tags: ['t'] })).json).toBe('[]');
    expect((await data.notes.ids(other, '', 10)).values).toEqual([]);
    expect(await data.notes.counter(other)).toBe(0);
  }
  expect((await data.notes.add('issuer\u0000eve', { content: 'mine', tags: [] })).id).toBe('1');
});

test('the counter adds up, also below zero, and rejects to leave the exact integers', async () => {
  const data = await open();
  expect(await data.notes.increment(me, 3)).toBe(3);
  expect(await data.notes.increment(me, -5)).toBe(-2);
  await expect(data.notes.increment(me, -Number.MAX_SAFE_INTEGER)).rejects.toThrow('range of exact integers');
  expect(await data.notes.counter(me)).toBe(-2);
});

test('one write that fails by its own fault does not disturb those it shares a transaction with', async () => {
  const data = await open({ maxNotes: 2 });
  const settled = await Promise.allSettled([
    data.notes.add(me, { content: 'a', tags: [] }),
    data.notes.increment(me, 1),
    data.notes.add(me, { content: 'b', tags: [] }),
    data.notes.add(me, { content: 'too many', tags: [] }),
    data.notes.increment(me, 1),
  ]);
  expect(settled.map((each) => each.status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(await contents(data)).toEqual(['b', 'a']);
  expect(await data.notes.counter(me)).toBe(2);
});

test('two connections write by turns without losing or repeating anything', async () => {
  const [one, other] = [await open({ busyTimeoutMs: 20_000 }), await open({ busyTimeoutMs: 20_000 })];
  const ids = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      // Small groups, so that the two really meet.
      for (let turn = 0; turn < n % 7; turn++) await nextTurn();
      return (await (n % 2 === 0 ? one : other).notes.add(me, { content: String(n), tags: [] })).id;
    }),
  );
  expect(new Set(ids).size).toBe(60);
  expect((await contents(one)).sort()).toEqual(Array.from({ length: 60 }, (_, n) => String(n)).sort());
});

test('a lock that is not released is reported, and the write is not done later', async () => {
  const data = await open({ busyTimeoutMs: 50 });
  const blocker = await connectSqlite(file());
  blocker.exec('begin immediate');
  const failure = await data.notes.add(me, { content: 'late', tags: [] }).catch((error: unknown) => error);
  blocker.exec('rollback');
  blocker.close();
  expect(failure).toBeInstanceOf(StoreError);
  expect(failure).toMatchObject({ code: 'busy' });
  expect((failure as Error).message).toContain(file());
  await data.notes.add(me, { content: 'next', tags: [] });
  expect(await contents(data)).toEqual(['next']);
});

test('changes of the other connection are told, and what did not change is not', async () => {
  const [one, other] = [await open({ pollMs: 5 }), await open({ pollMs: 5 })];
  await one.notes.increment(me, 1);
  const heard: object[] = [];
  let wake: () => void = () => {};
  other.notes.watch((change) => {
    heard.push(change);
    wake();
  });
  const next = () => new Promise<void>((resolve) => (wake = resolve));
  let news = next();
  await one.notes.add('ada', { content: 'n', tags: [] });
  await news;
  news = next();
  await one.notes.increment(me, 1);
  await news;
  news = next();
  await other.notes.increment(me, 1);
  await news;
  expect(heard).toEqual([
    { owner: 'ada', counter: false, notes: true },
    { owner: me, counter: true, notes: false },
    { owner: me, counter: true, notes: false },
  ]);
});

test('the database has a write-ahead log', async () => {
  const database = await Database.open(folder);
  expect(database.statement('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' });
  expect(database.statement('pragma synchronous').get(), '1: the log is synced by us').toEqual({ synchronous: 1 });
  expect(database.statement('pragma fullfsync').get()).toEqual({ fullfsync: 1 });
  await database.close();
});

test('only the owner can access folder and file', async () => {
  rmSync(folder, { recursive: true });
  await open();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(`${file()}-wal`).mode & 0o777).toBe(0o600);
});

test('a file that is not a database is rejected by name with a remedy, and left as it is', async () => {
  writeFileSync(file(), 'this is not a database, it is a letter to my aunt'.repeat(100));
  const before = readFileSync(file());
  const failure = (await openDataFolder(folder).catch((error: unknown) => error)) as StoreError;
  expect(failure).toMatchObject({ name: 'StoreError', code: 'damaged' });
  expect(failure.message).toContain(file());
  expect(failure.message).toContain('Move it away');
  expect(readFileSync(file()).equals(before)).toBe(true);
});

test('a database with a broken page is rejected, and the last good copy named and untouched', async () => {
  const data = await open();
  for (let n = 0; n < 400; n++) void data.notes.add(me, { content: `note ${n} ${'x'.repeat(200)}`, tags: ['t'] });
  await data.notes.increment(me, 1);
  expect(await data.refreshBackup()).toBe(true);
  expect(await data.refreshBackup(), 'a fresh copy is not renewed').toBe(false);
  await data.close();
  const copy = join(folder, 'mooring.copy.db');
  const good = readFileSync(copy);
  const broken = readFileSync(file());
  broken.fill(0xa5, 8 * 4096, 12 * 4096);
  writeFileSync(file(), broken);

  const failure = (await openDataFolder(folder).catch((error: unknown) => error)) as StoreError;
  expect(failure.code).toBe('damaged');
  expect(failure.message).toContain(copy);
  expect(readFileSync(file()).equals(broken)).toBe(true);
  expect(readFileSync(copy).equals(good)).toBe(true);

  // The remedy works.
  for (const rest of ['', '-wal', '-shm']) rmSync(`${file()}${rest}`, { force: true });
  writeFileSync(file(), good);
  const repaired = await open();
  expect(await contents(repaired)).toHaveLength(400);
  expect(await repaired.notes.counter(me)).toBe(1);
});

test('damage that shows while running never replaces the good copy', async () => {
  const data = await open();
  for (let n = 0; n < 400; n++) void data.notes.add(me, { content: `note ${n} ${'x'.repeat(200)}`, tags: ['t'] });
  await data.notes.increment(me, 1);
  await data.close();
  const again = await open({ backups: { everyMs: 0 } });
  expect(await again.refreshBackup()).toBe(true);
  const good = readFileSync(join(folder, 'mooring.copy.db'));
  const broken = readFileSync(file());
  broken.fill(0xa5, 8 * 4096, 12 * 4096);
  writeFileSync(file(), broken);
  await expect(again.refreshBackup()).rejects.toThrow('is damaged');
  expect(readFileSync(join(folder, 'mooring.copy.db')).equals(good)).toBe(true);
});

test('a database of a later version is rejected, not changed', async () => {
  await (await open()).close();
  const db = await connectSqlite(file());
  db.exec(`pragma user_version = ${schemaVersion + 1}`);
  db.close();
  await expect(openDataFolder(folder)).rejects.toMatchObject({ code: 'newer' });
  const after = await connectSqlite(file());
  expect(versionOf(after)).toBe(schemaVersion + 1);
  after.close();
});

test('an older database is brought up to date and keeps what it has', async () => {
  const db = await connectSqlite(file());
  migrate(db, file(), 3);
  const note = (id: number, content: string) =>
    JSON.stringify({ id: String(id), content, tags: ['ż'], created: 'then' });
  db.prepare('insert into owners (key, last_note, characters, counter) values (?, 2, 200, 7)').run('""');
  for (const id of [1, 2]) {
    db.prepare('insert into notes (owner, id, note) values (1, ?, ?)').run(id, note(id, `note ${id}`));
    db.prepare('insert into note_tags (owner, tag, note) values (1, ?, ?)').run('"ż"', id);
  }
  db.prepare('insert into records (kind, key, value) values (?, ?, ?)').run('worker', '"w1"', '{"pid":1}');
  db.prepare('insert into expiring (key, value, expires) values (?, ?, ?)').run('"s"', 'true', Date.now() + 60_000);
  db.close();

  const data = await open();
  expect(await contents(data)).toEqual(['note 2', 'note 1']);
  expect(await contents(data, { tags: ['ż'] })).toEqual(['note 2', 'note 1']);
  expect(await data.notes.get(me, '1')).toBe(note(1, 'note 1'));
  expect(await data.notes.counter(me)).toBe(7);
  expect(await data.records('worker').get('w1')).toEqual({ pid: 1 });
  expect(await data.expiring.get('s')).toBe(true);
  const bytes = 2 * (Buffer.byteLength(note(1, 'note 1')) + 4);
  expect(await data.notes.owners()).toEqual([{ owner: me, notes: 2, bytes }]);
  expect((await data.notes.add(me, { content: 'new', tags: [] })).id).toBe('3');
  expect(await data.refreshBackup()).toBe(true);
});

test('many who open a new folder at once all get in', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => open()));
  await Promise.all(all.map((data, n) => data.notes.add(me, { content: String(n), tags: [] })));
  expect(await contents(all[0] as DataFolder)).toHaveLength(8);
});

test('a closed folder finishes what was begun and rejects what comes later', async () => {
  const data = await open();
  const last = data.notes.add(me, { content: 'last', tags: [] });
  await data.close();
  expect((await last).id).toBe('1');
  await expect(data.notes.add(me, { content: 'late', tags: [] })).rejects.toMatchObject({ code: 'closed' });
});

test('records of one kind are listed by key and can be deleted', async () => {
  const data = await open();
  const workers = data.records('worker');
  await workers.set('b', { n: 2 });
  await workers.set('a', { n: 1 });
  await workers.set('b', { n: 3 });
  await data.records('other').set('c', 1);
  expect([...(await workers.list())]).toEqual([
    ['a', { n: 1 }],
    ['b', { n: 3 }],
  ]);
  await workers.delete('a');
  expect(await workers.get('a')).toBeUndefined();
});

test('an expiring value is added once, found until its time, and shared between connections', async () => {
  const [one, other] = [await open(), await open()];
  expect(await one.expiring.add('used', true, 60_000)).toBe(true);
  expect(await other.expiring.add('used', true, 60_000)).toBe(false);
  expect(await other.expiring.get('used')).toBe(true);
  await one.expiring.set('brief', { n: 1 }, -1);
  expect(await one.expiring.get('brief')).toBeUndefined();
  expect(await one.expiring.add('brief', 2, 60_000)).toBe(true);
  await one.expiring.delete('brief');
  expect(await one.expiring.get('brief')).toBeUndefined();
});

test('an expiring value is replaced only if it is the expected one, whichever connection set it', async () => {
  const [one, other] = [await open(), await open()];
  expect(await one.expiring.replace('state', undefined, { n: 1 }, 60_000)).toBe(true);
  expect(await other.expiring.replace('state', undefined, { n: 2 }, 60_000)).toBe(false);
  expect(await other.expiring.replace('state', { n: 1 }, { n: 2 }, 60_000)).toBe(true);
  expect(await one.expiring.get('state')).toEqual({ n: 2 });
});

test('ids are suggested by their first digits, newest first', () => {
  const ids = (last: number, prefix: string, limit: number) => countIds(idRanges(last, prefix), limit);
  expect(ids(123, '12', 10)).toEqual({ values: ['123', '122', '121', '120', '12'], total: 5 });
  expect(ids(5, '', 3)).toEqual({ values: ['5', '4', '3'], total: 5 });
  expect(ids(1_000_000, '1', 2)).toEqual({ values: ['1000000', '199999'], total: 111_112 });
  for (const none of ['0', '01', '6']) expect(ids(5, none, 3)).toEqual({ values: [], total: 0 });
});

test('a data folder that cannot be one is told in plain words, without codes of the system', async () => {
  writeFileSync(join(folder, 'taken'), '');
  const opening = openDataFolder(join(folder, 'taken', 'data'));
  await expect(opening).rejects.toThrow(StoreError);
  await expect(opening).rejects.toThrow(
    /mooring\.db cannot be opened for reading and writing \(a part of its path is not a folder\)\. Check/,
  );
});
