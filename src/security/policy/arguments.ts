// Constraints on the arguments of tools: the argument rules of a policy, compiled.

import { compileGlobs, type Glob, matchInSteps } from '../../common/glob.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import { compileEagerly } from '../../schema/eager.ts';
import { formatIssues, type JsonSchema } from '../../schema/index.ts';
import { type CompiledAudience, compileAudience } from './access.ts';
import { type ArgumentRule, type Policy, PolicyError } from './contract.ts';

/** A rule that an argument violates. */
export interface Violation {
  readonly rule: string;
  readonly argument: string;
  readonly why: string;
}

/** Finds the first rule that the arguments violate. In steps: callers choose how long their arguments are. */
export type CheckArguments = (
  tool: string,
  args: unknown,
  principal: Principal | undefined,
) => Generator<void, Violation | undefined>;

type Steps<T> = Generator<void, T>;

interface CompiledRule {
  readonly name: string;
  readonly argument: string;
  readonly fitsTool: Glob;
  readonly audience: CompiledAudience;
  /** What is wrong with one value. */
  readonly problemOf: (value: unknown) => Steps<string | undefined>;
  readonly reason: string | undefined;
}

export function compileArguments({ arguments: rules = [] }: Policy, profile: string | undefined): CheckArguments {
  const compiled = rules.map(compileRule).filter(({ audience }) => audience.inProfile(profile));
  return function* (tool, args, principal) {
    for (const { name, argument, fitsTool, audience, problemOf, reason } of compiled) {
      if (!fitsTool(tool) || !audience.fits(principal)) continue;
      for (const { value, at } of valuesAt(args, argument)) {
        const problem = yield* problemOf(value);
        if (problem !== undefined) return { rule: name, argument: at, why: reason ?? problem };
        yield;
      }
    }
    return undefined;
  };
}

function compileRule(rule: ArgumentRule, index: number): CompiledRule {
  const name = rule.name === undefined ? `arguments[${index}]` : `arguments[${index}] "${rule.name}"`;
  const { tools, argument, allow, deny, ignoreCase = false, maxLength, reason } = rule;
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const allowed = allow && compileGlobs(allow.map(fold));
  const denied = deny && compileGlobs(deny.map(fold));
  const validate = rule.schema && compileFragment(rule.schema, name);

  const textFlaw = function* (text: string): Steps<string | undefined> {
    if (maxLength !== undefined && text.length > maxLength) return `must not have more than ${maxLength} characters`;
    const folded = fold(text);
    if (denied !== undefined && (yield* matchInSteps(denied, folded))) return 'has a value that is denied';
    if (allowed !== undefined && !(yield* matchInSteps(allowed, folded))) return 'has a value that is not allowed';
    return undefined;
  };
  const problemOf = function* (value: unknown): Steps<string | undefined> {
    const problem = validate?.(value);
    if (problem !== undefined) return problem;
    if (allowed === undefined && denied === undefined && maxLength === undefined) return undefined;
    for (const text of textsIn(value)) {
      const found = yield* textFlaw(text);
      if (found !== undefined) return found;
      yield;
    }
    // Only strings can match a list of globs.
    return allowed !== undefined && typeof value !== 'string' && !Array.isArray(value) ? 'must be a string' : undefined;
  };
  return { name, argument, fitsTool: compileGlobs(tools), audience: compileAudience(rule), problemOf, reason };
}

/** A hostile text can make a pattern slow; a list of globs never is. */
const slowPatternText = new Set(['pattern', 'patternProperties', '$ref', '$dynamicRef']);

function compileFragment(schema: JsonSchema, where: string): (value: unknown) => string | undefined {
  assertFastPattern(schema, where);
  const { validator } = compileEagerly(schema, { direction: 'input', root: 'any', where });
  const { check } = validator;
  if (check === undefined) throw new PolicyError(`${where}: this schema is too complex for a policy; simplify it`);
  return (value) => {
    const issues = check(value);
    return issues === undefined ? undefined : formatIssues(issues);
  };
}

function assertFastPattern(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (slowPatternText.has(key))
      throw new PolicyError(`${where}: "${key}" is not allowed in a policy; use allow and deny`);
    assertFastPattern(item, where);
  }
}

/** The values that a rule applies to, and where they are. Missing values are ignored. */
function* valuesAt(args: unknown, argument: string): Generator<{ readonly value: unknown; readonly at: string }> {
  if (argument === '*') {
    for (const text of textsIn(args)) yield { value: text, at: '*' };
    return;
  }
  const names = argument.startsWith('/')
    ? argument
        .slice(1)
        .split('/')
        .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    : [argument];
  let value = args;
  for (const name of names) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
    value = (value as Record<string, unknown>)[name];
  }
  yield { value, at: argument };
}

/** All texts in a value, at any depth. Not recursive: messages may be deeper than a policy should have to know. */
function* textsIn(value: unknown): Generator<string> {
  const levels = [[value].values()];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { value: item, done } = level.next();
    if (done === true) levels.pop();
    else if (typeof item === 'string') yield item;
    else if (typeof item === 'object' && item !== null) levels.push(Object.values(item).values());
  }
}
