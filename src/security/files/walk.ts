// Walks from a root to a file, name by name, and follows a symbolic link only by hand and only to places inside the
// roots. Because every step starts from an object already held, a rename by others meanwhile cannot lead it out.

import { readlinkSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileErrors } from './errors.ts';
import type { FileLimits } from './limits.ts';
import { segmentsOf } from './locator.ts';
import type { OwnFiles } from './own-files.ts';
import type { PathAccess, PathHandle } from './path-access.ts';
import { type ConfiguredRoot, findRootedPath, type RootedPath } from './roots.ts';

/** What a walk needs to know about the tree it walks in. */
export interface WalkContext {
  readonly access: PathAccess;
  readonly roots: readonly ConfiguredRoot[];
  readonly limits: FileLimits;
  /** What no tree shows. */
  readonly own: OwnFiles | undefined;
}

/** Opens a path, step by step. The caller closes the handle. Throws `FILE_NOT_FOUND` or the system's own error. */
export function walk(
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
  links: 'follow' | 'reject',
): PathHandle {
  const { access, limits } = context;
  const start = begin(context, rootedPath, requestedPath);
  const trail: PathHandle[] = [start.handle];
  let pending = start.names;
  let root = rootedPath.root;
  let hops = 0;
  try {
    while (pending.length > 0) {
      const name = pending.pop() as string;
      const here = trail.at(-1) as PathHandle;
      if (name === '..') {
        // Only a link's target can say this. We go back to the directory we came from and never ask the disk for
        // "..", which would answer with the new parent if the directory has been moved out of the root.
        if (trail.length === 1) throw fileErrors.notFound(requestedPath, 'outside');
        trail.pop()?.close();
        continue;
      }
      if (!here.stats.isDirectory()) throw fileErrors.notFound(requestedPath, 'missing');
      if (trail.length > limits.maxDepth) throw fileErrors.notFound(requestedPath, 'too-deep');
      const next = access.step(here, name);
      if (context.own?.includes(here.stats, name, next.stats)) {
        next.close();
        throw fileErrors.notFound(requestedPath, 'own');
      }
      if (!next.stats.isSymbolicLink()) {
        trail.push(next);
        continue;
      }
      next.close();
      // A file root shows one file and not its neighbours: no link may lead from it to them.
      if (links === 'reject' || root.kind === 'file' || ++hops > limits.maxLinkHops) {
        throw fileErrors.notFound(requestedPath, 'link');
      }
      const target = readlinkSync(`${here.path}/${name}`);
      const names = segmentsOf(target).filter((part) => part !== '.');
      if (isAbsolute(target)) {
        const inside = names.includes('..') ? undefined : findRootedPath(context.roots, names);
        if (inside === undefined) throw fileErrors.notFound(requestedPath, 'outside');
        root = inside.root;
        const again = begin(context, inside, requestedPath);
        for (const handle of trail.splice(0, trail.length, again.handle)) handle.close();
        pending = [...pending, ...again.names];
      } else {
        pending.push(...names.reverse());
      }
      if (pending.length > limits.maxDepth * 2) throw fileErrors.notFound(requestedPath, 'too-deep');
    }
    return trail.pop() as PathHandle;
  } finally {
    for (const handle of trail) handle.close();
  }
}

/** Holds the directory of a root; `names` are those still to walk, last first. */
function begin(
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
): { handle: PathHandle; names: string[] } {
  const handle = context.access.enter(rootedPath.root.realDirectory);
  if (handle === undefined) throw fileErrors.notFound(requestedPath, 'moved');
  const names = rootedPath.root.fileName === undefined ? [...rootedPath.segments] : [rootedPath.root.fileName];
  return { handle, names: names.reverse() };
}
