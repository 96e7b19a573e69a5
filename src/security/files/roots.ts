// The configured roots: directories, or single files, that a tree may show. Finds the root a path belongs to, by
// whole names and never by text prefix, so that `/srv/data-evil` is not part of `/srv/data`.

import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoText } from '../../common/errno-text.ts';
import { fileErrors } from './errors.ts';
import { pathOf, segmentsOf } from './locator.ts';

/** One configured directory or file. */
export interface ConfiguredRoot {
  readonly kind: 'directory' | 'file';
  /** As configured, made absolute: what callers see. */
  readonly path: string;
  readonly given: readonly string[];
  /** Where it really is; for a file root, where its directory really is. */
  readonly realDirectory: string;
  readonly real: readonly string[];
  /** The name of a file root in its directory. */
  readonly fileName?: string;
}

/** Names below a root. A file root has none but its own. */
export interface RootedPath {
  readonly root: ConfiguredRoot;
  readonly segments: readonly string[];
}

/** Resolves one configured root. It must exist: a mistyped root is reported, not treated as an empty tree. */
export function openRoot(configured: string): ConfiguredRoot {
  if (configured === '') throw fileErrors.badRoot(configured, 'the path is empty');
  const path = resolve(configured);
  try {
    const realPath = realpathSync.native(path);
    const stats = statSync(realPath);
    const real = segmentsOf(realPath);
    const given = segmentsOf(path);
    if (stats.isDirectory()) return { kind: 'directory', path, given, realDirectory: realPath, real };
    if (stats.isFile()) {
      const fileName = real.at(-1) as string;
      return { kind: 'file', path, given, realDirectory: pathOf(real.slice(0, -1)), real, fileName };
    }
  } catch (error) {
    throw fileErrors.badRoot(configured, errnoText(error, 'folder') ?? 'it cannot be opened', error);
  }
  throw fileErrors.badRoot(configured, 'it is neither a directory nor an ordinary file');
}

const startsWith = (names: readonly string[], prefix: readonly string[]): boolean =>
  prefix.length <= names.length && prefix.every((name, index) => name === names[index]);

/** The innermost root that holds these absolute names, either as configured or as they really are. */
export function findRootedPath(roots: readonly ConfiguredRoot[], names: readonly string[]): RootedPath | undefined {
  let best: RootedPath | undefined;
  let bestLength = -1;
  for (const root of roots) {
    for (const prefix of [root.given, root.real]) {
      if (prefix.length <= bestLength || !startsWith(names, prefix)) continue;
      const segments = names.slice(prefix.length);
      if (root.kind === 'file' && segments.length > 0) continue;
      best = { root, segments };
      bestLength = prefix.length;
    }
  }
  return best;
}

/** What callers see: the configured root and the names below it. */
export const visiblePath = (rootedPath: RootedPath): string =>
  rootedPath.segments.length === 0 ? rootedPath.root.path : pathOf([...rootedPath.root.given, ...rootedPath.segments]);
