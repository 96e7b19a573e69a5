// Checks before a request runs: the phase of its session, the lengths of its parts, its method and its params.

import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { JsonRpcRequest, Params } from '../../protocol/json-rpc.ts';
import { checkParams, type MethodRow, tooLong } from '../../protocol/methods.ts';
import type { RequestId } from '../../protocol/model.ts';
import type { ParamLimits } from '../../protocol/param-limits.ts';
import type { Codec } from '../../protocol/revisions/index.ts';
import type { Session } from '../channels/session.ts';
import type { Feature } from '../contract.ts';
import type { ServerState } from '../server-state.ts';

/** The error of a session request that comes too early, or of a second initialize. */
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

/** Whether an id is too long to be stored and sent back. */
export function isLong(id: RequestId, { maxIdLength }: ParamLimits): boolean {
  return typeof id === 'string' && id.length > maxIdLength;
}

/** The error of a request whose id or progress token is too long. */
export function checkLengths({ id, params }: JsonRpcRequest, limits: ParamLimits): WireError | undefined {
  if (isLong(id, limits)) return wireErrors.idTooLong(limits.maxIdLength);
  const token = (params?.['_meta'] as Params | null | undefined)?.['progressToken'];
  if (typeof token !== 'string' || token.length <= limits.maxTokenLength) return undefined;
  return wireErrors.invalidParams(tooLong('progressToken', limits.maxTokenLength));
}

/** The feature that serves a method on this revision, or the error of the method or its params. */
export function findFeature(
  server: ServerState,
  method: string,
  row: MethodRow | undefined,
  params: JsonRpcRequest['params'],
  codec: Codec,
): Feature | WireError {
  const feature = server.features.get(method);
  if (feature === undefined)
    return (row === undefined ? server.otherFeature : undefined) ?? wireErrors.methodNotFound(method);
  if (server.customMethods.has(method)) return feature;
  if (row === undefined || !codec.requests.has(method) || (row.needs !== undefined && !server.offers(row.needs))) {
    return wireErrors.methodNotFound(method);
  }
  const problem = row.params === undefined ? undefined : checkParams(row, params, server.limits);
  return problem === undefined ? feature : wireErrors.invalidParams(problem);
}
