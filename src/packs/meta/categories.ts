// Which tools belong together: each pack is a category that contains the tools it registers.

import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';

/** What a category is for, in one line. */
export interface Category {
  readonly name: string;
  readonly about: string;
}

/** Tools registered in other ways, for example by a plugin. */
const other: Category = { name: 'other', about: 'Everything else' };

/** Installs packs and records which tools each of them registers. */
export class Categories {
  readonly #server: Server;
  readonly #categories: Category[] = [];
  readonly #of = new Map<string, Category>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Installs a pack as a separate category, under the name of the pack. */
  async use(pack: Pack<Server>, about: string): Promise<void> {
    const before = new Set(this.#server.catalog.tools.keys());
    await this.#server.use(pack);
    const category = { name: pack.name, about };
    this.#categories.push(category);
    for (const tool of this.#server.catalog.tools.keys()) if (!before.has(tool)) this.#of.set(tool, category);
  }

  of(tool: string): Category {
    return this.#of.get(tool) ?? other;
  }

  /** In the order the packs were installed. */
  get all(): readonly Category[] {
    return [...this.#categories, other];
  }
}
