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

const none: ReadonlySet<string> = new Set();

export interface NamedList<Item> {
  readonly items: readonly ExposedItem<Item>[];
  readonly warnings: readonly string[];
}

/**
 * Gives every item its exposed name. Items are given by server, in the order of the file. A name of a server with prefix
 * depends on no other server. A bare name goes to the first server that has it; it never looks like a prefixed name
 * of another server. `own`: names of the server that shows the items besides its own; it is the first.
 */
export function exposeItems<Item extends { readonly name: string }>(
  given: readonly NamedItem<Item>[],
  slugs: ReadonlySet<string>,
  own: ReadonlySet<string> = none,
): NamedList<Item> {
  const warnings: string[] = [];
  const taken = new Map<string, NamedItem<Item>>();
  const items: ExposedItem<Item>[] = [];
  for (const each of given) {
    const { server, original, item } = each;
    const isTaken = (name: string): boolean => taken.has(name) || own.has(name);
    const exposed = chooseName(server, item.name, slugs, isTaken, warnings);
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
  isTaken: (name: string) => boolean,
  warnings: string[],
): string {
  const prefixed = exposedName(slug, name);
  if (prefix) return prefixed;
  const bare = bareName(name);
  const looksPrefixed = slugs.has(splitExposedName(bare)?.slug ?? '');
  if (!looksPrefixed && !isTaken(bare)) return bare;
  warnings.push(`${JSON.stringify(name)} of ${server} is called ${prefixed}: the name ${bare} is in use`);
  return prefixed;
}
