// The plan of a schema: every keyword checked, spellings of all drafts made one, references bound. `parse.ts` makes
// it once at registration; `closures.ts` and `codegen.ts` are two ways to run it and read nothing else.
import type { Pattern } from '../checks/patterns.ts';

/** The JSON types as bits, so that a set of types is one number. `number` includes the integers. */
export const typeBits = {
  string: 1,
  number: 2,
  integer: 4,
  boolean: 8,
  array: 16,
  object: 32,
  null: 64,
} as const;

/** The name of a JSON type. */
export type TypeName = keyof typeof typeBits;

/** No `type` keyword: everything may pass. */
export const anyType = 127;

/** One subschema. An absent part means that the schema has no such keyword. */
export interface Plan {
  /** The schema `false`. */
  readonly never: boolean;
  readonly types: number;
  /** `enum` and `const`: the value must be in every list. */
  readonly choices: readonly (readonly unknown[])[];
  readonly number: NumberRules | undefined;
  readonly string: StringRules | undefined;
  readonly array: ArrayRules | undefined;
  readonly object: ObjectRules | undefined;
  readonly ref: Ref | undefined;
  readonly allOf: readonly Plan[];
  readonly anyOf: readonly Plan[] | undefined;
  readonly oneOf: readonly Plan[] | undefined;
  readonly not: Plan | undefined;
  readonly conditional: Conditional | undefined;
  /** What was written, for messages. */
  readonly source: unknown;
}

/** Whether a plan accepts everything, as `true`, `{}` and mere annotations do. */
export function isAnything(plan: Plan): boolean {
  return (
    !plan.never &&
    plan.types === anyType &&
    plan.choices.length === 0 &&
    plan.allOf.length === 0 &&
    (plan.number ?? plan.string ?? plan.array ?? plan.object ?? plan.ref) === undefined &&
    (plan.anyOf ?? plan.oneOf ?? plan.not ?? plan.conditional) === undefined
  );
}

/** A reference; `target` is bound after everything has been read, since schemas may refer to themselves. */
export interface Ref {
  target: Plan | undefined;
}

/** `if`, `then`, `else`. */
export interface Conditional {
  readonly when: Plan;
  readonly matched: Plan | undefined;
  readonly otherwise: Plan | undefined;
}

/** Keywords for numbers. */
export interface NumberRules {
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: number | undefined;
  readonly exclusiveMaximum: number | undefined;
  readonly multipleOf: number | undefined;
}

/** Keywords for strings; lengths are in code points. */
export interface StringRules {
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: Pattern | undefined;
  readonly format: { readonly name: string; readonly test: (text: string) => boolean } | undefined;
}

/** Keywords for arrays. */
export interface ArrayRules {
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly unique: boolean;
  readonly prefix: readonly Plan[];
  /** For the items after `prefix`. */
  readonly rest: Plan | undefined;
  readonly contains: { readonly plan: Plan; readonly min: number; readonly max: number } | undefined;
}

/** Keywords for objects. */
export interface ObjectRules {
  /** `properties` and `required` in one list, in the order they were written. */
  readonly members: readonly Member[];
  /** The names in `properties`. */
  readonly known: ReadonlySet<string>;
  readonly patterns: readonly { readonly pattern: Pattern; readonly plan: Plan }[];
  /** For properties that are neither in `known` nor match `patterns`. */
  readonly additional: Plan | undefined;
  readonly names: Plan | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
  readonly dependentRequired: readonly { readonly name: string; readonly needs: readonly string[] }[];
  readonly dependentSchemas: readonly { readonly name: string; readonly plan: Plan }[];
}

/** A named property: required, or described (`plan`), or both. */
export interface Member {
  readonly name: string;
  readonly required: boolean;
  readonly plan: Plan | undefined;
}
