// Reads a file that a flag, a variable or a setting names.

import { readFileSync } from 'node:fs';
import { decodeText } from '../../common/decode-text.ts';
import { reasonText } from '../../common/errno-text.ts';
import { UsageError } from '../usage-error.ts';

/** Throws a `UsageError` that names `setting`, the file and the reason if it cannot be read. */
export function readFileOf(setting: string, file: string): string {
  try {
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new UsageError(`${setting}: ${file} cannot be read: ${reasonText(error, 'file')}`);
  }
}
