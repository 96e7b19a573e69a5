// The page of a tool (MCP Apps), as `_meta` of the tool or of a result names it: a resource, whose URI must lead to the server
// that it came from.

import { isObject } from '../../protocol/json-rpc.ts';
import type { Meta } from '../../protocol/model.ts';

/** What the extension had before `ui.resourceUri`; hosts and servers still use it. */
const formerKey = 'ui/resourceUri';

/** `_meta` with the URI as clients of the view see it; the same object if nothing changes. */
export function withExposedPage<M extends Meta | undefined>(meta: M, expose: (uri: string) => string): M {
  if (!isObject(meta)) return meta;
  const ui = meta['ui'];
  const [page, former] = [isObject(ui) ? ui['resourceUri'] : undefined, meta[formerKey]];
  const changes = {
    ...(typeof page === 'string' && expose(page) !== page
      ? { ui: { ...(ui as object), resourceUri: expose(page) } }
      : {}),
    ...(typeof former === 'string' && expose(former) !== former ? { [formerKey]: expose(former) } : {}),
  };
  return Object.keys(changes).length === 0 ? meta : { ...meta, ...changes };
}
