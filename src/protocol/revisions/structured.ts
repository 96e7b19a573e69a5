// Structured results on revisions that only support objects: a tool whose value is not always an object is wrapped in
// `{ "result": value }`, schema and value alike. Wrapping is a property of the tool, not of the value.

import { isObject } from '../json-rpc.ts';
import type { JsonObject } from '../model.ts';

/** True when a tool with this output schema is wrapped on revisions that demand an object. */
export function isWrapped(outputSchema: JsonObject | undefined, value?: unknown): boolean {
  return outputSchema === undefined ? !isObject(value) : outputSchema['type'] !== 'object';
}

/** The schema of the wrapped value. Local references move down with the schema they point into. */
export function wrapSchema(schema: JsonObject): JsonObject {
  const { $schema, ...rest } = movedTo('/properties/result', schema);
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties: { result: rest },
    required: ['result'],
  };
}

/** The schema of a value that matches one of two schemas. It describes an object if the first one does. */
export function eitherSchema(schema: JsonObject, other: JsonObject): JsonObject {
  const { $schema, ...rest } = movedTo('/anyOf/0', schema);
  return {
    ...($schema === undefined ? {} : { $schema }),
    ...(schema['type'] === 'object' ? { type: 'object' } : {}),
    anyOf: [rest, other],
  };
}

/** A schema that moves into another one, with its references. */
function movedTo(pointer: string, schema: JsonObject): Record<string, unknown> {
  // A schema with its own base keeps it: its references already resolve inside itself.
  return ('$id' in schema ? schema : moveReferences(schema, pointer)) as Record<string, unknown>;
}

/** What these contain is data, not schemas. */
const holdsData = new Set(['const', 'default', 'enum', 'examples']);
/** The keys of these are names, which may be those of keywords. */
const holdsNames = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

function moveReferences(value: unknown, pointer: string, keysAreNames = false): unknown {
  if (Array.isArray(value)) return value.map((each) => moveReferences(each, pointer));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]): [string, unknown] => {
    if (keysAreNames) return [key, moveReferences(each, pointer)];
    if (holdsData.has(key)) return [key, each];
    const isLocal = key === '$ref' && typeof each === 'string' && (each === '#' || each.startsWith('#/'));
    return [key, isLocal ? `#${pointer}${each.slice(1)}` : moveReferences(each, pointer, holdsNames.has(key))];
  });
  return Object.fromEntries(entries);
}
