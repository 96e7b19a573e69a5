// Who may use what: the access rules of a policy, compiled. Each decision names the rule behind it.

import { compileGlobs, type Glob, literalPrefix } from '../../common/glob.ts';
import type { RestrictedKind } from '../../engine/ports.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import { variantsOf } from '../uri-variants.ts';
import type { AccessRule, Audience, Policy } from './contract.ts';

/** A decision, and the rule behind it. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** `rules[2]` or its name; `default` when no rule matched. */
  readonly rule: string;
  readonly why: string;
}

/** Decides by a policy. */
export interface AccessPolicy {
  decide(kind: RestrictedKind, key: string, principal: Principal | undefined): AccessDecision;
}

/** Cached decisions per caller and kind; made-up names must not fill memory. */
const maxRemembered = 2_000;

export function compileAccess({ rules, default: fallback }: Policy, profile: string | undefined): AccessPolicy {
  const byDefault = fallback ?? (rules === undefined ? 'allow' : 'deny');
  const compiled = (rules ?? []).map(compileRule).filter(({ audience }) => audience.inProfile(profile));
  const last: AccessDecision = {
    allowed: byDefault === 'allow',
    rule: 'default',
    why: `no rule matches, the default is ${byDefault}`,
  };

  const firstMatch = (kind: RestrictedKind, key: string, principal: Principal | undefined): AccessDecision => {
    for (const { covers, audience, decision } of compiled) {
      if (covers(kind, key) && audience.fits(principal)) return decision;
    }
    return last;
  };

  /** Of all variants of a URI, the strictest decision counts. */
  const strictest = (kind: RestrictedKind, key: string, principal: Principal | undefined): AccessDecision => {
    if (kind !== 'resources') return firstMatch(kind, key, principal);
    const decisions = variantsOf(key).map((variant) => firstMatch(kind, variant, principal));
    return decisions.find(({ allowed }) => !allowed) ?? (decisions[0] as AccessDecision);
  };

  const remembered: Readonly<Record<RestrictedKind, WeakMap<object, Map<string, AccessDecision>>>> = {
    tools: new WeakMap(),
    resources: new WeakMap(),
    resourceTemplates: new WeakMap(),
    prompts: new WeakMap(),
  };
  const anonymous = {};
  return {
    decide(kind, key, principal) {
      if (compiled.length === 0) return last;
      const caller = principal ?? anonymous;
      let known = remembered[kind].get(caller);
      if (known === undefined) remembered[kind].set(caller, (known = new Map()));
      let decision = known.get(key);
      if (decision === undefined) {
        decision = strictest(kind, key, principal);
        if (known.size >= maxRemembered) known.clear();
        if (key.length <= 512) known.set(key, decision);
      }
      return decision;
    },
  };
}

function compileRule(rule: AccessRule, index: number) {
  const { tools, resources, prompts, effect, reason } = rule;
  const all = tools === undefined && resources === undefined && prompts === undefined;
  const fits: Readonly<Record<RestrictedKind, Glob>> = {
    tools: compileGlobs(tools ?? []),
    prompts: compileGlobs(prompts ?? []),
    resources: compileGlobs(resources ?? []),
    resourceTemplates: coverTemplates(resources ?? [], effect),
  };
  const name = rule.name === undefined ? `rules[${index}]` : `rules[${index}] "${rule.name}"`;
  return {
    covers: (kind: RestrictedKind, key: string): boolean => all || fits[kind](key),
    audience: compileAudience(rule),
    decision: {
      allowed: effect === 'allow',
      rule: name,
      why: reason ?? `${name} says ${effect}`,
    } satisfies AccessDecision,
  };
}

/**
 * A resource template is denied if the rule covers all of its resources, and allowed if one of them may be allowed: reads
 * of single resources are decided separately.
 */
function coverTemplates(patterns: readonly string[], effect: 'allow' | 'deny'): Glob {
  if (effect === 'deny') return compileGlobs(patterns);
  const beginnings = patterns.map(literalPrefix);
  return (template) => {
    const own = template.slice(0, template.indexOf('{') === -1 ? undefined : template.indexOf('{'));
    return beginnings.some((beginning) => own.startsWith(beginning) || beginning.startsWith(own));
  };
}

/** The callers that a rule applies to. */
export interface CompiledAudience {
  fits(principal: Principal | undefined): boolean;
  inProfile(profile: string | undefined): boolean;
}

export function compileAudience({ principals, issuers, scopes, profiles }: Audience): CompiledAudience {
  const named = principals && compileGlobs(principals);
  const vouched = issuers && compileGlobs(issuers);
  const served = profiles && compileGlobs(profiles);
  // A caller without a name does not match an empty name.
  const matchesAll = principals?.some((each) => each === '*' || each === '**') === true;
  return {
    fits(principal) {
      if (named !== undefined && !(principal === undefined ? matchesAll : matchesAll || named(principal.id)))
        return false;
      if (vouched !== undefined && !(principal?.issuer !== undefined && vouched(principal.issuer))) return false;
      return scopes === undefined || scopes.every((scope) => principal?.scopes?.includes(scope) === true);
    },
    inProfile: (profile) => served === undefined || (profile !== undefined && served(profile)),
  };
}
