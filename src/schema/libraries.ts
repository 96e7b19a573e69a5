// Libraries that cannot describe their schemas by themselves: the converter that belongs to each is loaded from the user's
// project when such a schema is registered. Nothing here is a dependency of ours.
import type {
  EffectSchema,
  JsonSchema,
  StandardConverter,
  StandardProps,
  StandardResult,
  StandardSchemaV1,
} from './types.ts';

type Direction = 'input' | 'output';
type ConvertSchema = (schema: unknown, options?: object) => JsonSchema;

/** The JSON Schema of a library's schema, by the converter that belongs to it; `undefined` where none is installed. */
export function convertByLibrary(schema: StandardSchemaV1, direction: Direction): JsonSchema | undefined {
  const { vendor } = schema['~standard'];
  return Object.hasOwn(converters, vendor) ? converters[vendor]?.(schema, direction) : undefined;
}

const converters: Readonly<Record<string, (schema: object, direction: Direction) => JsonSchema | undefined>> = {
  zod: (schema, direction) => ('_zod' in schema ? convertZod4(schema, direction) : convertZod3(schema, direction)),
  valibot: (schema, direction) =>
    load<{ toJsonSchema: ConvertSchema }>('@valibot/to-json-schema')?.toJsonSchema(schema, {
      typeMode: direction,
      target: 'draft-2020-12',
      overrideAction: keepUndescribed,
    }),
};

interface ValibotAction {
  readonly valibotAction: { readonly kind: string; readonly type: string };
  readonly jsonSchema: JsonSchema;
  readonly errors: readonly string[] | undefined;
}

/** They change a value at most, but not what JSON Schema says of it. */
const keepsType = new Set([
  ...['brand', 'flavor', 'readonly', 'trim', 'trim_start', 'trim_end', 'normalize', 'to_lower_case', 'to_upper_case'],
  ...['filter_items', 'sort_items', 'to_min_value', 'to_max_value'],
]);

/**
 * A check that JSON Schema cannot express is made but not listed, as in the other libraries. The pattern of a regular
 * expression with flags would be wrong without them, so that is still an error.
 */
function keepUndescribed({ valibotAction: { kind, type }, jsonSchema, errors }: ValibotAction): JsonSchema | undefined {
  if (errors === undefined || type === 'regex') return undefined;
  return kind === 'validation' || keepsType.has(type) ? jsonSchema : undefined;
}

/** Before 4.2, and in zod/mini, only the package's own function converts. */
function convertZod4(schema: object, io: Direction): JsonSchema | undefined {
  for (const name of ['zod', 'zod/v4']) {
    const zod = load<{ toJSONSchema?: ConvertSchema }>(name);
    if (zod?.toJSONSchema !== undefined) return zod.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  }
  return undefined;
}

function convertZod3(schema: object, pipeStrategy: Direction): JsonSchema | undefined {
  const library = load<{ zodToJsonSchema: ConvertSchema }>('zod-to-json-schema');
  return library?.zodToJsonSchema(schema, { pipeStrategy, effectStrategy: 'input' });
}

interface EffectLibrary {
  readonly Schema: {
    /** Version 4. */
    readonly toStandardSchemaV1?: (schema: unknown) => StandardSchemaV1;
    /** A schema whose values are JSON: its JSON Schema describes this one. */
    readonly toCodecJson?: (schema: unknown) => unknown;
    readonly toStandardJSONSchemaV1?: (schema: unknown) => { '~standard': { jsonSchema: StandardConverter } };
    /** Version 3. */
    readonly standardSchemaV1?: (schema: unknown) => StandardSchemaV1;
    readonly typeSchema?: (schema: unknown) => unknown;
  };
  readonly JSONSchema?: { readonly make: ConvertSchema };
}

/** Effect marks its schemas by these keys, in version 3 and 4. */
const effectKeys = [Symbol.for('effect/Schema'), '~effect/Schema/Schema'] as const;

export function isEffectSchema(schema: unknown): schema is EffectSchema {
  return typeof schema === 'function' && effectKeys.some((key) => key in schema);
}

/** TypeBox marks its schemas by these keys, in version 1 and 0. */
const typeBoxKeys = ['~kind', Symbol.for('TypeBox.Kind')] as const;

/** A schema of TypeBox is JSON Schema, but its tuples are those of draft-07 without saying so. */
export function isTypeBoxSchema(schema: object): boolean {
  return typeBoxKeys.some((key) => key in schema);
}

/** A schema of Effect as a Standard Schema; `undefined` where the package cannot be loaded. */
export function fromEffect(schema: EffectSchema, direction: Direction): StandardSchemaV1 | undefined {
  const library = load<EffectLibrary>('effect');
  if (library === undefined) return undefined;
  const { Schema, JSONSchema } = library;
  // What a client sends is JSON (a date as text, `null` for `undefined`); what a handler returns is not.
  const validated = direction === 'input' ? (Schema.toCodecJson?.(schema) ?? schema) : schema;
  const validate = (Schema.toStandardSchemaV1 ?? Schema.standardSchemaV1)?.(validated)['~standard'].validate;
  if (validate === undefined) return undefined;
  const jsonSchema =
    Schema.toStandardJSONSchemaV1?.(schema)['~standard'].jsonSchema ??
    ({
      input: () => JSONSchema?.make(schema) ?? {},
      output: () => JSONSchema?.make(Schema.typeSchema?.(schema)) ?? {},
    } satisfies StandardConverter);
  const props: StandardProps & { readonly jsonSchema: StandardConverter } = {
    version: 1,
    vendor: 'effect',
    validate: validate as (value: unknown) => StandardResult<unknown> | Promise<StandardResult<unknown>>,
    jsonSchema,
  };
  return { '~standard': props };
}

interface NodeProcess {
  readonly argv?: readonly string[];
  cwd?(): string;
  getBuiltinModule?(name: 'node:module'): { createRequire(from: string): (name: string) => unknown } | undefined;
}

/**
 * A package of the user's project, at once: registering a tool is synchronous. `undefined` where it is not installed or
 * the platform cannot load synchronously.
 */
function load<T>(name: string): T | undefined {
  const { process } = globalThis as { readonly process?: NodeProcess };
  const createRequire = process?.getBuiltinModule?.('node:module')?.createRequire;
  if (createRequire === undefined) return undefined;
  for (const from of [process?.argv?.[1], `${process?.cwd?.()}/package.json`, import.meta.url]) {
    if (from === undefined) continue;
    try {
      return createRequire(from)(name) as T;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}
