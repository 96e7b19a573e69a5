// Types inferred from schemas, for the public API: exact for Standard Schema libraries,
// best effort for plain JSON Schema written `as const`. Types only, nothing here exists at run time.
import type { EffectSchema, SchemaPair, StandardSchemaV1 } from './types.ts';

/** What a handler receives: the value after validation (and transformation, where the library transforms). */
export type InferOutput<S> = S extends StandardSchemaV1
  ? NonNullable<S['~standard']['types']>['output']
  : S extends SchemaPair<infer Inner>
    ? NonNullable<Inner['~standard']['types']>['output']
    : S extends EffectSchema<infer Type>
      ? Type
      : FromRoot<S>;

/** A root without usable types (a widened object literal, `JsonSchema` itself) is an object of unknowns. */
type FromRoot<S> = unknown extends FromJson<S> ? Record<string, unknown> : FromJson<S>;

/** The value type of a JSON Schema literal; what it cannot read becomes `unknown`, never a wrong type. */
type FromJson<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer B)[] }
      ? FromBranches<B>
      : S extends { readonly oneOf: readonly (infer B)[] }
        ? FromBranches<B>
        : S extends { readonly type: infer T }
          ? FromType<T extends readonly (infer U)[] ? U : T, S>
          : unknown;

type FromBranches<B> = B extends unknown ? FromJson<B> : never;

type FromType<T, S> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? FromArray<S>
          : T extends 'object'
            ? FromObject<S>
            : unknown;

type FromArray<S> = S extends { readonly items: infer I } ? FromJson<I>[] : unknown[];

type FromObject<S> = S extends { readonly properties: infer P extends object }
  ? Flat<
      { -readonly [K in keyof P as K extends Required<S> ? K : never]: FromJson<P[K]> } & {
        -readonly [K in keyof P as K extends Required<S> ? never : K]?: FromJson<P[K]>;
      }
    >
  : S extends { readonly additionalProperties: infer A extends object }
    ? Record<string, FromJson<A>>
    : Record<string, unknown>;

type Required<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type Flat<T> = { [K in keyof T]: T[K] };
