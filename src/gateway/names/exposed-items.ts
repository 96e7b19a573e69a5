// Names of the items of several servers in one list: each gets its exposed name, and no name is given twice.

import type { UpstreamConfig } from '../config/gateway-config.ts';
import { bareName, exposedName, splitExposedName } from './exposed-name.ts';

/** An item of a server as clients see it. */
export interface ExposedItem<Item> {
  readonly slug: string;
  /** The server's own name or URI. */
  readonly original: string;
  /** The name or URI at the gateway. */
  readonly exposed: string;
  /** With the exposed name or URI in it. */
  readonly item: Item;
}

/** An item before it gets its name: `original` is the server's own name, `item.name` its name after overrides. */
export interface NamedItem<Item extends { readonly name: string }> {
  readonly server: UpstreamConfig;
  readonly original: string;
  readonly item: Item;
}

export interface NamedList<Item> {
  readonly items: readonly ExposedItem<Item>[];
  readonly warnings: readonly string[];
}

/**
 * Gives every item its exposed name. Items are given by server, in the order of the file. A name of a server with prefix
 * depends on no other server. A bare name goes to the first server that has it; it never looks like a prefixed name
 * of another server.
 */
export function exposeItems<Item extends { readonly name: string }>(
  given: readonly NamedItem<Item>[],
  slugs: ReadonlySet<string>,
): NamedList<Item> {
  const warnings: string[] = [];
  const taken = new Map<string, NamedItem<Item>>();
  const items: ExposedItem<Item>[] = [];
  for (const each of given) {
    const { server, original, item } = each;
    const exposed = chooseName(server, item.name, slugs, taken, warnings);
    const other = taken.get(exposed);
    if (other !== undefined) {
      warnings.push(
        `${JSON.stringify(original)} of ${server.name} is hidden: it has the same name at the gateway (${exposed}) as ` +
          `${JSON.stringify(other.original)} of ${other.server.name}`,
      );
      continue;
    }
    taken.set(exposed, each);
    items.push({ slug: server.slug, original, exposed, item: { ...item, name: exposed } });
  }
  return { items, warnings };
}

function chooseName(
  { slug, name: server, prefix }: UpstreamConfig,
  name: string,
  slugs: ReadonlySet<string>,
  taken: ReadonlyMap<string, unknown>,
  warnings: string[],
): string {
  const prefixed = exposedName(slug, name);
  if (prefix) return prefixed;
  const bare = bareName(name);
  const looksPrefixed = slugs.has(splitExposedName(bare)?.slug ?? '');
  if (!looksPrefixed && !taken.has(bare)) return bare;
  warnings.push(`${JSON.stringify(name)} of ${server} is called ${prefixed}: another server has the name ${bare}`);
  return prefixed;
}
