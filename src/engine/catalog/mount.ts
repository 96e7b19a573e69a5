// Mounts one catalog on another: every entry of the source, now and later, has a copy on the target. Copies share the
// handlers and compiled schemas of their originals; only names change.

import type { Principal } from '../../protocol/exchange.ts';
import type { Resource } from '../../protocol/model.ts';
import { offerAttachments } from '../attachments/offer-attachments.ts';
import { attachmentTemplate } from '../attachments/template.ts';
import type { ResourceTemplateDefinition } from '../definitions.ts';
import type { Catalog, CatalogFollower } from './catalog.ts';
import type { EntryKinds, TemplateEntry } from './catalog-entry.ts';

export interface MountOptions {
  readonly target: Catalog;
  readonly source: Catalog;
  /** The name of a tool or prompt on the target. */
  readonly rename: (kind: 'tools' | 'prompts', name: string) => string;
}

/** Returns a function that removes the copies and ends the mount. Throws, with nothing added, if a name or URI is taken. */
export function mountCatalog({ target, source, rename }: MountOptions): () => void {
  const copies = new Map<object, () => void>();
  const follower: CatalogFollower = {
    added: (kind, entry) => {
      // The same on every server, so that several which are mounted share it.
      if (entry.key === attachmentTemplate) return offerAttachments(target);
      const copy =
        kind === 'tools' || kind === 'prompts'
          ? renamed(entry as EntryKinds['tools' | 'prompts'], rename(kind, entry.key))
          : kind === 'resourceTemplates'
            ? restricted(entry as TemplateEntry, source)
            : { ...entry };
      copies.set(entry, target.add(kind, copy as EntryKinds[typeof kind]));
    },
    removed: (entry) => {
      copies.get(entry)?.();
      copies.delete(entry);
    },
  };
  const unmount = (): void => {
    source.unfollow(follower);
    for (const remove of copies.values()) remove();
    copies.clear();
  };
  try {
    source.follow(follower);
  } catch (error) {
    unmount();
    throw error;
  }
  return unmount;
}

function renamed<E extends EntryKinds['tools' | 'prompts']>(entry: E, name: string): E {
  let described: ReturnType<E['describe']> | undefined;
  const describe = () => (described ??= { ...entry.describe(), name } as ReturnType<E['describe']>);
  return { ...entry, key: name, describe };
}

/** Restrictions of the source decide by URI, which is only known when a template is read or listed. */
function restricted(entry: TemplateEntry, source: Catalog): TemplateEntry {
  const { read, list } = entry.definition;
  const definition: ResourceTemplateDefinition = {
    ...entry.definition,
    read: (variables, ctx, uri) =>
      source.allows('resources', uri, ctx.principal) ? read(variables, ctx, uri) : undefined,
  };
  if (list === undefined) return { ...entry, definition };
  const allowed = async (principal: Principal | undefined): Promise<readonly Resource[]> =>
    (await list(principal)).filter(({ uri }) => source.allows('resources', uri, principal));
  return { ...entry, definition: { ...definition, list: allowed } };
}
