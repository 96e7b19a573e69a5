// Structured results on revisions that only support objects: a tool whose value is not always an object is wrapped in
// `{ "result": value }`, schema and value alike. Wrapping is a property of the tool, not of the value.

import { isObject } from '../json-rpc.ts';

type Schema = { readonly [key: string]: unknown };

/** True when a tool with this output schema is wrapped on revisions that demand an object. */
export function isWrapped(outputSchema: Schema | undefined, value?: unknown): boolean {
  return outputSchema === undefined ? !isObject(value) : outputSchema['type'] !== 'object';
}

/** The schema of the wrapped value. Local references move down with the schema they point into. */
export function wrapSchema(schema: Schema): Schema {
  // A schema with its own base keeps it: its references already resolve inside itself.
  const inner = '$id' in schema ? schema : moveReferences(schema);
  const { $schema, ...rest } = inner as Record<string, unknown>;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties: { result: rest },
    required: ['result'],
  };
}

function moveReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveReferences);
  if (!isObject(value)) return value;
  const moved: Record<string, unknown> = {};
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && typeof each === 'string' && (each === '#' || each.startsWith('#/'))) {
      moved[key] = `#/properties/result${each.slice(1)}`;
    } else if (key === 'const' || key === 'enum' || key === 'default' || key === 'examples') moved[key] = each;
    else moved[key] = moveReferences(each);
  }
  return moved;
}
