// What keeps a request from being run, looked at before anything is: the phase of its session, its method, its params.

import { type WireError, wireErrors } from '../protocol/errors.ts';
import type { JsonRpcRequest } from '../protocol/json-rpc.ts';
import { checkParams, type MethodRow } from '../protocol/methods.ts';
import type { Revision } from '../protocol/revisions/index.ts';
import type { Core } from './core.ts';
import type { Feature } from './feature.ts';
import type { Session } from './session.ts';

/** What keeps a request of a revision with a handshake out, if anything. */
export function checkPhase(
  { method }: JsonRpcRequest,
  session: Session | undefined,
  { rules }: Revision,
): WireError | undefined {
  if (method === 'initialize') return session === undefined ? undefined : wireErrors.alreadyInitialized();
  const open = session !== undefined && (rules.gate === 'initialize' || session.initialized);
  if (open || (method === 'ping' && rules.pingBeforeInit)) return undefined;
  return wireErrors.notInitialized();
}

/** What serves a method with these params on this revision. */
export function findFeature(
  core: Core,
  method: string,
  row: MethodRow | undefined,
  params: JsonRpcRequest['params'],
  revision: Revision,
): Feature | WireError {
  const feature = core.features.get(method);
  if (feature === undefined) return wireErrors.methodNotFound(method);
  if (core.customMethods.has(method)) return feature;
  if (row === undefined || !revision.requests.has(method) || (row.needs !== undefined && !core.offers(row.needs))) {
    return wireErrors.methodNotFound(method);
  }
  const flaw = row.params === undefined ? undefined : checkParams(row, params);
  return flaw === undefined ? feature : wireErrors.invalidParams(flaw);
}
