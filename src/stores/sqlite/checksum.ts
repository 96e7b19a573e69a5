// The checksum of every stored row, and the check of all rows. SQLite notices damage to its own structures,
// not a flipped byte in what they hold: without this, such a byte would be served as if a caller had written it.

import { crc32 } from 'node:zlib';
import type { SqliteConnection, SqlRow } from './driver.ts';

/** CRC-32 finds every damage of up to 32 bits in a row, and costs less than a microsecond for a short one. */
export function checksumOf(...values: readonly (string | number)[]): number {
  // Texts are JSON, which holds no raw line break, so different rows give different texts here.
  return crc32(values.join('\n'));
}

/** The checksum of a note. It covers the owner's key, so that damage cannot give a note to another owner. */
export function noteChecksum(ownerKey: string, note: unknown): number {
  // Damage to the header of a row can turn a text into something else.
  return typeof note === 'string' ? crc32(note, crc32(ownerKey)) : Number.NaN;
}

/** The index of the first note whose checksum does not match; -1 if all match. */
export function findDamagedNote(ownerKey: string, notes: readonly string[], checksums: readonly string[]): number {
  const begun = crc32(ownerKey);
  return notes.findIndex((note, index) => crc32(note, begun) !== Number(checksums[index]));
}

/** The checksum of all notes of an owner, joined by commas, newest first. */
export function listChecksum(joined: string): number {
  return crc32(',', crc32(joined));
}

/** The length of a list in UTF-8, with a comma after every note, and its checksum if it is known. */
export interface ListSum {
  readonly listBytes: number;
  readonly listChecksum: number | undefined;
}

/** The list with one more note in front; what is behind it is not read again. */
export function prependToList(note: string, { listBytes, listChecksum: behind }: ListSum): ListSum {
  const added = Buffer.byteLength(note) + 1;
  const front = crc32(',', crc32(note));
  return {
    listBytes: listBytes + added,
    listChecksum: behind === undefined ? undefined : (multiply(power(listBytes), front) ^ behind) >>> 0,
  };
}

// The CRC of two texts in a row follows from both and the length of the second: crc(ab) = crc(a) · x^(8·length(b)) +
// crc(b), with polynomials over GF(2) modulo the one of CRC-32, bits reversed. zlib calls this crc32_combine.
const polynomial = 0xedb88320;

function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** x^(8·bytes), by squaring. */
function power(bytes: number): number {
  let result = 0x80000000; // x^0
  let square = 0x00800000; // x^8
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(square, result);
    square = multiply(square, square);
  }
  return result;
}

/** The checksum of a row of `owners`. */
export function ownerChecksum(row: SqlRow): number {
  const { number, key, last_note, notes, characters, bytes, list_bytes, list_checksum, counter } = row;
  // Written out, since every call that stores a note or counter runs this.
  return crc32(
    `${number}\n${key}\n${last_note}\n${notes}\n${characters}\n${bytes}\n${list_bytes}\n${list_checksum}\n${counter}`,
  );
}

/** The checksum of a row of `tasks`, without `due` and `lease_until`, which are renewed for many rows together. */
export function taskChecksum(row: SqlRow): number {
  const { id, service, owner, tool, dedupe, phase, created, updated, expires, holder, version, fence, state } = row;
  return checksumOf(
    `${id}\n${service}\n${owner}\n${tool}\n${dedupe}\n${phase}\n${created}\n${updated}\n${expires}\n${holder}`,
    `${version}\n${fence}\n${state}`,
  );
}

/** The checksum of a row of `task_parts`. */
export function taskPartChecksum(row: SqlRow): number {
  const { task, kind, position, value } = row;
  return checksumOf(`${task}\n${kind}\n${position}`, String(value));
}

interface ChecksummedTable {
  readonly name: string;
  /** What identifies a row. */
  readonly key: readonly string[];
  /** The other columns that its checksum covers. */
  readonly columns: readonly string[];
  checksum(row: SqlRow): number;
  /** A damaged row affects one note or one task, which fails when it is read; the rest can be used. */
  readonly checkedWhenRead?: true;
}

const plain = (name: string, key: readonly string[], ...rest: readonly string[]): ChecksummedTable => ({
  name,
  key,
  columns: rest,
  checksum: (row) => checksumOf(...[...key, ...rest].map((column) => row[column] as string | number)),
});

/** The tables of versions without checksums, and how the checksum of a row is computed. */
const firstTables: readonly ChecksummedTable[] = [
  {
    name: 'owners',
    key: ['number'],
    columns: ['key', 'last_note', 'notes', 'characters', 'bytes', 'list_bytes', 'list_checksum', 'counter'],
    checksum: ownerChecksum,
  },
  {
    name: 'notes',
    key: ['owner', 'id'],
    columns: ['note', '(select key from owners where number = owner) as owner_key'],
    checksum: ({ owner_key, note }) => noteChecksum(String(owner_key), note),
    checkedWhenRead: true,
  },
  plain('note_tags', ['owner', 'tag', 'note']),
  plain('records', ['kind', 'key'], 'value'),
  plain('expiring', ['key'], 'value', 'expires'),
];

/** Every table. */
const tables: readonly ChecksummedTable[] = [
  ...firstTables,
  {
    name: 'tasks',
    key: ['number'],
    columns: [
      ...['id', 'service', 'owner', 'tool', 'dedupe', 'phase', 'created', 'updated', 'expires', 'holder'],
      ...['version', 'fence', 'state'],
    ],
    checksum: taskChecksum,
    checkedWhenRead: true,
  },
  {
    name: 'task_parts',
    key: ['task', 'kind', 'position'],
    columns: ['value'],
    checksum: taskPartChecksum,
    checkedWhenRead: true,
  },
];

/** Rows checked at a time: some milliseconds. */
const batchRows = 1_000;

function* batchesOf(db: SqliteConnection, { name, key, columns }: ChecksummedTable): Generator<readonly SqlRow[]> {
  const wanted = `select ${[...key, ...columns, 'checksum'].join(', ')} from ${name}`;
  const order = `order by ${key.join(', ')} limit ${batchRows}`;
  const next = db.prepare(`${wanted} where (${key.join(', ')}) > (${key.map(() => '?').join(', ')}) ${order}`);
  let rows = db.prepare(`${wanted} ${order}`).all();
  while (rows.length > 0) {
    yield rows;
    const last = rows.at(-1) as SqlRow;
    rows = next.all(...key.map((column) => last[column] as string | number));
  }
}

/** Gives every row its checksum, for databases of earlier versions. */
export function addChecksums(db: SqliteConnection): void {
  for (const table of firstTables) {
    const where = table.key.map((column) => `${column} = ?`).join(' and ');
    const update = db.prepare(`update ${table.name} set checksum = ? where ${where}`);
    for (const rows of batchesOf(db, table)) {
      for (const row of rows)
        update.run(table.checksum(row), ...table.key.map((column) => row[column] as string | number));
    }
  }
}

/**
 * The first row whose checksum does not match, described for a person; undefined when all do. Lets other work run meanwhile.
 * Notes and tasks may be left out: a damaged one is reported when it is read.
 */
export async function findDamagedRow(db: SqliteConnection, which: 'all' | 'shared rows'): Promise<string | undefined> {
  for (const table of tables) {
    if (which === 'shared rows' && table.checkedWhenRead) continue;
    for (const rows of batchesOf(db, table)) {
      const damaged = rows.find((row) => table.checksum(row) !== row['checksum']);
      if (damaged !== undefined) {
        return `a row of table ${table.name}, ${table.key.map((column) => `${column} ${damaged[column]}`).join(', ')}`;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return undefined;
}
