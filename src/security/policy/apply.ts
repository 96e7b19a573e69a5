// Applies a policy to a server: hides what it denies, and enforces its limits. No tool can reach or change this.

import { assertKnownOptions } from '../../common/known-options.ts';
import { runInSlices } from '../../common/slices.ts';
import { checkOf, compose } from '../../engine/calls/middleware.ts';
import type { ChangeFilter, Middleware, Pack, RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import type { ToolResult } from '../../protocol/model.ts';
import { requireScopes, type ScopeOptions } from '../auth/scopes.ts';
import { markDenied } from '../denial-reasons.ts';
import { type BucketStore, limitCalls, limitConcurrency, rateLimit, shedLoad } from '../limits/index.ts';
import type { Violation } from './arguments.ts';
import type { CompiledPolicy } from './compile.ts';

/** How a policy is enforced. */
export interface ApplyOptions extends ScopeOptions {
  /** Stores rate limits; replicas share one. Default: in memory. */
  readonly buckets?: BucketStore;
}

/** A policy in force. */
export interface AppliedPolicy {
  /** The one that is in force now. */
  readonly policy: CompiledPolicy;
  /** Replaces the policy for later requests. Clients are notified that lists may have changed. */
  replace(policy: CompiledPolicy): void;
  /** Stops monitoring the load. The rest stays in force. */
  close(): void;
}

/** Applies a policy. Call it once per server, before the first transport. */
export function applyPolicy(server: Server, policy: CompiledPolicy, options: ApplyOptions = {}): AppliedPolicy {
  let current = policy;
  let guards = guardsOf(server, policy, options);
  server.restrict((kind, key, principal) => current.access.decide(kind, key, principal).allowed);
  const guard: Middleware = (request, next) => guards.run(request, next);
  // Another policy may do more than check.
  Object.defineProperty(guard, 'check', { get: () => checkOf(guards.run) });
  const maySee: ChangeFilter = (uri, principal) => guards.maySee(uri, principal);
  server.around(Object.assign(guard, { maySee }));
  return {
    get policy() {
      return current;
    },
    replace(other) {
      guards.close();
      guards = guardsOf(server, other, options);
      current = other;
      server.toolsChanged();
      server.resourcesChanged();
      server.promptsChanged();
    },
    close: () => guards.close(),
  };
}

/** A policy as a pack. */
export interface PolicyGuard extends Pack<Server> {
  /** Replaces the policy for later requests. Clients are notified that lists may have changed. */
  replace(policy: CompiledPolicy): void;
}

const known: Record<keyof ApplyOptions, true> = { challenge: true, buckets: true };

/**
 * A policy for `server.use`: in force before the first transport, released when the server closes.
 *
 * @example
 * await server.use(enforcePolicy(await loadPolicy('policy.yaml')));
 */
export function enforcePolicy(policy: CompiledPolicy, options: ApplyOptions = {}): PolicyGuard {
  assertKnownOptions('enforcePolicy', options, known);
  requireCompiled(policy);
  let first = policy;
  let applied: AppliedPolicy | undefined;
  return {
    name: 'policy',
    install(server) {
      if (applied !== undefined)
        throw new TypeError('A policy pack can be used on one server only; call enforcePolicy() for each server');
      applied = applyPolicy(server, first, options);
    },
    replace(other) {
      if (applied === undefined) first = other;
      else applied.replace(other);
    },
    close: () => applied?.close(),
  };
}

function requireCompiled(policy: unknown): void {
  if (typeof policy === 'object' && policy !== null && 'access' in policy && 'scopesOf' in policy) return;
  throw new TypeError("enforcePolicy needs a policy that is loaded: enforcePolicy(await loadPolicy('policy.yaml'))");
}

interface Guards {
  readonly run: Middleware;
  readonly maySee: ChangeFilter;
  close(): void;
}

/** Cheap rejections come first, so that a flood costs little; the queue comes last. */
function guardsOf(server: Server, policy: CompiledPolicy, options: ApplyOptions): Guards {
  const isKnown = (tool: string): boolean => server.isRegistered('tools', tool);
  const { buckets: store } = options;
  const shedding = policy.shedding && shedLoad(policy.shedding);
  const middleware: Middleware[] = [];
  if (shedding !== undefined) middleware.push(shedding.middleware);
  if (policy.rate.length > 0)
    middleware.push(rateLimit(policy.rate, { isKnown, ...(store === undefined ? {} : { store }) }));
  if (policy.scopes.length > 0) middleware.push(requireScopes(policy.scopes, options));
  if ((policy.source.arguments ?? []).length > 0) middleware.push(checkArguments(policy));
  if (policy.calls.length > 0) middleware.push(limitCalls(policy.calls));
  for (const rule of policy.concurrency) middleware.push(limitConcurrency(rule, { isKnown }));
  return {
    run: compose(middleware),
    maySee: (uri, principal) => middleware.every((each) => each.maySee?.(uri, principal) !== false),
    close: () => shedding?.close(),
  };
}

/** Long arguments take long to check: those of a caller one after the other, so that others wait for one slice of each. */
const checking = new CallerTurns(Number.POSITIVE_INFINITY, 1);

/** A denied argument is a tool result: the model reads why and can try an allowed one. */
function checkArguments(policy: CompiledPolicy): Middleware {
  return (request, next) => {
    const { method, name = '', params, peer, ctx } = request;
    if (method !== 'tools/call') return next();
    const decide = (violation: Violation | undefined): unknown => {
      if (violation === undefined) return next();
      markDenied(request, `${violation.rule}: ${violation.argument} ${violation.why}`);
      return denial(request, violation.argument, violation.why);
    };
    const violation = checking.runInline(callerKey(peer), ctx, () =>
      runInSlices(policy.checkArguments(name, params['arguments'], peer.principal)),
    );
    return violation instanceof Promise ? violation.then(decide) : decide(violation);
  };
}

function denial(request: RequestInfo, argument: string, why: string): ToolResult {
  const text = `Denied by policy: argument ${JSON.stringify(argument)} of ${request.name} ${why}`;
  return { content: [{ type: 'text', text }], isError: true };
}
