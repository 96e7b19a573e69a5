// Runs a plan as a tree of functions. The complete validation: it explains what is wrong, works where code must not be
// generated, and decides where generated code cannot. The checks themselves are in checks*.ts.

import { limits } from '../limits.ts';
import { anyType, isAnything, type Plan, type Ref, typeBits } from '../parse/plan.ts';
import { stepsOf } from '../weight.ts';
import { checkArray } from './array.ts';
import { depthExceeded, spend } from './budget.ts';
import type { Build, Check } from './check.ts';
import { show } from './issues.ts';
import { mustBe, mustBeOneOf, nameTypes } from './messages.ts';
import { checkObject } from './object.ts';
import { checkNumber, checkString } from './scalar.ts';
import { checkAny, checkConditional, checkNot, checkOne } from './union.ts';
import { equals, isComposite } from './value-checks.ts';

/** The check for a plan and everything it refers to. */
export function buildCheck(root: Plan): Check {
  const targets = new Map<Plan, Check>();
  const build: Build = (plan) => {
    if (plan.never) return (_value, _depth, log) => log?.add('is not allowed') ?? false;
    const basic = [...basicChecksOf(plan)];
    const checks = [...checksOf(plan, build)];
    if (plan.ref !== undefined) checks.unshift(follow(plan.ref));
    return inOrder(basic, checks);
  };
  const follow = (ref: Ref): Check => {
    const { target } = ref;
    if (target === undefined || isAnything(target)) return () => true;
    // Built at first use, which also ends the recursion of a schema that contains itself.
    return (value, depth, log) => {
      if (depth > limits.maxValueDepth) throw depthExceeded;
      spend(stepsOf(target));
      let check = targets.get(target);
      if (check === undefined) targets.set(target, (check = build(target)));
      return check(value, depth, log);
    };
  };
  return build(root);
}

/** Checked first: if one of them fails, the others would only confuse, because a number has no length. */
function* basicChecksOf(plan: Plan): Iterable<Check> {
  if (plan.types !== anyType) yield checkType(plan.types);
  for (const choices of plan.choices) yield checkChoice(choices);
}

function* checksOf(plan: Plan, build: Build): Iterable<Check> {
  if (plan.number !== undefined) yield checkNumber(plan.number);
  if (plan.string !== undefined) yield checkString(plan.string);
  if (plan.array !== undefined) yield checkArray(plan.array, build);
  if (plan.object !== undefined) yield checkObject(plan.object, build);
  for (const part of plan.allOf) yield build(part);
  if (plan.anyOf !== undefined) yield checkAny(plan.anyOf.map(build));
  if (plan.oneOf !== undefined) yield checkOne(plan.oneOf.map(build));
  if (plan.not !== undefined) yield checkNot(build(plan.not), plan.not.source);
  if (plan.conditional !== undefined) yield checkConditional(plan.conditional, build);
}

function inOrder(basic: readonly Check[], checks: readonly Check[]): Check {
  const [only] = [...basic, ...checks];
  if (only === undefined) return () => true;
  if (basic.length + checks.length === 1) return only;
  return (value, depth, log) => {
    for (const check of basic) if (!check(value, depth, log)) return false;
    let ok = true;
    for (const check of checks) {
      if (check(value, depth, log)) continue;
      ok = false;
      if (log === undefined || log.full) return false;
    }
    return ok;
  };
}

function checkType(bits: number): Check {
  const wanted = nameTypes(bits);
  return (value, _depth, log) => {
    if ((bitOf(value) & bits) !== 0) return true;
    return log?.addKind(wanted, mustBe(wanted, value)) ?? false;
  };
}

/** The bits a value has; an integer is a number, and a number that JSON cannot represent is nothing. */
function bitOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return typeBits.string;
    case 'number':
      if (Number.isInteger(value)) return typeBits.integer | typeBits.number;
      return Number.isFinite(value) ? typeBits.number : 0;
    case 'boolean':
      return typeBits.boolean;
    case 'object':
      if (value === null) return typeBits.null;
      return Array.isArray(value) ? typeBits.array : typeBits.object;
    default:
      return 0;
  }
}

function checkChoice(choices: readonly unknown[]): Check {
  const scalars = new Set(choices.filter((choice) => !isComposite(choice)));
  const composites = choices.filter(isComposite);
  // Formatted once: there may be many, and many values that are none of them.
  let wanted: readonly string[] | undefined;
  return (value, _depth, log) => {
    if (isComposite(value) ? composites.some((choice) => equals(value, choice)) : scalars.has(value)) return true;
    if (log === undefined) return false;
    wanted ??= choices.map(show);
    return log.addKind(wanted, mustBeOneOf(wanted));
  };
}
