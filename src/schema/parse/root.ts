// What the root may be: tool arguments are objects, and the schema shown to clients must say so.

import { SchemaError } from '../schema-error.ts';
import type { JsonSchema } from '../types.ts';
import { isObject, References } from './refs.ts';

/** The schema itself, or with `type: "object"` added where nothing else can match anyway (a union of objects). */
export function requireObjectRoot(json: JsonSchema, where: string): JsonSchema {
  if (json['type'] === 'object') return json;
  if (json['type'] === undefined && admitsOnlyObjects(json, new References(json), 0))
    return { type: 'object', ...json };
  throw new SchemaError(
    `${where}: only an object is allowed here, so the root of the schema must say type: "object". ` +
      'Put other values into a property: { type: "object", properties: { value: … } }.',
  );
}

function admitsOnlyObjects(schema: unknown, references: References, depth: number): boolean {
  // Deep enough for every union that libraries write; a circle of references ends here too.
  if (!isObject(schema) || depth > 8) return false;
  if (schema['type'] !== undefined) return schema['type'] === 'object';
  const admits = (inner: unknown): boolean => admitsOnlyObjects(inner, references, depth + 1);
  const { $ref, allOf, anyOf, oneOf } = schema;
  if (typeof $ref === 'string' && admits(references.resolve($ref, references.main)?.schema)) return true;
  if (Array.isArray(allOf) && allOf.some(admits)) return true;
  return [anyOf, oneOf].some((branches) => Array.isArray(branches) && branches.length > 0 && branches.every(admits));
}
