// Which folders a call may touch: those the operator configured, narrowed to those the client works in. Both sides are
// opened by the one resolver of the project, so links that lead out of the narrower area are refused as well.

import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '../../engine/context.ts';
import type { Root } from '../../protocol/model.ts';
import { type FileTree, openRoots, type TreeOptions } from '../../security/files/tree.ts';

/** What one call may touch. `tree` is undefined when that is nothing. */
export interface Area {
  readonly tree: FileTree | undefined;
  /** Its folders; what a sandboxed program sees. */
  readonly folders: readonly string[];
}

export interface TerritoryOptions extends TreeOptions {
  /** Folders, or single files, that the operator opened. */
  readonly roots: readonly string[];
  /** `bound` (default): a client that has roots is kept inside them. `ignore`: the operator's word is enough. */
  readonly clientRoots?: 'bound' | 'ignore';
}

/** How many different areas are kept open; clients with ever new roots start over. */
const maxAreas = 32;

/** Names so many folders at most; a client that works in more is cut there. */
const maxClientRoots = 64;

export class Territory {
  /** Everything the operator opened; undefined when that is nothing. */
  readonly whole: FileTree | undefined;
  readonly #wholeArea: Area;
  readonly #limits: TreeOptions;
  readonly #bound: boolean;
  readonly #areas = new Map<string, Area>();

  constructor({ roots, clientRoots = 'bound', ...limits }: TerritoryOptions) {
    this.#limits = limits;
    this.#bound = clientRoots === 'bound';
    this.whole = roots.length === 0 ? undefined : openRoots(roots, limits);
    this.#wholeArea = areaOf(this.whole);
  }

  /** The operator's folders, as `Area`. */
  get all(): Area {
    return this.#wholeArea;
  }

  /** What this call may touch. Asks the client for its roots if it has any; the engine remembers them for a session. */
  async of(ctx: Context): Promise<Area> {
    if (!this.#bound || this.whole === undefined || !ctx.can('roots')) return this.#wholeArea;
    return this.within(await ctx.roots({ key: 'roots' }));
  }

  /** The part of the territory that lies in the given roots. */
  async within(clientRoots: readonly Root[]): Promise<Area> {
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

function areaOf(tree: FileTree | undefined): Area {
  return { tree, folders: tree?.roots.filter(({ kind }) => kind === 'directory').map(({ path }) => path) ?? [] };
}

/** A client's root that lies inside ours counts itself; of one that holds ours, ours count. */
async function intersect(whole: FileTree, uri: string): Promise<string[]> {
  const path = pathOf(uri);
  if (path === undefined) return [];
  try {
    return [(await whole.stat(uri)).path];
  } catch {
    // Not inside ours, or not there: perhaps ours are inside it.
    const above = path.endsWith(sep) ? path : path + sep;
    return whole.roots.flatMap((root) =>
      spellings(root.path).some((each) => each.startsWith(above)) ? [root.path] : [],
    );
  }
}

/** A root as configured and as it really is: clients know either. */
function spellings(path: string): string[] {
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path]; // Gone since the start; reading will say so.
  }
}

function pathOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
  } catch {
    return undefined; // Not a file of this machine.
  }
}
