// Tells when the files of a folder have changed, once things are quiet again.

import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Editors write in several steps; a change is told when none followed for this long. */
const quietMs = 200;
/** A folder with more folders than this is no plugin that someone works on. */
const maxFolders = 256;

/** Watches a folder and those in it, packages and hidden ones left out. The result ends it. */
export function watchFolder(folder: string, changed: () => void): () => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const stop = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const look = (): void => {
    stop();
    watchers = foldersOf(folder).flatMap((each) => {
      try {
        const watcher = watch(each, { persistent: false }, notice);
        // A folder that vanished while being watched; its parent tells the rest.
        watcher.on('error', () => watcher.close());
        return [watcher];
      } catch {
        return []; // Gone since it was listed.
      }
    });
  };
  const notice = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (over) return;
      look();
      changed();
    }, quietMs);
    timer.unref();
  };
  look();
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
      // Gone or closed to us since it was listed: there is nothing to watch.
    }
  }
  return found.slice(0, maxFolders);
}
