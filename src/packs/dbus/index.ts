// The pack `dbus`: D-Bus services of this machine as `dbus://service/…` resources. The log says so if no bus can be
// reached.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { DbusOptions } from './resources.ts';

export type { DbusOptions } from './resources.ts';

const texts = { type: 'array', items: { type: 'string', minLength: 1 } } as const;

/** The options of this pack in a configuration file. */
export const dbusSchema = {
  type: 'object',
  properties: { buses: texts, services: texts, timeoutMs: { type: 'integer', minimum: 1 } },
  additionalProperties: false,
} as const;

const known: Record<keyof DbusOptions, true> = { buses: true, services: true, timeoutMs: true };

/** Adds the resources to a server. Await `server.use(dbus(…))`: it connects to the buses before it resolves. */
export function dbus(options: DbusOptions = {}): Pack<Server> {
  assertKnownOptions('dbus', options, known);
  let close: (() => void) | undefined;
  return {
    name: 'dbus',
    async install(server) {
      const { installServices } = await import('./resources.ts');
      close = await installServices(server, options);
    },
    async close() {
      close?.();
    },
  };
}
