// Which requests a limit covers, and which of them it counts together: the parts of a request that form the key of a
// bucket or a queue.

import { compileGlobs, type Glob } from '../../common/glob.ts';
import type { RequestInfo } from '../../engine/ports.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { requireTexts } from '../rule-checks.ts';

/**
 * What a limit counts separately: each caller (the principal, or the address where there is none), each tool, or each server
 * behind a gateway (`upstream`; all other requests together); `global` counts all together. `session` means the same as
 * `principal`: a caller can open any number of sessions, so a limit for each of them would limit nothing.
 */
export type LimitScope = 'principal' | 'session' | 'tool' | 'upstream' | 'global';

/** Which requests a limit covers. */
export interface LimitTarget {
  /** With several scopes, each combination is counted separately. */
  readonly per: LimitScope | readonly LimitScope[];
  /** Globs of tools. Default: every request that does work. */
  readonly tools?: readonly string[];
  /** Methods such as `resources/read`. Default, if there are no `tools` either: every request that does work. */
  readonly methods?: readonly string[];
}

/**
 * Whether a request is exempt from all limits: initialization and pings must always get through. Notifications and
 * cancellations are never limited.
 */
export const isExempt = ({ method }: RequestInfo): boolean =>
  method === 'initialize' || method === 'ping' || method === 'server/discover';

/** The names of the options of a target, for checks. */
export const targetOptions: Record<keyof LimitTarget, true> = { per: true, tools: true, methods: true };

/** Returns a function that says whether a target covers a request. */
export function compileTarget(target: Omit<LimitTarget, 'per'>): (request: RequestInfo) => boolean {
  const { tools, methods } = target;
  requireTexts('tools of a limit', tools);
  requireTexts('methods of a limit', methods);
  if (tools === undefined && methods === undefined) return (request) => !isExempt(request);
  const named: Glob | undefined = tools && compileGlobs(tools);
  const listed = new Set(methods);
  return (request) =>
    (named !== undefined && request.method === 'tools/call' && named(request.name ?? '')) || listed.has(request.method);
}

/** Whether a tool exists; unknown names share one bucket, so that made-up names do not fill memory. */
export type IsKnownTool = (tool: string) => boolean;

/** Creates the key of a request. */
export function compileKey(
  per: LimitScope | readonly LimitScope[],
  isKnown: IsKnownTool,
): (request: RequestInfo) => string {
  const scopes = typeof per === 'string' ? [per] : per;
  for (const scope of Array.isArray(scopes) ? scopes : [scopes]) {
    if (scope === 'global' || Object.hasOwn(keyParts, scope ?? '')) continue;
    const known = [...Object.keys(keyParts), 'global'].join(', ');
    throw new TypeError(`per of a limit: must be one of ${known}, not ${JSON.stringify(scope)}`);
  }
  const parts = [...new Set(scopes.filter((scope) => scope !== 'global').map((scope) => keyParts[scope]))];
  const [only] = parts;
  if (only === undefined) return () => '';
  if (parts.length === 1) return (request) => only(request, isKnown);
  return (request) => parts.map((part) => part(request, isKnown)).join('\u0001');
}

const byCaller = ({ peer }: RequestInfo): string => callerKey(peer);

const keyParts: Readonly<
  Record<Exclude<LimitScope, 'global'>, (request: RequestInfo, isKnown: IsKnownTool) => string>
> = {
  principal: byCaller,
  session: byCaller,
  upstream: ({ upstream = '' }) => upstream,
  tool: ({ method, name = '' }, isKnown) => (method === 'tools/call' ? (isKnown(name) ? name : '?') : method),
};
