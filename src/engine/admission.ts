// What keeps a request from being run, looked at before anything is: the phase of its session, its method, its params.

import { type WireError, wireErrors } from '../protocol/errors.ts';
import type { JsonRpcRequest, Params } from '../protocol/json-rpc.ts';
import { checkParams, type MethodRow, tooLong } from '../protocol/methods.ts';
import type { RequestId } from '../protocol/model.ts';
import type { ParamLimits } from '../protocol/param-limits.ts';
import type { Codec } from '../protocol/revisions/index.ts';
import type { Feature } from './contract.ts';
import type { ServerState } from './server-state.ts';
import type { Session } from './session.ts';

/** What keeps a request of a revision with a handshake out, if anything. */
export function checkPhase(
  { method }: JsonRpcRequest,
  session: Session | undefined,
  { rules }: Codec,
): WireError | undefined {
  if (method === 'initialize') return session === undefined ? undefined : wireErrors.alreadyInitialized();
  const open = session !== undefined && (rules.requestsFrom === 'initialize' || session.initialized);
  if (open || (method === 'ping' && rules.pingBeforeInit)) return undefined;
  return wireErrors.notInitialized();
}

/** Whether an id is longer than what is kept and sent back. */
export function isLong(id: RequestId, { maxIdLength }: ParamLimits): boolean {
  return typeof id === 'string' && id.length > maxIdLength;
}

/** What is too long of that which every request may carry. */
export function checkLengths({ id, params }: JsonRpcRequest, limits: ParamLimits): WireError | undefined {
  if (isLong(id, limits)) return wireErrors.idTooLong(limits.maxIdLength);
  const token = (params?.['_meta'] as Params | null | undefined)?.['progressToken'];
  if (typeof token !== 'string' || token.length <= limits.maxTokenLength) return undefined;
  return wireErrors.invalidParams(tooLong('progressToken', limits.maxTokenLength));
}

/** What serves a method with these params on this revision. */
export function findFeature(
  core: ServerState,
  method: string,
  row: MethodRow | undefined,
  params: JsonRpcRequest['params'],
  revision: Codec,
): Feature | WireError {
  const feature = core.features.get(method);
  if (feature === undefined) return wireErrors.methodNotFound(method);
  if (core.customMethods.has(method)) return feature;
  if (row === undefined || !revision.requests.has(method) || (row.needs !== undefined && !core.offers(row.needs))) {
    return wireErrors.methodNotFound(method);
  }
  const flaw = row.params === undefined ? undefined : checkParams(row, params, core.limits);
  return flaw === undefined ? feature : wireErrors.invalidParams(flaw);
}
