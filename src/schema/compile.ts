// `compileSchema`: finds out what kind of schema was passed, and reports at registration what would fail later.

import type { JsonSchemaValidator } from './json-schema-validator.ts';
import { LazyValidator } from './lazy-validator.ts';
import { fromEffect, isEffectSchema, isTypeBoxSchema } from './libraries.ts';
import { limits } from './limits.ts';
import { parseSchema } from './parse/parse.ts';
import type { Plan } from './parse/plan.ts';
import { inPortableForm } from './parse/portable-form.ts';
import { isObject } from './parse/refs.ts';
import { requireObjectRoot } from './parse/root.ts';
import { SchemaError, tooLargeForAjv } from './schema-error.ts';
import { describeStandardSchema, isStandardSchema, StandardValidator } from './standard.ts';
import { isTrivialSchema } from './trivial-schema.ts';
import type {
  CompiledSchema,
  CompileOptions,
  EffectSchema,
  JsonSchema,
  SchemaInput,
  SchemaPair,
  StandardSchemaV1,
  Validator,
} from './types.ts';

/** Makes the validator of a plain JSON Schema from the function that reads its plan. */
export type MakeValidator = (readPlan: () => Plan) => Validator;

/** Prepares a schema for use. Throws a `SchemaError` that says how to fix a schema that cannot be used. */
export function compileSchema(schema: SchemaInput, options: CompileOptions): CompiledSchema {
  return compileWith(schema, options, makeLazily);
}

/** As `compileSchema`; `make` decides when the validator of a plain JSON Schema is loaded. */
export function compileWith(schema: SchemaInput, options: CompileOptions, make: MakeValidator): CompiledSchema {
  if (isEffectSchema(schema)) return compileWith(standardEffect(schema, options), options, make);
  if (isStandardSchema(schema)) {
    const json = atRoot(describeStandardSchema(schema, options), options);
    return { json, validator: new StandardValidator(schema) };
  }
  if (isPair(schema)) return { json: atRoot(schema.json, options), validator: new StandardValidator(schema.schema) };
  assertSchema(schema, options.where);
  const plain = schema as JsonSchema;
  const json = atRoot(isTypeBoxSchema(schema) ? inPortableForm(plain) : plain, options);
  return { json, validator: plainValidator(json, options.where, make) };
}

function standardEffect(schema: EffectSchema, { direction, where }: CompileOptions): StandardSchemaV1 {
  const standard = fromEffect(schema, direction);
  if (standard !== undefined) return standard;
  throw new SchemaError(
    `${where}: the package "effect" could not be loaded to use this schema. Pass { schema, json }, ` +
      'with Schema.toStandardSchemaV1(…) (Effect 3: Schema.standardSchemaV1(…)) and a JSON Schema of your own.',
  );
}

function plainValidator(json: JsonSchema, where: string, make: MakeValidator): Validator {
  const parsed = isTrivialSchema(json) ? undefined : parseSchema(json, where);
  const beyond = parsed?.needsAjv;
  if (beyond !== undefined) {
    if ((parsed?.count ?? 0) > limits.maxAjvSubschemas) throw tooLargeForAjv(where);
    return new LazyValidator(async () => {
      const { AjvValidator } = await import('./ajv.ts');
      return new AjvValidator(json, beyond, where);
    });
  }
  return make(() => parsed?.plan ?? lazyPlan(json, where));
}

/** The class, once it is loaded: a server can answer its first messages without it. */
let Loaded: typeof JsonSchemaValidator | undefined;

/** Loads the class ahead of the first value, so that this value is validated without waiting. */
export async function loadValidator(): Promise<typeof JsonSchemaValidator> {
  Loaded ??= (await import('./json-schema-validator.ts')).JsonSchemaValidator;
  return Loaded;
}

const makeLazily: MakeValidator = (readPlan) =>
  new LazyValidator(() => {
    if (Loaded !== undefined) return new Loaded(readPlan);
    return loadValidator().then((Validator) => new Validator(readPlan));
  });

/** Reads a schema that was trivial when it was registered, and may have been changed since. */
function lazyPlan(json: JsonSchema, where: string): Plan {
  const { plan, needsAjv } = parseSchema(json, where);
  if (needsAjv === undefined) return plan;
  // A plan would accept values that such keywords forbid.
  throw new SchemaError(
    `${where}: the schema was changed after it was registered. Register the schema that you want to use.`,
  );
}

function atRoot(json: JsonSchema, { root = 'object', where }: CompileOptions): JsonSchema {
  return root === 'object' ? requireObjectRoot(json, where) : json;
}

function isPair(schema: unknown): schema is SchemaPair {
  return isObject(schema) && isObject(schema['json']) && isStandardSchema(schema['schema']);
}

/** JavaScript callers can pass anything: report it here rather than fail later. */
function assertSchema(schema: unknown, where: string): void {
  if (!isObject(schema)) {
    throw new SchemaError(
      `${where}: a schema is a Standard Schema (zod, Valibot, ArkType …) or a JSON Schema object, ` +
        `not ${schema === null ? 'null' : Array.isArray(schema) ? 'array' : typeof schema}.`,
    );
  }
  const inner = Object.values(schema).find(isStandardSchema);
  if (inner !== undefined) {
    throw new SchemaError(
      `${where}: this is an object of ${inner['~standard'].vendor} schemas, not a schema. Wrap it, e.g. z.object({ … }).`,
    );
  }
}
