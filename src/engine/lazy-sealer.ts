// A sealer that is loaded when something is first sealed: few servers send cursors or request states.

import type { Sealing } from '../protocol/seal-key.ts';
import type { Sealer } from './ports.ts';

/** Loads sealer.ts on first use, and only then calls `sealing` for the keys. */
export function lazySealer(sealing: () => Sealing): Sealer {
  let made: Promise<Sealer> | undefined;
  const load = (): Promise<Sealer> =>
    (made ??= import('./sealer.ts').then(({ createSealer }) => createSealer(sealing)));
  return {
    seal: async (purpose, value, context) => (await load()).seal(purpose, value, context),
    open: async (purpose, token, context) => (await load()).open(purpose, token, context),
  };
}
