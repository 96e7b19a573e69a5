// For whom a limit counts: the parts of a request that become the key of a bucket or a queue. Whoever has no name is
// counted by where he comes from.

import type { RequestInfo } from '../../engine/ports.ts';
import { principalKey } from '../../protocol/principal.ts';
import { compileGlobs, type Glob } from '../glob.ts';

/** Whom a limit counts apart: each caller, each session, each tool; `global` counts all together. */
export type LimitScope = 'principal' | 'session' | 'tool' | 'global';

/** Which requests a limit speaks of. */
export interface LimitTarget {
  /** Several count each combination apart. */
  readonly per: LimitScope | readonly LimitScope[];
  /** Globs of tools. Without it: every request that does work. */
  readonly tools?: readonly string[];
  /** Methods such as `resources/read`. Without it and without `tools`: every request that does work. */
  readonly methods?: readonly string[];
}

/**
 * Says whether a request is free of every limit: a greeting or a sign of life must get through whatever happens.
 * Notifications and cancels are never limited.
 */
export const isExempt = ({ method }: RequestInfo): boolean =>
  method === 'initialize' || method === 'ping' || method === 'server/discover';

/** Says whether a target speaks of a request. */
export function compileTarget(target: Omit<LimitTarget, 'per'>): (request: RequestInfo) => boolean {
  const { tools, methods } = target;
  if (tools === undefined && methods === undefined) return (request) => !isExempt(request);
  const named: Glob | undefined = tools && compileGlobs(tools);
  const listed = new Set(methods);
  return (request) =>
    (named !== undefined && request.method === 'tools/call' && named(request.name ?? '')) || listed.has(request.method);
}

/** Names known to exist; the others share one bucket, so that made-up names do not fill memory. */
export type KnownName = (tool: string) => boolean;

/** Makes the key of a request. */
export function compileKey(
  per: LimitScope | readonly LimitScope[],
  isKnown: KnownName,
): (request: RequestInfo) => string {
  const scopes = typeof per === 'string' ? [per] : per;
  const parts = scopes.filter((scope) => scope !== 'global').map((scope) => keyParts[scope]);
  const [only] = parts;
  if (only === undefined) return () => '';
  if (parts.length === 1) return (request) => only(request, isKnown);
  return (request) => parts.map((part) => part(request, isKnown)).join('\u0001');
}

const keyParts: Readonly<Record<Exclude<LimitScope, 'global'>, (request: RequestInfo, isKnown: KnownName) => string>> =
  {
    principal: (request) => callerOf(request),
    session: (request) => sessionOf(request),
    tool: ({ method, name = '' }, isKnown) => (method === 'tools/call' ? (isKnown(name) ? name : '?') : method),
  };

/** Whoever a request acts for; without a name, the place it comes from. */
export function callerOf({ peer }: RequestInfo): string {
  return peer.principal === undefined ? `@${networkOf(peer.address ?? peer.transport)}` : principalKey(peer.principal);
}

/** A household has 2^64 addresses of the sixth version: they count as one. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  if (tail !== undefined) while (groups.length < 8 - tail.split(':').length) groups.push('0');
  return groups.slice(0, 4).join(':');
}

const pipes = new WeakMap<object, string>();
let pipeCount = 0;

/** The session; for a pipe without one the pipe itself; for a request that stands alone its caller. */
function sessionOf(request: RequestInfo): string {
  const key = request.session?.key;
  if (key !== undefined && key !== '') return key;
  if (request.peer.transport === 'http' || request.peer.transport === 'sse') return callerOf(request);
  let pipe = pipes.get(request.peer);
  if (pipe === undefined) pipes.set(request.peer, (pipe = `pipe ${++pipeCount}`));
  return pipe;
}
