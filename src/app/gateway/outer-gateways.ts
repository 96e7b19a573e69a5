// The gateways that this process was started by. An entry that starts the gateway it belongs to, as in the file of a client that
// contains both, would otherwise start processes endlessly.

import { realpathSync } from 'node:fs';
import { UsageError } from '../usage-error.ts';

/** Gateways put this into the environment of the servers that they start. */
export const outerGatewaysVariable = 'MOORING_OUTER_GATEWAYS';

/** What the servers of a gateway get. Throws if the same gateway, with the same file and view, has started this one. */
export function outerGateways(
  files: readonly string[],
  view = '',
  env: Readonly<Record<string, string | undefined>> = process.env,
): Readonly<Record<string, string>> {
  const outer = env[outerGatewaysVariable]?.split(' ') ?? [];
  // Loaded by name: every server is in one file with this module, and an import would load it at each start.
  const { hash } = process.getBuiltinModule('node:crypto');
  // Hashes: servers need not know the paths of the user's files.
  const own = files.map((file) => hash('sha256', `${realpathSync(file)}?${view}`, 'base64url'));
  const again = own.findIndex((gateway) => outer.includes(gateway));
  if (again !== -1) {
    throw new UsageError(`${files[again]} has an entry that starts this gateway again. Remove it, or disable it there`);
  }
  const all = [...outer, ...own];
  return all.length === 0 ? {} : { [outerGatewaysVariable]: all.join(' ') };
}
