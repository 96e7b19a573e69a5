// The options of a server with their defaults.

import { createConsoleLogger } from '../common/console-logger.ts';
import { resolveServerLimits } from './limits.ts';
import type { Sealer } from './ports.ts';
import type { ServerOptions } from './server-options.ts';
import type { ServerStateOptions } from './server-state.ts';

/** `ownSealer`: for a server that was not given one. */
export function stateOptions(options: ServerOptions, ownSealer: Sealer): ServerStateOptions {
  const { name, version, title, description, websiteUrl, icons } = options;
  const { instructions, capabilities, extensions, cache, key, sealer, store, bus, logger } = options;
  return {
    identity: { name, version, title, description, websiteUrl, icons },
    rules: options.rules ?? {},
    limits: resolveServerLimits(options.limits),
    instructions,
    capabilities,
    extensions,
    logging: options.logging ?? true,
    listCache: cache ?? { ttlMs: 0, cacheScope: 'private' },
    sealer: sealer ?? ownSealer,
    hasKey: key !== undefined || sealer !== undefined,
    store,
    bus,
    logger: logger === false ? undefined : (logger ?? createConsoleLogger()),
    masksErrors: options.errors === 'masked',
    tasks: options.tasks ?? {},
  };
}
