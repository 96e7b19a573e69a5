// All plugins as one pack: loaded in the order of the configuration, closed in reverse order.

import { isAbsolute } from 'node:path';
import type { Logger } from '../../common/logger.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { HealthRegistry } from '../serving/health.ts';
import type { Settings } from '../settings/settings.ts';
import { oneAtATime } from '../state/one-at-a-time.ts';
import { Plugin } from './plugin.ts';
import { Snapshots } from './snapshots.ts';
import { catchUncaughtErrors } from './uncaught-errors.ts';
import { watchFolder } from './watch.ts';

export interface PluginsOptions {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly health: HealthRegistry;
  /** Where the search for packages starts. */
  readonly from: readonly string[];
}

/** The plugins of the settings. Installing never fails; health reports a plugin that does. */
export function plugins(options: PluginsOptions): Pack<Server> & { guard(): void } {
  const { settings, logger, health, from } = options;
  const snapshots = new Snapshots();
  const all = settings.plugins.map((entry) => new Plugin(entry, { settings, logger, from, snapshots }));
  const undo: (() => void)[] = [];
  let unguard = (): void => {};
  const guard = (): void => {
    unguard();
    unguard = catchUncaughtErrors(() => all);
  };
  return {
    name: 'plugins',
    async install(server) {
      // A plugin can fail while the ones after it are loaded.
      if (all.length > 0) guard();
      for (const [i, plugin] of all.entries()) {
        await plugin.start(server);
        undo.push(health.add(`plugin ${plugin.name}`, () => plugin.health()));
        // Only folders are watched; a package changes when it is installed again.
        if (isAbsolute(settings.plugins[i]?.source ?? '') && plugin.folder !== undefined) {
          undo.push(
            watchFolder(
              plugin.folder,
              oneAtATime(() => plugin.reload(server)),
            ),
          );
        }
      }
    },
    /** Keeps errors of plugins from ending the process. Call it again when the transport has installed its own handlers. */
    guard,
    async close() {
      unguard();
      for (const each of undo.splice(0).reverse()) each();
      for (const plugin of [...all].reverse()) await plugin.stop();
      snapshots.close();
    },
  };
}
