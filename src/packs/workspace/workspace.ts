// Which folders a call may access: those the operator configured, narrowed to the client's roots. Both are opened by
// the same path resolver, so links that lead out of the narrower folders are denied as well.

import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '../../engine/context.ts';
import type { Root } from '../../protocol/model.ts';
import { type FileTree, openRoots, type TreeOptions } from '../../security/files/tree.ts';

/** What one call may access. `tree` is undefined when that is nothing. */
export interface AllowedFolders {
  readonly tree: FileTree | undefined;
  /** Its folders; what a sandboxed program can access. */
  readonly folders: readonly string[];
}

export interface WorkspaceOptions extends TreeOptions {
  /** Folders or single files that the operator opened. */
  readonly roots: readonly string[];
  /** `bound` (default): access stays inside the client's roots, if it has any. `ignore`: only `roots` decides. */
  readonly clientRoots?: 'bound' | 'ignore';
}

/** How many different sets of folders stay open; a client that keeps changing its roots reopens them. */
const maxAreas = 32;

/** Maximum number of client roots; further ones are ignored. */
const maxClientRoots = 64;

export class Workspace {
  /** Everything the operator opened; undefined when that is nothing. */
  readonly whole: FileTree | undefined;
  readonly #wholeArea: AllowedFolders;
  readonly #limits: TreeOptions;
  readonly #bound: boolean;
  readonly #areas = new Map<string, AllowedFolders>();

  constructor({ roots, clientRoots = 'bound', ...limits }: WorkspaceOptions) {
    this.#limits = limits;
    this.#bound = clientRoots === 'bound';
    this.whole = roots.length === 0 ? undefined : openRoots(roots, limits);
    this.#wholeArea = areaOf(this.whole);
  }

  /** The operator's folders. */
  get all(): AllowedFolders {
    return this.#wholeArea;
  }

  /** What this call may access. Requests the client's roots if it has any; the engine caches them for a session. */
  async of(ctx: Context): Promise<AllowedFolders> {
    if (!this.#bound || this.whole === undefined || !ctx.can('roots')) return this.#wholeArea;
    return this.within(await ctx.roots({ key: 'roots' }));
  }

  /** The part of the operator's folders inside the given roots. */
  async within(clientRoots: readonly Root[]): Promise<AllowedFolders> {
    const { whole } = this;
    if (whole === undefined) return this.#wholeArea;
    const paths = new Set<string>();
    for (const { uri } of clientRoots.slice(0, maxClientRoots)) {
      for (const path of await intersect(whole, uri)) paths.add(path);
    }
    if (whole.roots.every(({ path }) => paths.has(path))) return this.#wholeArea;
    const key = [...paths].sort().join('\0');
    let area = this.#areas.get(key);
    if (area === undefined) {
      area = areaOf(paths.size === 0 ? undefined : openRoots([...paths], this.#limits));
      if (this.#areas.size >= maxAreas) this.#areas.clear();
      this.#areas.set(key, area);
    }
    return area;
  }
}

function areaOf(tree: FileTree | undefined): AllowedFolders {
  return { tree, folders: tree?.roots.filter(({ kind }) => kind === 'directory').map(({ path }) => path) ?? [] };
}

/** A client root inside ours counts itself; if it contains ours, ours count. */
async function intersect(whole: FileTree, uri: string): Promise<string[]> {
  const path = pathOf(uri);
  if (path === undefined) return [];
  try {
    return [(await whole.stat(uri)).path];
  } catch {
    // Not inside ours, or missing: ours may be inside it.
    const above = path.endsWith(sep) ? path : path + sep;
    return whole.roots.flatMap((root) =>
      pathVariants(root.path).some((each) => each.startsWith(above)) ? [root.path] : [],
    );
  }
}

/** A root as configured and as resolved: clients may use either. */
function pathVariants(path: string): string[] {
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path]; // Deleted since the start; reading will report it.
  }
}

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined; // Not a file on this machine.
  }
}
