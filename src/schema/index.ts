// The entry point: JSON Schema validation and adapters for Standard Schema libraries.
export { canonicalJson } from './canonical-json.ts';
export { formatIssues } from './checks/issues.ts';
export { compileSchema, loadValidator } from './compile.ts';
export { applyDefaults } from './defaults.ts';
export type { InferOutput } from './infer.ts';
export { SchemaError } from './schema-error.ts';
export { isStandardSchema } from './standard.ts';
export type {
  CompiledSchema,
  Issue,
  JsonSchema,
  SchemaInput,
  Validation,
  Validator,
} from './types.ts';
