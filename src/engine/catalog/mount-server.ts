// Mounts one server on another: its catalog, and the notifications of its changes.

import type { Registration } from '../definitions.ts';
import type { ServerState } from '../server-state.ts';
import { mountCatalog } from './mount.ts';
import { warnOfToolName } from './registration-warnings.ts';

/** Mounts `inner` on `outer`. Throws, with nothing mounted, if that is not possible. `inner` is undefined for what is no server. */
export function mountServer(prefix: string, outer: ServerState, inner: ServerState | undefined): Registration {
  if (typeof prefix !== 'string' || inner === undefined) {
    const wrong =
      typeof prefix === 'string'
        ? 'The second argument of mount must be a server'
        : 'The first argument of mount must be a string';
    throw new TypeError(`${wrong}: server.mount("prefix", createServer({ … }))`);
  }
  if (!/^[A-Za-z0-9_.-]+$/.test(prefix)) {
    throw new TypeError(`A prefix needs one or more of A-Z a-z 0-9 _ - ., not ${JSON.stringify(prefix)}`);
  }
  const { name: innerName } = inner.identity;
  if (outer.isWithin(inner)) {
    throw new TypeError(`Server ${JSON.stringify(innerName)} cannot be mounted on itself or on a server it contains`);
  }
  if (inner.middleware.size > 0) {
    outer.logger?.warn('the middleware of a mounted server does not run; add it to the outer server', {
      mounted: innerName,
    });
  }
  const rename = (kind: 'tools' | 'prompts', name: string): string => {
    const prefixed = `${prefix}_${name}`;
    if (kind === 'tools') warnOfToolName(prefixed, outer.logger);
    return prefixed;
  };
  const unmount = mountCatalog({ target: outer.catalog, source: inner.catalog, rename });
  inner.mountedOn.push(outer);
  outer.mounted.push(inner);
  return {
    remove: () => {
      const index = inner.mountedOn.indexOf(outer);
      if (index === -1) return;
      inner.mountedOn.splice(index, 1);
      outer.mounted.splice(outer.mounted.indexOf(inner), 1);
      unmount();
    },
  };
}
