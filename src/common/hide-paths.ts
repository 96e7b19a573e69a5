// Removes absolute paths from texts for callers: they must not learn the folder layout of the server's machine.

/** Shown in place of the removed part. */
const mark = '…';

/**
 * Replaces absolute paths by their last part. `folders` are known folders, which are found even if their names have
 * spaces; the path below them is kept. URLs stay unchanged, except for `file:`.
 */
export function hidePaths(text: string, folders: readonly string[] = []): string {
  let shown = text.replace(/file:\/\/(?=[/\\A-Za-z])/g, '');
  const known = folders.filter((folder) => folder.length > 1).sort((a, b) => b.length - a.length);
  for (const folder of known) shown = shown.replaceAll(folder, mark);
  return shown.replace(absolute, (path) => `${mark}/${path.split(/[/\\]/).at(-1) ?? ''}`);
}

/** A slash, drive or double backslash that is not inside a path or URL, up to the next blank or quote. */
const absolute = /(?<![\w./\\:~…-])(?:[A-Za-z]:(?=[/\\])|\\(?=\\))?[/\\][^\s"'`<>|:;,()[\]{}]+/g;
