// The names that a view's server accepts on calls besides those it lists: tools of a search view, and bare names.

import type { ToolEntry } from '../../engine/catalog-entry.ts';
import type { CallRedirect } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { findBareTool } from '../names/index.ts';
import { isShortListed, listModeOf, prepareSearchTools, type SearchTools } from '../search/index.ts';
import type { ViewSource } from './view-source.ts';

/** What the list of tools of a view shows. */
interface ListedTools {
  readonly isListed: (exposedName: string) => boolean;
  readonly searchTools: readonly ToolEntry[];
}

const everyTool: ListedTools = { isListed: () => true, searchTools: [] };

export class CallNames {
  readonly #server: Server;
  readonly #search: SearchTools;
  #source: ViewSource;
  #offered: ReadonlySet<string> = new Set();
  #warning: string | undefined;

  constructor(server: Server, source: ViewSource) {
    this.#server = server;
    this.#source = source;
    this.#search = prepareSearchTools(server, (name) => this.#offered.has(name));
  }

  /** Takes over what the view shows now. Returns which of its tools are listed, and the search tools if it has any. */
  update(source: ViewSource): ListedTools {
    this.#source = source;
    const { view, exposed } = source;
    this.#offered = new Set(exposed.tools.map(({ exposed: name }) => name));
    if (view === undefined) return everyTool;
    const { search, warning } = listModeOf(
      view,
      exposed.tools.map(({ item }) => item),
    );
    if (warning !== undefined && this.#warning === undefined) this.#server.logger?.warn(warning);
    this.#warning = warning;
    if (!search) return everyTool;
    return { isListed: (name) => isShortListed(view, name), searchTools: this.#search.entries };
  }

  /** Replaces an accepted other name in a call by the name of the tool. */
  readonly redirect: CallRedirect = (params, caller) => {
    const found = this.#search.redirect(params, caller);
    const name = found?.name ?? params['name'];
    if (typeof name !== 'string' || this.#server.catalog.tools.has(name)) return found;
    const bare = findBareTool(this.#source.exposed, name, this.#source.bareNames);
    if (bare === undefined) return found;
    if (bare.ok) return { name: bare.tool.exposed, arguments: found?.arguments ?? params['arguments'] };
    const candidates = bare.candidates.filter((each) => {
      const visible = this.#server.catalog.tools.get(each)?.visible;
      return visible === undefined || visible(caller.principal);
    });
    throw wireErrors.invalidParams(`several servers have a tool ${name}; call one of ${candidates.join(', ')}`);
  };
}
