// Texts for callers without absolute paths: where things are on the machine of the server is not theirs to know.

/** Shown for what was left out. */
const mark = '…';

/**
 * Replaces absolute paths by their last part. `folders` are known ones, found also where their names have spaces; what
 * stands below them is kept. Addresses with a scheme stay as they are, apart from `file:`.
 */
export function hidePaths(text: string, folders: readonly string[] = []): string {
  let shown = text.replace(/file:\/\/(?=[/\\A-Za-z])/g, '');
  const known = folders.filter((folder) => folder.length > 1).sort((a, b) => b.length - a.length);
  for (const folder of known) shown = shown.replaceAll(folder, mark);
  return shown.replace(absolute, (path) => `${mark}/${path.split(/[/\\]/).at(-1) ?? ''}`);
}

/** From a slash, a drive or two backslashes that nothing of a path or an address precedes, to the next blank or quote. */
const absolute = /(?<![\w./\\:~…-])(?:[A-Za-z]:(?=[/\\])|\\(?=\\))?[/\\][^\s"'`<>|:;,()[\]{}]+/g;
