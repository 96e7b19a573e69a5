// Editing a text file by exact replacement, and the unified diff that shows what was changed. Pure text: reading and
// writing are in tree.ts.

import { fileErrors } from './errors.ts';

/** One replacement. `oldText` must occur exactly once, unless all occurrences are to be replaced. */
export interface TextEdit {
  /** The text to replace, exactly as it is in the file. */
  readonly oldText: string;
  /** The text to put there. */
  readonly newText: string;
  /** Replace every occurrence. Default false: there must be exactly one. */
  readonly replaceAll?: boolean;
}

/** Replacements in the given order, or a function from the old text to the new one. */
export type Edits = readonly TextEdit[] | ((text: string) => string);

/** How a file is edited. */
export interface EditOptions {
  /** Only returns the diff. */
  readonly dryRun?: boolean;
  /** Stops before the file is replaced. */
  readonly signal?: AbortSignal;
}

/** What an edit changed. */
export interface EditResult {
  /** A unified diff; empty when nothing changes. */
  readonly diff: string;
  /** Whether the new text differs from the old one. */
  readonly changed: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a file that is to be edited. Anything but UTF-8 would be damaged when it is written back. */
export function decodeText(bytes: Uint8Array, requestedPath: string): string {
  try {
    if (!bytes.includes(0)) return utf8.decode(bytes);
  } catch {
    // Not UTF-8: the same error as for other binary files.
  }
  throw fileErrors.badEdit(requestedPath, 'Only text files in UTF-8 can be edited');
}

/** The text after the edits. */
export function applyEdits(text: string, edits: Edits, requestedPath: string): string {
  if (typeof edits === 'function') return edits(text);
  // Models write \n. In a file with Windows line breaks, the same lines have \r\n, and the new ones get them as well.
  const isWindows = text.includes('\r\n');
  const adapt = (part: string): string => (isWindows ? part.replace(/\r?\n/g, '\r\n') : part);
  return edits.reduce(
    (current, edit, index) => replace(current, edit, adapt, `Edit ${index + 1}`, requestedPath),
    text,
  );
}

function replace(
  text: string,
  { oldText, newText, replaceAll = false }: TextEdit,
  adapt: (part: string) => string,
  label: string,
  requestedPath: string,
): string {
  if (oldText === '') throw fileErrors.badEdit(requestedPath, `${label}: oldText is empty`);
  const old = adapt(oldText);
  const parts = text.split(old);
  const count = parts.length - 1;
  if (count === 0)
    throw fileErrors.badEdit(
      requestedPath,
      `${label}: oldText was not found. Read the file again and copy the text exactly, with its white space`,
    );
  if (count > 1 && !replaceAll)
    throw fileErrors.badEdit(
      requestedPath,
      `${label}: oldText occurs ${count} times. Add the lines around it until it is unique, or set replaceAll`,
    );
  return parts.join(adapt(newText));
}

/** Lines that differ, up to which the shortest diff is looked for: the time grows with the square of it. */
const maxEditLength = 2000;
/** Lines of a text up to which it is looked for, and for how long: stops one edit of a large file from blocking all callers. */
const maxDiffLines = 100_000;
const maxDiffMs = 100;
/** Characters of either version in a diff that is not the shortest: the rest is left out. */
const maxHunkChars = 500_000;

/** A unified diff of two versions of a text. The library is loaded with the first edit. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string> {
  if (before === after) return '';
  const { createTwoFilesPatch, formatPatch } = await import('diff');
  const [oldText, newText] = [before, after].map((text) => text.replaceAll('\r\n', '\n')) as [string, string];
  const options = { maxEditLength, timeout: maxDiffMs };
  const shortest =
    countLines(oldText) + countLines(newText) > maxDiffLines * 2
      ? undefined
      : createTwoFilesPatch(path, path, oldText, newText, 'original', 'modified', options);
  if (shortest !== undefined) return shortest;
  const names = { oldFileName: path, newFileName: path, oldHeader: 'original', newHeader: 'modified' };
  return formatPatch({ ...names, index: undefined, hunks: [oneHunk(oldText, newText)] });
}

function countLines(text: string, end = text.length): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** Everything between the first and the last line that differ, as one change. */
function oneHunk(oldText: string, newText: string) {
  const shorter = Math.min(oldText.length, newText.length);
  let same = 0;
  while (same < shorter && oldText.charCodeAt(same) === newText.charCodeAt(same)) same++;
  const start = same === 0 ? 0 : oldText.lastIndexOf('\n', same - 1) + 1;
  let end = 0;
  while (
    end < shorter - start &&
    oldText.charCodeAt(oldText.length - 1 - end) === newText.charCodeAt(newText.length - 1 - end)
  )
    end++;
  // The last lines that are the same, with the line break before them.
  const lineEnd = oldText.indexOf('\n', oldText.length - end);
  const rest = lineEnd === -1 ? 0 : oldText.length - lineEnd;
  const removed = linesOf(oldText.slice(start, oldText.length - rest));
  const added = linesOf(newText.slice(start, newText.length - rest));
  const line = countLines(oldText, start);
  return {
    oldStart: line,
    oldLines: removed.length,
    newStart: line,
    newLines: added.length,
    lines: [...removed.map((text) => `-${text}`), ...added.map((text) => `+${text}`)],
  };
}

const linesOf = (text: string): string[] => text.slice(0, maxHunkChars).split('\n');
