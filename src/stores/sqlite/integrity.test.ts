// A store that lost something says so: emptied, cut short, replaced under a running server, or with a flipped byte.

import { randomInt } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { listChecksum, prependToList } from './checksum.ts';
import { connectSqlite, type SqliteConnection } from './driver.ts';
import { type DataFolder, type DataFolderOptions, openDataFolder } from './index.ts';

let folder = '';
const opened: DataFolder[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const data of opened.splice(0)) await data.close();
});

async function open(options: DataFolderOptions = {}): Promise<DataFolder> {
  const data = await openDataFolder(folder, { backupAfterMs: 0, ...options });
  opened.push(data);
  return data;
}

const file = (): string => join(folder, 'mooring.db');
const me = '';
const all = { maxCharacters: Number.MAX_SAFE_INTEGER };
const contents = async (data: DataFolder, query: object = {}): Promise<string[]> =>
  (JSON.parse((await data.notes.list(me, { ...all, ...query })).json) as { content: string }[]).map(
    (each) => each.content,
  );

async function fill(notes = 100): Promise<DataFolder> {
  const data = await open();
  const adding = Array.from({ length: notes }, (_, n) =>
    data.notes.add(me, { content: `note ${n} ${'x'.repeat(200)}`, tags: ['t'] }),
  );
  await Promise.all(adding);
  return data;
}

/** The files as a kill would leave them: nothing is closed, nothing is written back. */
function killed(from: string): void {
  for (const name of readdirSync(from)) if (!name.endsWith('-shm')) copyFileSync(join(from, name), join(folder, name));
}

describe('a database that has lost its content', () => {
  test('an empty file where there was data is an error that names the copy, and nothing is touched', async () => {
    const data = await fill();
    await data.refreshBackup();
    await data.close();
    truncateSync(file(), 0);
    await expect(openDataFolder(folder)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(
        /mooring\.db is damaged \(it is empty.*put the last good copy, .*copy\.db, in its place/,
      ),
    });
    expect(statSync(file()).size).toBe(0);
    // The remedy works.
    for (const end of ['', '-wal', '-shm']) rmSync(file() + end, { force: true });
    copyFileSync(join(folder, 'mooring.copy.db'), file());
    expect(await contents(await open())).toHaveLength(100);
  });

  test('without a copy the marker beside it is enough, and a store can be begun again by moving it away', async () => {
    await (await fill()).close();
    truncateSync(file(), 0);
    await expect(openDataFolder(folder)).rejects.toThrow('start again with an empty store; there is no copy');
    for (const end of ['', '-wal', '-shm']) rmSync(file() + end, { force: true });
    expect(await contents(await open())).toEqual([]);
  });

  test('a log with data beside an empty or missing file is not deleted', async () => {
    const living = await fill();
    const source = folder;
    for (const lose of [(path: string) => truncateSync(path, 0), (path: string) => rmSync(path)]) {
      folder = temporaryFolder();
      killed(source);
      rmSync(`${file()}-marker`);
      const log = readFileSync(`${file()}-wal`);
      lose(file());
      await expect(openDataFolder(folder)).rejects.toMatchObject({ code: 'damaged' });
      expect(readFileSync(`${file()}-wal`).equals(log)).toBe(true);
      rmSync(folder, { recursive: true });
    }
    folder = source;
    expect(await contents(living)).toHaveLength(100);
  });

  test('an empty file in a folder that never held data is a new store, as after a crash while it was made', async () => {
    writeFileSync(file(), '');
    expect(await contents(await open())).toEqual([]);
  });

  test.each([100, 4096, 50_000, 200_000])('a file that lacks its last %i bytes is an error', async (bytes) => {
    await (await fill(1000)).close();
    const { size } = statSync(file());
    truncateSync(file(), size - bytes);
    await expect(openDataFolder(folder)).rejects.toMatchObject({ code: 'damaged' });
    expect(statSync(file()).size).toBe(size - bytes);
  });

  test('a file that is short because its log holds the rest is read, as after kill -9', async () => {
    const living = await fill(1000);
    const source = folder;
    folder = temporaryFolder();
    killed(source);
    expect(statSync(file()).size).toBeLessThan(statSync(join(source, 'mooring.db-wal')).size);
    expect(await contents(await open())).toHaveLength(1000);
    await living.close();
    rmSync(source, { recursive: true });
  });
});

describe('files that are replaced while they are open', () => {
  test.each(['-wal', ''])('a write is not acknowledged when mooring.db%s has been removed', async (end) => {
    const data = await fill(10);
    rmSync(file() + end);
    await expect(data.notes.add(me, { content: 'lost', tags: [] })).rejects.toMatchObject({
      code: 'replaced',
      message: expect.stringContaining('Restart the server'),
    });
    await expect(data.notes.add(me, { content: 'also lost', tags: [] })).rejects.toMatchObject({ code: 'replaced' });
    expect(() => data.notes.counter(me)).toThrow('deleted or replaced');
  });

  test('nor when another file has taken its place, and that one is not written to', async () => {
    const data = await fill(10);
    renameSync(`${file()}-wal`, `${file()}-old`);
    writeFileSync(`${file()}-wal`, 'of another user');
    await expect(data.notes.add(me, { content: 'lost', tags: [] })).rejects.toMatchObject({ code: 'replaced' });
    await data.close();
    expect(readFileSync(`${file()}-wal`, 'utf8')).toBe('of another user');
  });
});

/** MOORING_FLIPS asks for more. */
const flips = Number(process.env['MOORING_FLIPS'] ?? 200);

/** Changes the database behind the store's back. */
async function tamper(work: (db: SqliteConnection) => void): Promise<void> {
  const db = await connectSqlite(file());
  work(db);
  db.close();
}

describe('a flipped byte', () => {
  test('in a note is reported wherever the note would be shown; other notes are shown, and it can be deleted', async () => {
    const data = await fill(20);
    await tamper((db) => db.exec(`update notes set note = replace(note, 'note 6 x', 'note 6 X') where id = 7`));
    const problem = /mooring\.db is damaged: note 7 does not match its checksum and is not shown\. Delete the note/;
    expect(() => data.notes.list(me, all)).toThrow(problem);
    expect(() => data.notes.list(me, { ...all, limit: 15 })).toThrow(problem);
    expect(() => data.notes.list(me, { ...all, tags: ['t'] })).toThrow(problem);
    expect(() => data.notes.list(me, { maxCharacters: 5_000 })).toThrow(problem);
    expect(() => data.notes.get(me, '7')).toThrow(problem);
    expect(await data.notes.get(me, '8')).toContain('note 7');
    expect(await contents(data, { limit: 5 })).toHaveLength(5);
    expect(await data.notes.delete(me, '7')).toBe(true);
    expect(await contents(data)).toHaveLength(19);
    expect(await contents(data, { tags: ['t'] })).toHaveLength(19);
  });

  test.each([
    ['a note of another user', `update notes set owner = 2 where id = 3`],
    ['another id', `update notes set id = 900 where id = 3`],
    ['a note that is gone', `delete from notes where id = 3`],
  ])('%s is not shown as if it were right', async (_name, sql) => {
    const data = await fill(5);
    await data.notes.add('other', { content: 'mine', tags: [] });
    await tamper((db) => db.exec(`pragma foreign_keys = off; ${sql}`));
    expect(() => data.notes.list(me, all)).toThrow('is damaged');
    if (sql.includes('owner = 2')) {
      expect(() => data.notes.get('other', '3')).toThrow('is damaged');
      expect(() => data.notes.list('other', all)).toThrow('is damaged');
    }
    if (sql.includes('900')) expect(() => data.notes.get(me, '900')).toThrow('is damaged');
  });

  test('in a counter, a size or a name is reported only to that caller', async () => {
    const data = await open();
    for (const owner of ['a', 'b', 'c', 'd']) await data.notes.increment(owner, 1);
    await data.notes.add('c', { content: 'x', tags: [] });
    await tamper((db) => {
      db.exec(`update owners set counter = 3 where key = '"a"'; update owners set bytes = 0 where key = '"c"'`);
      db.exec(`update owners set key = '"e"' where key = '"d"'`);
    });
    for (const owner of ['a', 'c', 'e']) expect(() => data.notes.counter(owner), owner).toThrow('is damaged');
    await expect(data.notes.increment('a', 1)).rejects.toMatchObject({ code: 'damaged' });
    expect(await data.notes.increment('b', 1)).toBe(2);
    const heard: string[] = [];
    data.notes.watch(({ owner }) => heard.push(owner));
    await data.notes.increment('b', 1);
    expect(heard).toEqual(['b']);
  });

  test('in a tag does not bring a note into the wrong list', async () => {
    const data = await open();
    await data.notes.add(me, { content: 'x', tags: ['one'] });
    await tamper((db) => db.exec(`update note_tags set tag = '"two"'`));
    expect(() => data.notes.list(me, { ...all, tags: ['two'] })).toThrow('a tag of note 1');
  });

  test('in a record or in the end of a revocation is reported, and the revocation is not swept away', async () => {
    const data = await open();
    await data.records('worker').set('w', { pid: 1 });
    await data.records('worker').set('v', { pid: 2 });
    await data.expiring.add('revoked', true, 60_000);
    await tamper((db) => {
      db.exec(`update records set value = '{"pid":3}' where key = '"w"'`);
      db.exec(`update expiring set expires = 5`);
    });
    expect(() => data.records('worker').get('w')).toThrow('the worker record "w"');
    expect(await data.records('worker').get('v')).toEqual({ pid: 2 });
    await data.expiring.set('other', 1, 60_000);
    expect(() => data.expiring.get('revoked')).toThrow('is damaged');
    await expect(data.expiring.add('revoked', true, 60_000)).rejects.toMatchObject({ code: 'damaged' });
    expect(await data.expiring.get('other')).toBe(1);
  });

  test.each(['notes', 'note_tags', 'owners', 'records', 'expiring'])(
    'in %s keeps the last good copy from being replaced',
    async (table) => {
      await (await fill(3)).close();
      const data = await open({ backups: { everyMs: -1 } });
      await data.records('worker').set('w', 1);
      await data.expiring.set('s', 1, 60_000);
      expect(await data.refreshBackup()).toBe(true);
      const good = readFileSync(join(folder, 'mooring.copy.db'));
      await tamper((db) => db.exec(`update ${table} set checksum = checksum + 1`));
      await expect(data.refreshBackup()).rejects.toThrow(`a row of table ${table}`);
      // A damaged note is told to its reader; anything else could hide what is there, so the store is not opened.
      if (table !== 'notes') await expect(openDataFolder(folder)).rejects.toMatchObject({ code: 'damaged' });
      expect(readFileSync(join(folder, 'mooring.copy.db')).equals(good)).toBe(true);
    },
  );

  test('anywhere in the file is never served: each of many flips is an error or changes nothing', async () => {
    const notes = await fill(40);
    const expected = await contents(notes);
    await notes.notes.increment(me, 7);
    await notes.close();
    const whole = readFileSync(file());
    for (let n = 0; n < flips; n++) {
      const flipped = Buffer.from(whole);
      const at = randomInt(whole.length);
      flipped[at] = (flipped[at] as number) ^ (1 << randomInt(8));
      for (const end of ['-wal', '-shm']) rmSync(file() + end, { force: true });
      writeFileSync(file(), flipped);
      let seen: unknown;
      let counter: unknown;
      try {
        const data = await open();
        seen = await contents(data);
        counter = await data.notes.counter(me);
        await data.close();
      } catch {
        continue;
      }
      expect(seen, `byte ${at}`).toEqual(expected);
      expect(counter, `byte ${at}`).toBe(7);
    }
  });
});

test('a caller whose first note is rejected is not taken for damaged afterwards', async () => {
  const data = await open({ maxBytesPerCaller: 1_000 });
  await expect(data.notes.add(me, { content: 'x'.repeat(2_000), tags: [] })).rejects.toMatchObject({ code: 'limit' });
  expect(await data.notes.counter(me)).toBe(0);
  await data.notes.add(me, { content: 'small', tags: [] });
  expect(await contents(data)).toEqual(['small']);
});

test('the checksum of a list grows with each note, and is found again after one was deleted', async () => {
  const notes = ['{"a":1}', '{"b":"ż🌍"}', '', '{"c":"\\ud800"}'];
  let sum = { listBytes: 0, listChecksum: 0 as number | undefined };
  const list: string[] = [];
  for (const note of notes) {
    sum = prependToList(note, sum);
    list.unshift(note);
    expect(sum.listChecksum).toBe(listChecksum(list.join(',')));
    expect(sum.listBytes).toBe(Buffer.byteLength(list.join(',')) + 1);
  }
  const data = await fill(10);
  await data.notes.delete(me, '4');
  expect(await contents(data)).toHaveLength(9);
  await data.notes.add(me, { content: 'after', tags: [] });
  expect(await contents(data)).toHaveLength(10);
  const checksum = async (): Promise<unknown> => {
    let found: unknown;
    await tamper((db) => (found = db.prepare('select list_checksum from owners').get()?.['list_checksum']));
    return found;
  };
  expect(await checksum()).not.toBeNull();
  expect(await contents(data)).toHaveLength(10);
  expect(existsSync(`${file()}-marker`)).toBe(true);
});
