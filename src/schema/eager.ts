// `compileSchema` for callers that cannot wait: it loads the validator with the module instead of with the first value.
// Not exported by index.ts, so that a server can answer its first messages without loading the validator.
import { compileWith } from './compile.ts';
import { JsonSchemaValidator } from './json-schema-validator.ts';
import type { CompiledSchema, CompileOptions, SchemaInput } from './types.ts';

/** As `compileSchema`, but a plain JSON Schema has a validator with `check` at once, unless it needs ajv. */
export function compileEagerly(schema: SchemaInput, options: CompileOptions): CompiledSchema {
  return compileWith(schema, options, (readPlan) => new JsonSchemaValidator(readPlan));
}
