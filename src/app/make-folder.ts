// Creates a folder and its missing parents. Node's own `recursive` option never returns below /proc before Node 22: it
// creates the parents, finds them still missing, and starts over.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { reasonText } from '../common/errno-text.ts';
import { UsageError } from './usage-error.ts';

/** Throws the error of the operating system if that fails. An existing folder stays unchanged. */
export function makeFolder(path: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  for (const each of missing.reverse()) makeOne(each, mode);
  // The path may be a file, or a broken symbolic link.
  if (!statSync(path).isDirectory()) {
    throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' });
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The same for a folder from the settings; `where` names the flag, variable or file that set it. */
export function requireFolder(path: string, where: string, mode?: number): void {
  try {
    makeFolder(path, mode);
  } catch (error) {
    const reason = isMissing(error) ? 'a folder cannot be created there' : reasonText(error, 'folder');
    throw new UsageError(`${where}: ${path} cannot be created: ${reason}`);
  }
}

/** The same for the data folder, which is created when something is stored. */
export function makeDataFolder(path: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    const reason = isMissing(error) ? 'a folder cannot be created there' : reasonText(error, 'folder');
    throw new UsageError(
      `The data folder ${path} cannot be created: ${reason}. Check the folders above it, or choose another one with --data`,
    );
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
