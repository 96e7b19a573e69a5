// Writes a file that the user has named, or that belongs to a client, and says why if that is not possible.

import { writeFileSync } from 'node:fs';
import { reasonText } from '../common/errno-text.ts';
import { UsageError } from './usage-error.ts';

/** Throws a `UsageError` with `remedy`, a sentence, if the file cannot be written. Other users cannot read it. */
export function writeOwnFile(file: string, text: string, remedy: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw cannotWrite(file, error, remedy);
  }
}

export function cannotWrite(file: string, error: unknown, remedy: string): UsageError {
  // A file that does not exist would be created, so it is its folder that is missing.
  return new UsageError(`${file} cannot be written: ${reasonText(error, 'folder')}. ${remedy}`);
}
