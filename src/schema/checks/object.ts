// Checks of objects, with their messages. Only own properties count, and one that is `undefined` counts as absent.

import { limits } from '../limits.ts';
import { isAnything, type ObjectRules } from '../parse/plan.ts';
import { stepsOf } from '../weight.ts';
import { spend } from './budget.ts';
import type { Build, Check } from './check.ts';
import { IssueCollector } from './issue-collector.ts';
import { counted, notKnown } from './messages.ts';
import { own } from './value-checks.ts';

/** `properties`, `required` and all other keywords for objects. */
export function checkObject(rules: ObjectRules, build: Build): Check {
  const checks = [...objectChecks(rules, build)];
  return (value, depth, log) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
    let ok = true;
    for (const check of checks) {
      if (check(value, depth, log)) continue;
      ok = false;
      if (log === undefined || log.full) return false;
    }
    return ok;
  };
}

type ObjectCheck = (value: object, depth: number, log: IssueCollector | undefined) => boolean;

function* objectChecks(rules: ObjectRules, build: Build): Iterable<ObjectCheck> {
  if (rules.members.length > 0) yield checkMembers(rules, build);
  if (rules.minProperties !== undefined || rules.maxProperties !== undefined) yield checkSize(rules);
  if (rules.names !== undefined) yield checkNames(build(rules.names), stepsOf(rules.names) + limits.stepsPerName);
  if (rules.additional !== undefined || rules.patterns.length > 0) yield checkOthers(rules, build);
  for (const { name, needs } of rules.dependentRequired) yield checkNeeds(name, needs);
  for (const { name, plan } of rules.dependentSchemas) {
    const check = build(plan);
    yield (value, depth, log) => own(value, name) === undefined || check(value, depth, log);
  }
}

function checkMembers({ members }: ObjectRules, build: Build): ObjectCheck {
  const names = members.map(({ name }) => name);
  const required = members.map((member) => member.required);
  const checks = members.map(({ plan }) => (plan === undefined || isAnything(plan) ? undefined : build(plan)));
  return (value, depth, log) => {
    let ok = true;
    for (let at = 0; at < names.length; at++) {
      const name = names[at] as string;
      const property = own(value, name);
      if (property === undefined ? !required[at] : checkMember(checks[at], name, property, depth, log)) continue;
      if (property === undefined) log?.addAt(name, 'is required');
      ok = false;
      if (log === undefined || log.full) return false;
    }
    return ok;
  };
}

/** Validates one property, one level down. */
function checkMember(
  check: Check | undefined,
  name: string,
  property: unknown,
  depth: number,
  log: IssueCollector | undefined,
): boolean {
  if (check === undefined) return true;
  if (log === undefined) return check(property, depth + 1, undefined);
  log.path.push(name);
  const ok = check(property, depth + 1, log);
  log.path.pop();
  return ok;
}

function checkOthers({ known, patterns, additional }: ObjectRules, build: Build): ObjectCheck {
  const matchers = patterns.map(({ pattern, plan }) => ({ pattern, check: build(plan) }));
  const rest = additional === undefined || additional.never ? undefined : build(additional);
  const steps = [...patterns.map(({ plan }) => plan), ...(additional === undefined ? [] : [additional])].reduce(
    (sum, plan) => sum + stepsOf(plan),
    limits.stepsPerName as number,
  );
  return (value, depth, log) => {
    let ok = true;
    const names = Object.keys(value);
    spend(names.length * steps);
    for (const name of names) {
      let spokenOf = known.has(name);
      if (spokenOf && matchers.length === 0) continue;
      const property = own(value, name);
      if (property === undefined) continue;
      let good = true;
      for (const { pattern, check } of matchers) {
        if (!pattern.test(name)) continue;
        spokenOf = true;
        good = checkMember(check, name, property, depth, log) && good;
      }
      if (!spokenOf && additional !== undefined) {
        good = additional.never
          ? (log?.addAt(name, notKnown(known)) ?? false)
          : checkMember(rest, name, property, depth, log);
      }
      if (good) continue;
      ok = false;
      if (log === undefined || log.full) return false;
    }
    return ok;
  };
}

function checkSize({ minProperties = 0, maxProperties = Number.POSITIVE_INFINITY }: ObjectRules): ObjectCheck {
  return (value, _depth, log) => {
    let size = 0;
    const names = Object.keys(value);
    spend(names.length * limits.stepsPerName);
    for (const name of names) if (own(value, name) !== undefined) size++;
    if (size < minProperties) return log?.add(`must have at least ${counted(minProperties, 'property')}`) ?? false;
    if (size > maxProperties) return log?.add(`must have at most ${counted(maxProperties, 'property')}`) ?? false;
    return true;
  };
}

function checkNames(check: Check, steps: number): ObjectCheck {
  return (value, depth, log) => {
    const names = Object.keys(value);
    spend(names.length * steps);
    for (const name of names) {
      if (own(value, name) === undefined || check(name, depth + 1, undefined)) continue;
      if (log === undefined) return false;
      const inner = new IssueCollector();
      check(name, depth + 1, inner);
      return log.addAt(
        name,
        `is not a valid name for a property: ${inner.found.map(({ message }) => message).join(', ')}`,
      );
    }
    return true;
  };
}

function checkNeeds(name: string, needs: readonly string[]): ObjectCheck {
  return (value, _depth, log) => {
    if (own(value, name) === undefined) return true;
    const missing = needs.filter((other) => own(value, other) === undefined);
    for (const other of missing) log?.addAt(other, `is required when ${JSON.stringify(name)} is present`);
    return missing.length === 0;
  };
}
