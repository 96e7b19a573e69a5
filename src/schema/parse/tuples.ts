// Which keyword describes the items of a tuple: that depends on the dialect, and on the keywords beside it.
import type { JsonSchema } from '../types.ts';

/** The schemas of the first items. Before 2020-12, and in TypeBox, they are a list under `items`. */
export function prefixOf({ items, prefixItems }: JsonSchema): readonly unknown[] | undefined {
  return [items, prefixItems].find(Array.isArray);
}

/** What evaluates items beside `unevaluatedItems`, or may. */
const evaluatesItems = [
  ...['items', 'contains', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas', '$ref', '$dynamicRef'],
];

/** Whether `unevaluatedItems` means the items after those of `prefixItems`, and nothing else. */
export function isRestUnevaluated(schema: JsonSchema): boolean {
  return Array.isArray(schema['prefixItems']) && !evaluatesItems.some((keyword) => keyword in schema);
}
