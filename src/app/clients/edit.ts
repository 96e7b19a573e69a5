// Adds an entry to a client's file, or removes it. The rest of the file stays unchanged, a backup with the date is written
// beside it, and a file that cannot be parsed is not changed.

import { isUtf8 } from 'node:buffer';
import {
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { reasonText } from '../../common/errno-text.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { makeFolder } from '../make-folder.ts';
import { dataOf, JsoncError, parseJsonc, positionOf } from '../text/jsonc.ts';
import { memberAt, NotAnObject, removeMember, setMember } from '../text/jsonc-edit.ts';
import { TomlError, tomlData } from '../text/toml.ts';
import { hasTable, removeTable, setTable, TomlShape, tableAt } from '../text/toml-edit.ts';
import { UsageError } from '../usage-error.ts';
import { cannotWrite } from '../write-file.ts';
import type { ClientRow } from './clients.ts';

export type EntryChange = 'created' | 'added' | 'changed' | 'removed' | 'unchanged';

type WrittenEntry = JsonObject;

export interface Edited {
  readonly change: EntryChange;
  readonly file: string;
  readonly backup: string | undefined;
}

/**
 * The text a file would have with this entry. Keys that the user added to the entry stay, as do variables in `env` and
 * headers that are not given again.
 */
export function withEntry(row: ClientRow, file: string, text: string, name: string, entry: WrittenEntry): string {
  return parseOrFail(file, text, () => {
    const path = [...sectionFor(row, text), name];
    if (row.format === 'toml') return setTable(text, path, mergeEntry(tableAt(tomlData(text), path), entry));
    const old = memberAt(text, path);
    if (!isObject(old)) return setMember(text, path, entry);
    const merged = mergeEntry(old, entry);
    // Key by key, so that comments and the order inside the entry stay.
    let next = text;
    for (const key of Object.keys(old)) if (!(key in merged)) next = removeMember(next, [...path, key]) ?? next;
    for (const [key, value] of Object.entries(merged)) next = setMember(next, [...path, key], value);
    return next;
  });
}

/** Keys that only make sense for a server that is started, and for one that is connected to. */
const commandKeys = ['command', 'args', 'env', 'environment', 'env_vars', 'cwd'];
const urlKeys = ['url', 'httpUrl', 'serverUrl', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'];

/** The new entry, and what the user added to the old one. */
function mergeEntry(old: WrittenEntry | undefined, entry: WrittenEntry): WrittenEntry {
  if (old === undefined) return entry;
  const [same, other] = 'command' in entry ? [commandKeys, urlKeys] : [urlKeys, commandKeys];
  const switched = other.some((key) => key in old) && !same.some((key) => key in old);
  const drop = [...other, ...(switched ? ['type', 'transport'] : [])];
  const merged: Record<string, unknown> = Object.fromEntries(
    Object.entries(old).filter(([key]) => !drop.includes(key)),
  );
  for (const [key, value] of Object.entries(entry)) {
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
  }
  return merged;
}

/** Whether a file has an entry of this name. */
export function hasEntry(row: ClientRow, file: string, name: string): boolean {
  const text = readText(file);
  if (text === undefined) return false;
  return parseOrFail(file, text, () =>
    row.format === 'toml'
      ? hasTable(text, [...sectionFor(row, text), name])
      : memberAt(text, [...sectionFor(row, text), name]) !== undefined,
  );
}

/** Adds or updates an entry. */
export function install(row: ClientRow, file: string, name: string, entry: WrittenEntry): Edited {
  const text = readText(file);
  const known = text !== undefined && hasEntry(row, file, name);
  const next = withEntry(row, file, text ?? '', name, entry);
  if (next === text) return { change: 'unchanged', file, backup: undefined };
  const backup = write(file, next);
  return { change: text === undefined ? 'created' : known ? 'changed' : 'added', file, backup };
}

/** Removes entries and adds another in their place, as one change with one backup. */
export function replaceEntries(
  row: ClientRow,
  file: string,
  removed: readonly string[],
  name: string,
  entry: WrittenEntry,
): Edited {
  const text = readText(file) ?? '';
  const without = removed.reduce((each, old) => withoutEntry(row, file, each, old) ?? each, text);
  const next = withEntry(row, file, without, name, entry);
  if (next === text) return { change: 'unchanged', file, backup: undefined };
  return { change: 'changed', file, backup: write(file, next) };
}

/** The text without an entry; undefined if it has none of that name. */
function withoutEntry(row: ClientRow, file: string, text: string, name: string): string | undefined {
  return parseOrFail(file, text, () =>
    row.format === 'toml'
      ? removeTable(text, [...sectionFor(row, text), name])
      : removeMember(text, [...sectionFor(row, text), name]),
  );
}

/** Removes an entry. */
export function uninstall(row: ClientRow, file: string, name: string): Edited {
  const text = readText(file);
  const next = text === undefined ? undefined : withoutEntry(row, file, text, name);
  if (next === undefined) return { change: 'unchanged', file, backup: undefined };
  return { change: 'removed', file, backup: write(file, next) };
}

/** Where the servers are in this text. */
function sectionFor(row: ClientRow, text: string): readonly string[] {
  if (row.sectionIn === undefined || text.trim() === '') return row.section;
  return row.sectionIn(dataOf(parseJsonc(text)));
}

/** The text of a file; undefined if there is none. Throws if the file could not be written again without a loss. */
export function readText(file: string): string | undefined {
  const unchanged = (why: string): UsageError => new UsageError(`${file}: ${why}. Nothing was changed`);
  let bytes: Buffer;
  try {
    const link = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined && link) throw unchanged('this is a symbolic link to a file that does not exist');
    if (found === undefined) return undefined;
    if (!found.isFile() && !found.isDirectory()) throw unchanged('this is not a regular file');
    bytes = readFileSync(file);
  } catch (error) {
    throw error instanceof UsageError ? error : unchanged(`the file cannot be read: ${reasonText(error, 'file')}`);
  }
  if (!isUtf8(bytes)) throw unchanged('the file is not encoded in UTF-8');
  return bytes.toString();
}

function parseOrFail<T>(file: string, text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof JsoncError || error instanceof TomlError) {
      const { line, column } = positionOf(text, error.offset);
      throw new UsageError(
        `${file}:${line}:${column}: ${error.message}. Nothing was changed. Correct the file and try again`,
      );
    }
    if (error instanceof NotAnObject || error instanceof TomlShape) {
      throw new UsageError(
        `${file}: ${error.message}, so the file was not changed. Add the entry by hand: --print shows it`,
      );
    }
    throw error;
  }
}

/** Written atomically: a client that reads meanwhile sees the old file or the new one. */
function write(file: string, text: string): string | undefined {
  try {
    return replace(file, text);
  } catch (error) {
    throw cannotWrite(file, error, 'Nothing was changed. Check the file and its folder');
  }
}

function replace(file: string, text: string): string | undefined {
  makeFolder(dirname(file), 0o777);
  // The file may be a symbolic link, for example into a dotfiles repository; the target of the link is changed.
  const target = existsSync(file) ? realpathSync(file) : file;
  const old = statSync(target, { throwIfNoEntry: false });
  // Renaming would replace it all the same, and its owner has said that it must not change.
  if (old !== undefined && (old.mode & 0o222) === 0) throw new Error('it is read-only');
  const backup = old === undefined ? undefined : backUp(target);
  const fresh = `${target}.mooring-${process.pid}`;
  try {
    writeFileSync(fresh, text, { mode: old === undefined ? 0o600 : old.mode & 0o777, flag: 'wx' });
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
  return backup;
}

/** Copies a file to a name with the date, beside it; an earlier backup is never overwritten. */
function backUp(target: string): string {
  const date = new Date().toISOString().replace(/[-:]/g, '').slice(0, 15);
  for (let i = 1; ; i++) {
    const backup = `${target}.${date}${i === 1 ? '' : `-${i}`}.mooring-backup`;
    try {
      copyFileSync(target, backup, constants.COPYFILE_EXCL);
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
