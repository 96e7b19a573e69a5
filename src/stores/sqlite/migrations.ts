// The schema of the database, as numbered steps. A step that has shipped is never changed; a new one is added.

import { addChecksums } from './checksum.ts';
import type { SqliteConnection } from './driver.ts';
import { newerError } from './errors.ts';

/** Step n takes a database from `user_version` n - 1 to n. */
const steps: readonly (string | ((db: SqliteConnection) => void))[] = [
  // 1: notes and counters. Texts of clients are kept as JSON: SQLite text can hold neither NUL nor half a surrogate pair.
  `create table owners (
     number     integer primary key,
     key        text not null unique,
     last_note  integer not null default 0,
     characters integer not null default 0,
     counter    integer not null default 0,
     changed    integer not null default 0
   ) strict;
   create index owners_by_change on owners (changed);
   create table notes (
     owner  integer not null references owners (number),
     id     integer not null,
     note   text not null,
     primary key (owner, id)
   ) strict, without rowid;
   create table note_tags (
     owner  integer not null,
     tag    text not null,
     note   integer not null,
     primary key (owner, tag, note)
   ) strict, without rowid;`,
  // 2: small JSON values by kind and key: the registry of workers and its like.
  `create table records (
     kind   text not null,
     key    text not null,
     value  text not null,
     primary key (kind, key)
   ) strict, without rowid;`,
  // 3: values that expire: revoked sessions, single-use marks, journals.
  `create table expiring (
     key      text primary key,
     value    text not null,
     expires  integer not null
   ) strict, without rowid;
   create index expiring_by_time on expiring (expires);`,
  // 4: notes can be deleted, so they are counted, in bytes as well; and every row has a checksum.
  (db) => {
    db.exec(`
      alter table owners add column notes integer not null default 0;
      alter table owners add column bytes integer not null default 0;
      alter table owners add column list_bytes integer not null default 0;
      alter table owners add column list_checksum integer;
      update owners set
        notes = (select count(*) from notes where owner = owners.number),
        bytes = (select coalesce(sum(length(cast(note as blob))), 0) from notes where owner = owners.number)
              + (select coalesce(sum(length(cast(tag as blob))), 0) from note_tags where owner = owners.number),
        list_bytes = (select coalesce(sum(length(cast(note as blob)) + 1), 0) from notes where owner = owners.number);
      alter table owners add column checksum integer not null default 0;
      alter table notes add column checksum integer not null default 0;
      alter table note_tags add column checksum integer not null default 0;
      alter table records add column checksum integer not null default 0;
      alter table expiring add column checksum integer not null default 0;`);
    addChecksums(db);
  },
  // 5: tasks. A change of a task takes the next number of `task_changes`, so that other processes find what is new.
  `create table tasks (
     number       integer primary key,
     id           text not null unique,
     service      text not null,
     owner        text not null,
     tool         text not null,
     dedupe       text,
     phase        text not null,
     created      integer not null,
     updated      integer not null,
     expires      integer,
     due          integer,
     holder       text,
     lease_until  integer,
     version      integer not null,
     fence        integer not null,
     state        text not null,
     bytes        integer not null default 0,
     changed      integer not null,
     checksum     integer not null
   ) strict;
   create index tasks_by_owner on tasks (owner, number);
   create index tasks_by_due on tasks (due) where due is not null;
   create index tasks_by_expiry on tasks (expires) where expires is not null;
   create index tasks_by_change on tasks (changed);
   create index tasks_by_dedupe on tasks (dedupe) where dedupe is not null;
   create table task_parts (
     task      integer not null references tasks (number) on delete cascade,
     kind      text not null,
     position  integer not null,
     value     text not null,
     checksum  integer not null,
     primary key (task, kind, position)
   ) strict, without rowid;
   create table task_counts (
     owner   text primary key,
     active  integer not null,
     kept    integer not null
   ) strict, without rowid;
   create table task_changes (last integer not null) strict;
   insert into task_changes values (0);`,
];

export const schemaVersion = steps.length;

export function versionOf(db: SqliteConnection): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version'] ?? 0);
}

/**
 * Brings a database up to date in one transaction; the caller waits for another process that does the same. Tests
 * stop at an earlier version.
 */
export function migrate(db: SqliteConnection, file: string, to = schemaVersion): void {
  if (versionOf(db) === to) return;
  db.exec('begin immediate');
  try {
    const version = versionOf(db);
    if (version > schemaVersion) throw newerError(file);
    for (const step of steps.slice(version, to)) {
      if (typeof step === 'string') db.exec(step);
      else step(db);
    }
    db.exec(`pragma user_version = ${to}`);
    db.exec('commit');
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

/** Ends a failed transaction, unless SQLite has done so itself. */
export function rollBack(db: SqliteConnection): void {
  try {
    db.exec('rollback');
  } catch {
    // A full disk or an I/O error may have rolled back already; then there is nothing to end.
  }
}
