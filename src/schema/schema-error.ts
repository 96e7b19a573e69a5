// The error for a schema that cannot be used, found when it is registered.
import { limits } from './limits.ts';

/** Thrown by `compileSchema`. The message says where and what is wrong, and how to fix it. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
  /** For programs. */
  readonly code = 'bad_schema';
}

/** For a schema that our own compiler does not know all keywords of, and that ajv would take seconds to compile. */
export function tooLargeForAjv(where: string): SchemaError {
  return new SchemaError(
    `${where}: a schema with "unevaluatedProperties", "unevaluatedItems" or "$dynamicRef" may have at most ` +
      `${limits.maxAjvSubschemas} subschemas. Split it, or do without these keywords.`,
  );
}
