// Advice for a folder in the place of a profile or command: other servers of files take folders as arguments.

import { statSync } from 'node:fs';

/** A line that says how to offer the files of a folder; empty if the word does not name one. */
export function offerFolder(word: string): string {
  const isFolder = statSync(word, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? `\nTo offer the files in this folder: mooring serve --root ${word}` : '';
}
