// Making, moving and removing names below the roots. Every change happens in a directory that is held open, links are
// never followed, and the server's own files stay where they are.

import { mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { existing, flushDirectory, inDirectoryOf } from './directory.ts';
import { errnoOf, fileErrors, fromSystem } from './errors.ts';
import { isPseudo, type PathHandle } from './path-access.ts';
import { requireOrdinary } from './read.ts';
import type { RootedPath } from './roots.ts';
import type { WalkContext } from './walk.ts';

/** A path as it was requested, and what it means. */
export interface ChangeTarget {
  readonly rootedPath: RootedPath;
  readonly path: string;
}

/** Makes a directory and those above it that are missing; returns whether one was made. */
export async function makeDirectory(
  context: WalkContext,
  { rootedPath, path }: ChangeTarget,
): Promise<{ created: boolean }> {
  const { access } = context;
  let created = false;
  let here: PathHandle | undefined;
  try {
    if (rootedPath.root.kind === 'file') throw fileErrors.wrongKind(path, 'directory');
    here = access.enter(rootedPath.root.realDirectory);
    if (here === undefined) throw fileErrors.notFound(path, 'moved');
    for (const name of rootedPath.segments) {
      const parent = here;
      const found = existing(`${parent.path}/${name}`);
      if (context.own?.includes(parent.stats, name, found)) throw fileErrors.notFound(path, 'own');
      if (found === undefined) {
        if (!context.limits.allowPseudoFiles && isPseudo(parent)) throw fileErrors.special(path, 'no files live here');
        if (!access.confirm(parent)) throw fileErrors.notFound(path, 'moved');
        makeOne(`${parent.path}/${name}`);
        created = true;
        await flushDirectory(parent.path);
      }
      here = access.step(parent, name);
      parent.close();
      if (here.stats.isSymbolicLink()) throw fileErrors.notFound(path, 'link');
      if (!here.stats.isDirectory()) throw fileErrors.wrongKind(path, 'directory');
    }
    return { created };
  } catch (error) {
    throw fromSystem(error, path);
  } finally {
    here?.close();
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error; // Made by another program meanwhile; the next step looks at it.
  }
}

/** Moves or renames a file or directory. Nothing is replaced. */
export async function move(context: WalkContext, source: ChangeTarget, destination: ChangeTarget): Promise<void> {
  const from = nameOf(source);
  const to = nameOf(destination);
  if (isInside(destination.rootedPath, source.rootedPath))
    throw fileErrors.badMove(destination.path, 'A directory cannot be moved into itself');
  await inDirectoryOf(context, source.rootedPath, source.path, (fromDirectory) =>
    inDirectoryOf(context, destination.rootedPath, destination.path, async (toDirectory) => {
      requireMovable(context, fromDirectory, from, source.path);
      const target = `${toDirectory.path}/${to}`;
      const occupied = existing(target);
      if (context.own?.includes(toDirectory.stats, to, occupied)) throw fileErrors.notFound(destination.path, 'own');
      if (occupied !== undefined) throw fileErrors.exists(destination.path);
      for (const directory of [fromDirectory, toDirectory])
        if (!context.access.confirm(directory)) throw fileErrors.notFound(source.path, 'moved');
      try {
        // Node has no rename that never replaces. Synchronous, so that no call of this server comes in between.
        renameSync(`${fromDirectory.path}/${from}`, target);
      } catch (error) {
        throw moveError(error, source.path, destination.path);
      }
      await flushDirectory(fromDirectory.path);
      await flushDirectory(toDirectory.path);
    }),
  );
}

function moveError(error: unknown, source: string, destination: string): unknown {
  const errno = errnoOf(error);
  if (errno === 'EXDEV')
    return fileErrors.badMove(
      destination,
      'The destination is on another file system. Write a copy there and delete the original',
    );
  if (errno === 'ENOTEMPTY' || errno === 'EEXIST') return fileErrors.exists(destination);
  return fromSystem(error, source);
}

/** Removes a file or an empty directory. */
export async function remove(context: WalkContext, target: ChangeTarget): Promise<{ kind: 'file' | 'directory' }> {
  const name = nameOf(target);
  return inDirectoryOf(context, target.rootedPath, target.path, async (directory) => {
    const kind = requireMovable(context, directory, name, target.path);
    if (!context.access.confirm(directory)) throw fileErrors.notFound(target.path, 'moved');
    try {
      (kind === 'file' ? unlinkSync : rmdirSync)(`${directory.path}/${name}`);
    } catch (error) {
      throw errnoOf(error) === 'ENOTEMPTY' ? fileErrors.notEmpty(target.path) : error;
    }
    await flushDirectory(directory.path);
    return { kind };
  });
}

/** The last name of a target; throws for a root, which is the operator's. */
function nameOf({ rootedPath, path }: ChangeTarget): string {
  const name = rootedPath.segments.at(-1);
  if (name === undefined) throw fileErrors.isRoot(path);
  return name;
}

/** Throws unless the name is an ordinary file, or a directory without own files in it. */
function requireMovable(context: WalkContext, directory: PathHandle, name: string, path: string): 'file' | 'directory' {
  let handle: PathHandle | undefined;
  try {
    handle = context.access.step(directory, name);
    const { stats } = handle;
    if (context.own?.includes(directory.stats, name, stats)) throw fileErrors.notFound(path, 'own');
    if (stats.isSymbolicLink()) throw fileErrors.special(path, 'this is a link');
    if (!stats.isDirectory()) {
      requireOrdinary(handle, path, context.limits);
      return 'file';
    }
    // Under another name they would no longer be recognised.
    if (context.own?.areBelow(stats)) throw fileErrors.notFound(path, 'own');
    return 'directory';
  } catch (error) {
    throw fromSystem(error, path);
  } finally {
    handle?.close();
  }
}

const isInside = (inner: RootedPath, outer: RootedPath): boolean => {
  const [below, above] = [inner, outer].map(({ root, segments }) => [...root.real, ...segments]) as [
    string[],
    string[],
  ];
  return below.length > above.length && above.every((name, index) => name === below[index]);
};
