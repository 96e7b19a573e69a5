// Reads single keywords of a schema and rejects invalid values, with messages that say how to fix them.
// What the keywords mean together is in parse.ts.
import { shorten, show } from '../checks/issues.ts';
import { compilePattern, type Pattern, type PatternBudget } from '../checks/patterns.ts';
import { limits } from '../limits.ts';
import { UnsupportedPattern } from '../pattern/syntax.ts';
import type { JsonSchema } from '../types.ts';
import { anyType, type TypeName, typeBits } from './plan.ts';
import { isObject } from './refs.ts';

/** Groups of keywords that are read together, as bits. */
export const groups = { choice: 1, number: 2, string: 4, array: 8, object: 16, combination: 32, beyond: 64 } as const;

const members: Record<keyof typeof groups, string> = {
  choice: 'enum const',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  string: 'minLength maxLength pattern format',
  array:
    'items prefixItems additionalItems contains minContains maxContains minItems maxItems uniqueItems unevaluatedItems',
  object:
    'properties required additionalProperties patternProperties propertyNames minProperties maxProperties ' +
    'dependentRequired dependentSchemas dependencies',
  combination: 'allOf anyOf oneOf not if then else',
  // No plan can express these: what they accept depends on what other keywords have evaluated.
  beyond: 'unevaluatedProperties $dynamicRef $recursiveRef',
};

let groupsByKeyword: ReadonlyMap<string, number> | undefined;

/** The group of each keyword; annotations and unknown keywords have none. Made when the first schema is read. */
export function groupsOfKeywords(): ReadonlyMap<string, number> {
  return (groupsByKeyword ??= new Map(
    Object.entries(members).flatMap(([group, keywords]) =>
      keywords.split(' ').map((keyword): [string, number] => [keyword, groups[group as keyof typeof groups]]),
    ),
  ));
}

/** Throws a `SchemaError` about one keyword of the subschema being read. */
export type Fail = (keyword: string, problem: string) => never;

/** `type`, a name or a list of names, as bits. */
export function readTypes(schema: JsonSchema, fail: Fail): number {
  const type = schema['type'];
  if (type === undefined) return anyType;
  const names: unknown[] = Array.isArray(type) ? type : [type];
  let bits = 0;
  for (const name of names) {
    if (typeof name !== 'string' || !Object.hasOwn(typeBits, name)) {
      return fail('type', `is ${show(name)}; it must be one of ${Object.keys(typeBits).map(show).join(', ')}`);
    }
    bits |= typeBits[name as TypeName];
  }
  if (bits === 0) return fail('type', 'must name at least one type');
  // A number may be an integer, so the smaller set adds nothing to the larger one.
  return (bits & typeBits.number) !== 0 ? bits | typeBits.integer : bits;
}

/** A finite number. */
export function readNumber(schema: JsonSchema, keyword: string, fail: Fail): number | undefined {
  const value = schema[keyword];
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value;
  if (typeof value === 'boolean' && keyword.startsWith('exclusive')) {
    return fail(keyword, `is a number since draft-06: write "${keyword}": 0 in place of a bound and true`);
  }
  return fail(keyword, `must be a number, not ${show(value)}`);
}

/** A whole number that is not negative: a length or a count. */
export function readCount(schema: JsonSchema, keyword: string, fail: Fail): number | undefined {
  const value = schema[keyword];
  if (value === undefined || (Number.isInteger(value) && (value as number) >= 0)) return value as number | undefined;
  return fail(keyword, `must be a whole number and not negative, not ${show(value)}`);
}

/** A list of property names. */
export function readNames(value: unknown, keyword: string, fail: Fail): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  return fail(keyword, `must be a list of property names, not ${show(value)}`);
}

/** A list with at least one schema in it; what the items are is checked where they are read. */
export function readList(schema: JsonSchema, keyword: string, fail: Fail): readonly unknown[] | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.length > 0) return value;
  return fail(keyword, `must be a list of schemas with at least one in it, not ${show(value)}`);
}

/** An object from names to something, as entries. */
export function readMap(schema: JsonSchema, keyword: string, fail: Fail): readonly (readonly [string, unknown])[] {
  const value = schema[keyword];
  if (value === undefined) return [];
  if (isObject(value)) return Object.entries(value);
  return fail(keyword, `must be an object, not ${show(value)}`);
}

/** `enum` and `const`, each as a list of allowed values. */
export function readChoices(schema: JsonSchema, fail: Fail): readonly (readonly unknown[])[] {
  const choices: (readonly unknown[])[] = [];
  const listed = schema['enum'];
  if (Array.isArray(listed) && listed.length > 0) choices.push(listed);
  else if (listed !== undefined) return fail('enum', `must be a list of at least one value, not ${show(listed)}`);
  if (schema['const'] !== undefined) choices.push([schema['const']]);
  return choices;
}

/** A regular expression. */
export function readPattern(source: unknown, keyword: string, fail: Fail, budget: PatternBudget): Pattern {
  if (typeof source !== 'string') return fail(keyword, `must be a regular expression as text, not ${show(source)}`);
  try {
    return compilePattern(source, budget);
  } catch (error) {
    const reason = shorten(error instanceof Error ? error.message : String(error), limits.maxPathLength);
    return fail(keyword, error instanceof UnsupportedPattern ? reason : `is not a regular expression: ${reason}`);
  }
}
