// Explains whether a call would be allowed, and why, without running it: for `mooring policy check`.

import type { Principal } from '../../protocol/callers/principal.ts';
import { hasScopes } from '../auth/claims.ts';
import { compileTarget, type LimitTarget } from '../limits/scope.ts';
import type { CompiledPolicy } from './compile.ts';

/** A call to check: one of `tool`, `resource`, `prompt`. */
export interface PolicyQuery {
  /** The caller. Default: one that is not authenticated. */
  readonly principal?: Principal;
  /** The name of a tool to call. */
  readonly tool?: string;
  /** The URI of a resource to read. */
  readonly resource?: string;
  /** The name of a prompt to get. */
  readonly prompt?: string;
  /** The arguments of the tool. */
  readonly args?: unknown;
}

/** One step of the decision. */
export interface Reason {
  /** Which part of the policy it is about. */
  readonly step: 'access' | 'scopes' | 'arguments' | 'limits';
  /** The entry of the policy that applies. */
  readonly rule: string;
  /** `step-up`: a token with more scopes is needed. `limit`: it applies to the call, and does not decide. */
  readonly effect: 'allow' | 'deny' | 'step-up' | 'limit';
  /** The reason of the rule, or what was compared. */
  readonly why: string;
}

/** The decision about a call. */
export interface Explanation {
  /** `step-up`: allowed with a token that has `scopes`. */
  readonly decision: 'allow' | 'deny' | 'step-up';
  /** The scopes that are needed, with `step-up`. */
  readonly scopes?: readonly string[];
  /** The steps that led to it, in their order. */
  readonly reasons: readonly Reason[];
}

/** Decides about a call as the server would. */
export function explainCall(policy: CompiledPolicy, query: PolicyQuery): Explanation {
  const { principal, tool, resource, prompt, args } = query;
  const [kind, key, method] =
    tool !== undefined
      ? (['tools', tool, 'tools/call'] as const)
      : resource !== undefined
        ? (['resources', resource, 'resources/read'] as const)
        : (['prompts', prompt ?? '', 'prompts/get'] as const);
  const { allowed, rule, why } = policy.access.decide(kind, key, principal);
  const reasons: Reason[] = [{ step: 'access', rule, effect: allowed ? 'allow' : 'deny', why }];
  if (!allowed) return { decision: 'deny', reasons };

  const scopes = policy.scopesOf({ method, name: key });
  const reaches = hasScopes(principal, scopes);
  if (scopes.length > 0) {
    const said = `needs the scopes ${scopes.join(' ')}${reaches ? ', which the caller has' : ''}`;
    reasons.push({ step: 'scopes', rule: 'scopes', effect: reaches ? 'allow' : 'step-up', why: said });
  }
  const violation = tool === undefined ? undefined : resultOf(policy.checkArguments(tool, args, principal));
  if (violation !== undefined) {
    const said = `argument ${JSON.stringify(violation.argument)} ${violation.why}`;
    reasons.push({ step: 'arguments', rule: violation.rule, effect: 'deny', why: said });
  }
  reasons.push(...limitsOn(policy, method, key));
  if (!reaches) return { decision: 'step-up', scopes, reasons };
  return { decision: violation === undefined ? 'allow' : 'deny', reasons };
}

/** What all steps together return. */
function resultOf<T>(steps: Generator<void, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

function limitsOn(policy: CompiledPolicy, method: string, name: string): Reason[] {
  const covers = (target: Omit<LimitTarget, 'per'>): boolean => compileTarget(target)({ method, name } as never);
  const perOf = (per: LimitTarget['per']): string => (typeof per === 'string' ? per : per.join(' and '));
  const limit = (rule: string, why: string): Reason => ({ step: 'limits', rule, effect: 'limit', why });
  return [
    ...policy.rate.flatMap((rule, index) => {
      if (!covers(rule)) return [];
      const { requests, windowMs, burst = requests } = rule;
      return [limit(`limits.rate[${index}]`, `${requests} in ${windowMs} ms per ${perOf(rule.per)}, ${burst} at once`)];
    }),
    ...policy.concurrency.flatMap((rule, index) => {
      if (!covers(rule)) return [];
      return [
        limit(
          `limits.concurrency[${index}]`,
          `${rule.max} at a time per ${perOf(rule.per)}, ${rule.queue ?? 0} waiting`,
        ),
      ];
    }),
    ...policy.calls.flatMap((rule, index) => {
      if (!covers(rule)) return [];
      const { timeoutMs, maxResultBytes } = rule;
      const parts = [
        ...(timeoutMs === undefined ? [] : [`times out after ${timeoutMs} ms`]),
        ...(maxResultBytes === undefined ? [] : [`result of at most ${maxResultBytes} bytes`]),
      ];
      return parts.length === 0 ? [] : [limit(`limits.calls[${index}]`, parts.join(', '))];
    }),
  ];
}

/** The explanation as lines of text. */
export function formatExplanation({ decision, reasons }: Explanation): string {
  const rows = reasons.map(({ step, rule, effect, why }) => `  ${effect.padEnd(8)}${step.padEnd(11)}${rule}: ${why}`);
  return [decision, ...rows].join('\n');
}
