// What every feature needs of the client it belongs to.

import type { Logger } from '../../common/logger.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { MethodRow } from '../../protocol/methods.ts';
import { extensionSettings, skillsExtension } from '../../protocol/revisions/index.ts';
import type { CacheView } from '../cache.ts';
import type { CallRunner } from '../calls/call-runner.ts';
import type { ClientConnection } from '../connection.ts';
import { clientErrors } from '../errors.ts';
import type { ClientLimits } from '../options.ts';

/** The parts of a client that its features share. */
export interface FeatureContext {
  readonly caller: CallRunner;
  readonly cache: CacheView | undefined;
  readonly limits: ClientLimits;
  readonly logger: Logger;
  /** The current connection, or the last one there was. */
  readonly latest: ClientConnection;
}

/**
 * Whether the server offers a method. One that declares nothing at all is not believed: many small servers
 * do so and have tools nevertheless.
 */
export function offers({ latest }: FeatureContext, row: MethodRow): boolean {
  let offered = latest.offered.get(row);
  if (offered === undefined) latest.offered.set(row, (offered = isOffered(latest, row)));
  return offered;
}

function isOffered({ codec, facts }: ClientConnection, { name, needs }: MethodRow): boolean {
  if (codec === undefined || facts === undefined || !codec.requests.has(name)) return false;
  if (needs === undefined) return true;
  const [key, flag] = needs.split('.') as [string, string | undefined];
  const { capabilities } = facts;
  if (key === 'skills') {
    const settings = extensionSettings(capabilities, skillsExtension);
    return settings !== undefined && (flag === undefined || settings[flag] === true);
  }
  if (!codec.serverCapabilities.includes(key)) return true;
  if (codec.opening === 'initialize' && Object.keys(capabilities).length === 0) return true;
  const declared = capabilities[key];
  return isObject(declared) && (flag === undefined || declared[flag] === true);
}

/** Whether calls of tools become tasks at the request of the client. */
export function requestsTasks({ latest }: FeatureContext): boolean {
  if (latest.codec?.tasks !== 'requested') return false;
  const { tasks } = latest.facts?.capabilities ?? {};
  const requests = isObject(tasks) ? tasks['requests'] : undefined;
  const tools = isObject(requests) ? requests['tools'] : undefined;
  return isObject(tools) && isObject(tools['call']);
}

/** Throws unless the server offers a method. `what`: how the error names it. */
export function requireOffered(context: FeatureContext, row: MethodRow, what = row.needs ?? row.name): void {
  if (offers(context, row)) return;
  const { codec } = context.latest;
  if (codec !== undefined && !codec.requests.has(row.name)) {
    throw clientErrors.notInRevision(row.name, codec.date);
  }
  throw clientErrors.notOffered(what);
}
