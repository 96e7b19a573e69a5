// Reports changes of the files in a folder, after a short quiet period.

import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write in several steps; a change is reported after this long without another one. */
const quietMs = 200;
/** Limits the watchers for a very large folder tree. */
const maxFolders = 256;

/** Watches a folder and its subfolders, except for node_modules and hidden ones. The returned function stops it. */
export function watchFolder(folder: string, changed: () => void): () => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const stop = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const scan = (): void => {
    stop();
    watchers = foldersOf(folder).flatMap((each) => {
      try {
        const watcher = watch(each, { persistent: false }, notice);
        // The folder was deleted; the watcher of its parent reports that.
        watcher.on('error', () => watcher.close());
        return [watcher];
      } catch {
        return []; // Deleted since it was listed.
      }
    });
  };
  const notice = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (over) return;
      scan();
      changed();
    }, quietMs);
    timer.unref();
  };
  scan();
  return () => {
    over = true;
    clearTimeout(timer);
    stop();
  };
}

function foldersOf(root: string): string[] {
  const found = [root];
  for (let i = 0; i < found.length && found.length < maxFolders; i++) {
    try {
      for (const entry of readdirSync(found[i] as string, { withFileTypes: true })) {
        if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) {
          found.push(join(found[i] as string, entry.name));
        }
      }
    } catch {
      // Deleted or unreadable since it was listed: there is nothing to watch.
    }
  }
  return found.slice(0, maxFolders);
}
