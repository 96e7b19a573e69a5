// What a gateway would show, by its files and the stored lists: for commands while no gateway runs.

import { createCatalogCache } from '../../gateway/catalog-cache.ts';
import { cleanLists } from '../../gateway/clean-lists.ts';
import { defaultViewName, findView } from '../../gateway/config/defaults.ts';
import type { GatewayConfig } from '../../gateway/config/gateway-config.ts';
import { noLists } from '../../gateway/contract.ts';
import { exposeView } from '../../gateway/names/index.ts';
import { isOfOneCaller } from '../../gateway/upstreams/isolation.ts';
import { UsageError } from '../usage-error.ts';
import { catalogFolder } from './data-files.ts';
import type { ListedTool } from './running.ts';

/**
 * The tools of a view as last listed. `unknown`: servers that have never been connected. `unstored`: servers whose lists differ
 * between callers.
 */
export function knownTools(
  config: GatewayConfig,
  dataDir: string,
  viewName: string,
): {
  readonly tools: readonly ListedTool[];
  readonly unknown: readonly string[];
  readonly unstored: readonly string[];
} {
  const view = findView(config, viewName);
  if (view === undefined) {
    const known = config.views.map(({ name }) => name);
    throw new UsageError(unknownView(viewName, known));
  }
  const cache = createCatalogCache(catalogFolder(dataDir));
  const unknown: string[] = [];
  const unstored: string[] = [];
  const servers = config.servers.map((server) => {
    const known = cache.read(server.digest);
    if (known === undefined && !server.disabled) unknown.push(server.name);
    if (known !== undefined && isOfOneCaller(server, known.lists)) {
      unstored.push(server.name);
      return { config: server, lists: noLists };
    }
    // As a gateway shows them: texts of servers may have hidden characters.
    const lists = known === undefined ? noLists : (known.prepared?.cleaned ?? cleanLists(known.lists));
    return { config: server, lists };
  });
  const tools = exposeView(view, servers).tools.map(({ slug, original, exposed, item }) => ({
    ...{ name: exposed, server: slug, original, title: item.title, description: item.description },
  }));
  return { tools, unknown, unstored };
}

/** The message for a view that does not exist. `views`: those that do, besides the default one. */
export function unknownView(name: string, views: readonly string[]): string {
  const known = views.length === 0 ? 'only the default view' : [...views, defaultViewName].join(', ');
  return `There is no view ${JSON.stringify(name)}; the configuration has ${known}`;
}
