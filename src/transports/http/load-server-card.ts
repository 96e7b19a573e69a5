// Loads what serves the server card, if an option switches it on: most servers have none.

import type { EndpointOptions } from './options.ts';
import type { createCardRoutes } from './server-card/card-routes.ts';

/** The function that creates the routes; undefined if there is no card. */
export async function loadServerCard({ serverCard }: EndpointOptions): Promise<typeof createCardRoutes | undefined> {
  if (serverCard === undefined || serverCard === false) return undefined;
  return (await import('./server-card/card-routes.ts')).createCardRoutes;
}
