// Finds the server that a command names.

import { nearest } from '../../app/text/nearest.ts';
import { UsageError } from '../../app/usage-error.ts';

export interface NamedServer {
  /** Of its entry. */
  readonly name: string;
  readonly slug: string;
}

/** The server with this slug, or whose entry has this name. Throws a `UsageError` that lists the servers. */
export function findServer<S extends NamedServer>(named: string, servers: readonly S[]): S {
  const found = servers.find(({ slug }) => slug === named) ?? servers.find(({ name }) => name === named);
  if (found !== undefined) return found;
  const slugs = servers.map(({ slug }) => slug);
  const meant = nearest(named, slugs);
  const hint = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
  throw new UsageError(`There is no server ${JSON.stringify(named)}${hint}\nThe gateway has ${slugs.join(', ')}`);
}
