// The names that a view's server accepts on calls besides those it lists: tools of a search view, and bare names.

import type { ToolEntry } from '../../engine/catalog/catalog-entry.ts';
import type { Caller, CallRedirect } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { findBareTool } from '../names/index.ts';
import { prepareSearchTools, type SearchTools } from '../search/index.ts';
import type { ShownView } from './shown-view.ts';

export class CallNames {
  readonly #server: Server;
  readonly #search: SearchTools;
  readonly #shownTo: (caller: Caller) => ShownView;
  #warning: string | undefined;

  constructor(server: Server, shownTo: (caller: Caller) => ShownView) {
    this.#server = server;
    this.#shownTo = shownTo;
    this.#search = prepareSearchTools(server, (name, caller) => shownTo(caller).offered.has(name));
  }

  get searchTools(): readonly ToolEntry[] {
    return this.#search.entries;
  }

  /** Reports a list that has become too long. */
  report({ warning }: ShownView): void {
    if (warning !== undefined && this.#warning === undefined) this.#server.logger?.warn(warning);
    this.#warning = warning;
  }

  /** Replaces an accepted other name in a call by the name of the tool. */
  readonly redirect: CallRedirect = (params, caller) => {
    const found = this.#search.redirect(params, caller);
    const name = found?.name ?? params['name'];
    const { tools } = this.#server.catalogOf(caller);
    if (typeof name !== 'string' || tools.has(name)) return found;
    const { exposed, bareNames } = this.#shownTo(caller);
    const bare = findBareTool(exposed, name, bareNames);
    if (bare === undefined) return found;
    if (bare.ok) return { name: bare.tool.exposed, arguments: found?.arguments ?? params['arguments'] };
    const candidates = bare.candidates.filter((each) => {
      const visible = tools.get(each)?.visible;
      return visible === undefined || visible(caller.principal);
    });
    throw wireErrors.invalidParams(`several servers have a tool ${name}; call one of ${candidates.join(', ')}`);
  };
}
