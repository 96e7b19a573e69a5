// Puts an entry into a client's file, or takes it out: the rest of the file stays as it is, a backup lies beside it, and
// a file that can not be understood is not touched.

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
import { Mistake } from '../mistake.ts';
import { JsoncError, positionOf } from '../text/jsonc.ts';
import { memberAt, NotAnObject, removeMember, setMember } from '../text/jsonc-edit.ts';
import { TomlError } from '../text/toml.ts';
import { hasTable, removeTable, setTable, TomlShape } from '../text/toml-edit.ts';
import type { ClientRow } from './clients.ts';

export type Change = 'created' | 'added' | 'changed' | 'removed' | 'unchanged';

export interface Edited {
  readonly change: Change;
  readonly file: string;
  readonly backup: string | undefined;
}

/** The text a file would have with this entry. */
export function withEntry(row: ClientRow, file: string, text: string, name: string, entry: object): string {
  return understood(file, text, () =>
    row.format === 'toml'
      ? setTable(text, [row.key, name], entry as Record<string, string>)
      : setMember(text, [row.key, name], entry),
  );
}

/** Whether a file has an entry of this name. */
export function hasEntry(row: ClientRow, file: string, name: string): boolean {
  const text = readText(file);
  if (text === undefined) return false;
  return understood(file, text, () =>
    row.format === 'toml' ? hasTable(text, [row.key, name]) : memberAt(text, [row.key, name]) !== undefined,
  );
}

/** Adds or renews an entry. */
export function install(row: ClientRow, file: string, name: string, entry: object): Edited {
  const text = readText(file);
  const known = text !== undefined && hasEntry(row, file, name);
  const next = withEntry(row, file, text ?? '', name, entry);
  if (next === text) return { change: 'unchanged', file, backup: undefined };
  const backup = write(file, next);
  return { change: text === undefined ? 'created' : known ? 'changed' : 'added', file, backup };
}

/** Takes an entry out. */
export function uninstall(row: ClientRow, file: string, name: string): Edited {
  const text = readText(file);
  const next =
    text === undefined
      ? undefined
      : understood(file, text, () =>
          row.format === 'toml' ? removeTable(text, [row.key, name]) : removeMember(text, [row.key, name]),
        );
  if (next === undefined) return { change: 'unchanged', file, backup: undefined };
  return { change: 'removed', file, backup: write(file, next) };
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function understood<T>(file: string, text: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof JsoncError || error instanceof TomlError) {
      const { line, column } = positionOf(text, error.offset);
      throw new Mistake(`${file}:${line}:${column}: ${error.message}. Mend the file first; nothing was changed`);
    }
    if (error instanceof NotAnObject || error instanceof TomlShape) {
      throw new Mistake(`${file}: ${error.message}, so it is not touched; --print shows the entry to put in by hand`);
    }
    throw error;
  }
}

/** Whole or not at all: a client that reads meanwhile sees the old file or the new one. */
function write(file: string, text: string): string | undefined {
  makeFolder(dirname(file), 0o777);
  // Settings are often links into a repository of dotfiles; what they point at is what changes.
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
