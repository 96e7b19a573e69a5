// Adds an entry to a client's file, or removes it. The rest of the file stays unchanged, a backup is written beside it,
// and a file that cannot be parsed is not changed.

import {
  copyFileSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../make-folder.ts';
import { dataOf, JsoncError, parseJsonc, positionOf } from '../text/jsonc.ts';
import { memberAt, NotAnObject, removeMember, setMember } from '../text/jsonc-edit.ts';
import { TomlError } from '../text/toml.ts';
import { hasTable, removeTable, setTable, TomlShape } from '../text/toml-edit.ts';
import { UsageError } from '../usage-error.ts';
import type { ClientRow } from './clients.ts';

export type EditResult = 'created' | 'added' | 'changed' | 'removed' | 'unchanged';

export interface Edited {
  readonly change: EditResult;
  readonly file: string;
  readonly backup: string | undefined;
}

/** The text a file would have with this entry. */
export function withEntry(row: ClientRow, file: string, text: string, name: string, entry: object): string {
  return parseOrFail(file, text, () =>
    row.format === 'toml'
      ? setTable(text, [...sectionFor(row, text), name], entry as Record<string, string>)
      : setMember(text, [...sectionFor(row, text), name], entry),
  );
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
export function install(row: ClientRow, file: string, name: string, entry: object): Edited {
  const text = readText(file);
  const known = text !== undefined && hasEntry(row, file, name);
  const next = withEntry(row, file, text ?? '', name, entry);
  if (next === text) return { change: 'unchanged', file, backup: undefined };
  const backup = write(file, next);
  return { change: text === undefined ? 'created' : known ? 'changed' : 'added', file, backup };
}

/** Removes an entry. */
export function uninstall(row: ClientRow, file: string, name: string): Edited {
  const text = readText(file);
  const next =
    text === undefined
      ? undefined
      : parseOrFail(file, text, () =>
          row.format === 'toml'
            ? removeTable(text, [...sectionFor(row, text), name])
            : removeMember(text, [...sectionFor(row, text), name]),
        );
  if (next === undefined) return { change: 'unchanged', file, backup: undefined };
  return { change: 'removed', file, backup: write(file, next) };
}

/** Where the servers are in this text. */
function sectionFor(row: ClientRow, text: string): readonly string[] {
  if (row.sectionIn === undefined || text.trim() === '') return row.section;
  return row.sectionIn(dataOf(parseJsonc(text)));
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
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
  makeFolder(dirname(file), 0o777);
  // The file may be a symbolic link, for example into a dotfiles repository; the target of the link is changed.
  const target = existsSync(file) ? realpathSync(file) : file;
  const old = statSync(target, { throwIfNoEntry: false });
  const backup = old === undefined ? undefined : `${target}.mooring-backup`;
  if (backup !== undefined) copyFileSync(target, backup);
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
