// Holding the directory that something is to be created, replaced or removed in. Links on the way are denied: a change
// happens where its path says.

import { type BigIntStats, close, constants, fsync, lstatSync, openSync } from 'node:fs';
import { nodeUtil } from '../../common/builtins.ts';
import { errnoOf, fileErrors, fromSystem } from './errors.ts';
import { isPseudo, type PathHandle } from './path-access.ts';
import type { ConfiguredRoot, RootedPath } from './roots.ts';
import { type WalkContext, walk } from './walk.ts';

const { promisify } = nodeUtil();
const fsyncAsync = promisify(fsync);
const closeAsync = promisify(close);
const { O_RDONLY, O_DIRECTORY = 0 } = constants;

/** Runs `use` with the directory that contains the path, and closes it afterwards. */
export async function inDirectoryOf<T>(
  context: WalkContext,
  rootedPath: RootedPath,
  target: string,
  use: (directory: PathHandle) => Promise<T>,
): Promise<T> {
  let directory: PathHandle | undefined;
  try {
    const parent: ConfiguredRoot = { ...rootedPath.root, kind: 'directory', fileName: undefined };
    directory = walk(context, { root: parent, segments: rootedPath.segments.slice(0, -1) }, target, 'reject');
    if (!directory.stats.isDirectory()) throw fileErrors.notFound(target, 'missing');
    if (!context.limits.allowPseudoFiles && isPseudo(directory)) throw fileErrors.special(target, 'no files live here');
    return await use(directory);
  } catch (error) {
    throw fromSystem(error, target);
  } finally {
    directory?.close();
  }
}

/** What a path names now, without following a link; undefined for nothing. */
export function existing(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes changed names survive a power cut. Windows cannot flush directories and needs no such thing. */
export async function flushDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const fd = openSync(path, O_RDONLY | O_DIRECTORY);
  try {
    await fsyncAsync(fd);
  } finally {
    await closeAsync(fd);
  }
}
