// Adapters for Standard Schema libraries: the library itself validates values, the JSON Schema comes from its
// `~standard.jsonSchema`. No library is imported here, nor anywhere else in this folder.
import { isStackOverflow, nestedTooDeeply } from './checks/issues.ts';
import { convertByLibrary } from './libraries.ts';
import { limits } from './limits.ts';
import { inPortableForm } from './parse/portable-form.ts';
import { SchemaError } from './schema-error.ts';
import type {
  CompileOptions,
  Issue,
  JsonSchema,
  StandardConverter,
  StandardIssue,
  StandardProps,
  StandardResult,
  StandardSchemaV1,
  Validation,
  Validator,
} from './types.ts';

const target = 'draft-2020-12';

/** Whether this is a schema of a library that implements Standard Schema (an object, or a function as in ArkType). */
export function isStandardSchema(schema: unknown): schema is StandardSchemaV1 {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false;
  const props = (schema as Partial<StandardSchemaV1>)['~standard'];
  return typeof props === 'object' && props !== null && props.version === 1 && typeof props.validate === 'function';
}

/** Validates by the library's own `validate`; what it returns, transformed or not, is the value handlers see. */
export class StandardValidator implements Validator {
  readonly check = undefined;
  readonly #props: StandardProps;

  constructor(schema: StandardSchemaV1) {
    this.#props = schema['~standard'];
  }

  validate(value: unknown): Validation | Promise<Validation> {
    try {
      const result = this.#props.validate(value);
      return result instanceof Promise ? result.then(toValidation, assertNoOverflow) : toValidation(result);
    } catch (error) {
      return assertNoOverflow(error);
    }
  }
}

/** Libraries recurse over recursive schemas without a bound; a hostile value must not look like an internal error. */
function assertNoOverflow(error: unknown): Validation {
  if (isStackOverflow(error)) return { ok: false, issues: [nestedTooDeeply] };
  throw error;
}

function toValidation(result: StandardResult<unknown>): Validation {
  if (result.issues === undefined) return { ok: true, value: result.value };
  return { ok: false, issues: result.issues.slice(0, limits.maxIssues).map(toIssue) };
}

function toIssue({ message, path = [] }: StandardIssue): Issue {
  return { path: path.map((step) => toStep(typeof step === 'object' ? step.key : step)), message };
}

const toStep = (key: PropertyKey): string | number => (typeof key === 'symbol' ? String(key) : key);

/**
 * The JSON Schema a library gives for its schema. Converted at registration rather than at the first list: that is
 * where an author sees that a type cannot be described to a client, and the first list would need it anyway.
 */
export function describeStandardSchema(schema: StandardSchemaV1, options: CompileOptions): JsonSchema {
  return inPortableForm(convertByConverter(schema, options));
}

function convertByConverter(schema: StandardSchemaV1, { direction, where }: CompileOptions): JsonSchema {
  const props: StandardProps & { readonly jsonSchema?: Partial<StandardConverter> } = schema['~standard'];
  const convert = props.jsonSchema?.[direction];
  // Older versions of ArkType have a separate method.
  const ownMethod = (schema as { toJsonSchema?: unknown }).toJsonSchema;
  try {
    if (typeof convert === 'function') return convert.call(props.jsonSchema, { target });
    if (typeof ownMethod === 'function') return ownMethod.call(schema) as JsonSchema;
    const converted = convertByLibrary(schema, direction);
    if (converted !== undefined) return converted;
  } catch (cause) {
    const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, '');
    throw new SchemaError(
      `${where}: ${props.vendor} cannot describe this schema as JSON Schema: ${reason}. ` +
        'Use a type that JSON can represent, or pass { schema, json } with a JSON Schema of your own.',
      { cause },
    );
  }
  throw new SchemaError(
    `${where}: ${props.vendor} cannot convert this schema to JSON Schema, which clients need. ` +
      `${remedyFor(schema)}, or pass { schema, json } with a JSON Schema of your own.`,
  );
}

function remedyFor(schema: StandardSchemaV1): string {
  switch (schema['~standard'].vendor) {
    case 'zod':
      return '_zod' in schema ? 'Run: npm install zod@4' : 'Run: npm install zod-to-json-schema';
    case 'valibot':
      return 'Run: npm install @valibot/to-json-schema';
    case 'arktype':
      return 'Run: npm install arktype@latest';
    default:
      return 'Update the library';
  }
}
