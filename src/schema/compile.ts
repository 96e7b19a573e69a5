// `compileSchema`: sorts what a user handed in, and finds at registration whatever would fail later.
import { AjvValidator } from './ajv.ts';
import { SchemaError } from './schema-error.ts';
import { describeStandardSchema, isStandardSchema, StandardValidator } from './standard.ts';
import type { CompiledSchema, CompileOptions, JsonSchema, SchemaInput, SchemaPair } from './types.ts';

/** Prepares a schema for use. Throws a `SchemaError` that says how to mend what cannot be used. */
export function compileSchema(schema: SchemaInput, options: CompileOptions): CompiledSchema {
  if (isStandardSchema(schema)) {
    return { json: rooted(describeStandardSchema(schema, options), options), validator: new StandardValidator(schema) };
  }
  if (isPair(schema)) return { json: rooted(schema.json, options), validator: new StandardValidator(schema.schema) };
  const json = rooted(schema, options);
  return { json, validator: new AjvValidator(json, '2020-12', options.where) };
}

function isPair(schema: SchemaInput): schema is SchemaPair {
  return 'json' in schema && isStandardSchema((schema as { schema?: unknown }).schema);
}

function rooted(json: JsonSchema, { root = 'object', where }: CompileOptions): JsonSchema {
  if (root === 'object' && json['type'] !== 'object')
    throw new SchemaError(`${where}: the root must say type: "object"`);
  return json;
}
