// All plugins of a run, as one pack: loaded in the order of the configuration, closed in the reverse one.

import { isAbsolute } from 'node:path';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { Logger } from '../../protocol/log.ts';
import type { HealthRegistry } from '../health.ts';
import { inTurn } from '../in-turn.ts';
import type { Settings } from '../settings.ts';
import { Plugin } from './plugin.ts';
import { Snapshots } from './snapshots.ts';
import { catchStrayErrors } from './stray-errors.ts';
import { watchFolder } from './watch.ts';

export interface PluginsOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly health: HealthRegistry;
  /** Folders around which packages are looked for. */
  readonly from: readonly string[];
}

/** The plugins of the settings. Installing never fails; a plugin that does is named by its health. */
export function plugins(options: PluginsOptions): Pack<Server> & { guard(): void } {
  const { settings, logger, health, from } = options;
  const snapshots = new Snapshots();
  const all = settings.plugins.map((entry) => new Plugin(entry, { settings, logger, from, snapshots }));
  const undo: (() => void)[] = [];
  return {
    name: 'plugins',
    async install(server) {
      for (const [i, plugin] of all.entries()) {
        await plugin.start(server);
        undo.push(health.add(`plugin ${plugin.name}`, () => plugin.health()));
        // What came from a package changes only when it is installed anew.
        if (isAbsolute(settings.plugins[i]?.source ?? '') && plugin.folder !== undefined) {
          undo.push(
            watchFolder(
              plugin.folder,
              inTurn(() => plugin.renew(server)),
            ),
          );
        }
      }
    },
    /** Keeps errors of plugins from ending the process; called once the transport has put up its own handlers. */
    guard() {
      undo.push(catchStrayErrors(() => all));
    },
    async close() {
      for (const each of undo.splice(0).reverse()) each();
      for (const plugin of [...all].reverse()) await plugin.stop();
      snapshots.close();
    },
  };
}
