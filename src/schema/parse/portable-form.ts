// Schemas as the converters of libraries write them, in a form that readers of 2020-12 and of draft-07 accept: clients have
// either, and not all of them read `$schema`. The dialects differ in tuples. The meaning in 2020-12 stays the same.
import type { JsonSchema } from '../types.ts';
import { dialectAt } from './dialects.ts';
import { holdsList, holdsMap, holdsSchema, isObject } from './refs.ts';
import { isRestUnevaluated, prefixOf } from './tuples.ts';

/** The same schema for as many readers as possible. MCP assumes 2020-12 where a schema names no dialect. */
export function inPortableForm(schema: JsonSchema): JsonSchema {
  const { $schema, ...rest } = schema;
  return $schema === undefined || isConvertible($schema) ? (convert(rest, rest) as JsonSchema) : schema;
}

const isConvertible = (named: unknown): boolean =>
  typeof named === 'string' && ['2020-12', 'draft-07'].includes(dialectAt(named) ?? '');

const holdsSchemas = new Set([...holdsSchema, ...holdsList]);
/** The keys of these are names. */
const holdsNames = new Set(holdsMap);

function convert(schema: unknown, root: JsonSchema): unknown {
  if (Array.isArray(schema)) return schema.map((each) => convert(each, root));
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === '$ref') return [[key, movedRef(String(value), root)]];
    if (holdsNames.has(key)) return [[key, mapValues(value, (each) => convert(each, root))]];
    if (isAboutLength(schema, key)) return [];
    // No value is allowed, but some readers reject an empty list.
    if (key === 'enum' && isEmptyList(value)) return [['not', {}]];
    return [[keywordIn(schema, key), holdsSchemas.has(key) ? convert(value, root) : value]];
  });
  return { ...Object.fromEntries(entries), ...maxItemsOf(schema) };
}

/** The keyword for the items after the first ones. */
const restOf = (schema: JsonSchema): string => (Array.isArray(schema['items']) ? 'additionalItems' : 'items');

/** `false` for all further items becomes `maxItems`. An empty list of first items is not allowed in 2020-12. */
function isAboutLength(schema: JsonSchema, key: string): boolean {
  const value = schema[key];
  if (value === false) return key === restOf(schema);
  return isEmptyList(value) && (key === 'prefixItems' || key === 'items');
}

/** A reader of draft-07 knows no `prefixItems`, and takes `items: false` for no items at all. */
function maxItemsOf(schema: JsonSchema): { readonly maxItems?: number } {
  if (schema[restOf(schema)] !== false) return {};
  const { maxItems } = schema;
  const length = prefixOf(schema)?.length ?? 0;
  return { maxItems: typeof maxItems === 'number' ? Math.min(maxItems, length) : length };
}

/** The keyword to write in place of one that a converter wrote. */
function keywordIn(schema: unknown, key: string): string {
  if (!isObject(schema)) return key;
  if (key === 'items' && Array.isArray(schema['items'])) return 'prefixItems';
  const prefix = prefixOf(schema);
  if (prefix === undefined || key !== restOf(schema)) return key;
  const { items: _, additionalItems: __, ...others } = schema;
  // A reader of draft-07 would apply `items` to the first items, too.
  const canMove = isRestUnevaluated({ ...others, prefixItems: prefix });
  return canMove && prefix.length > 0 && isObject(schema[key]) ? 'unevaluatedItems' : 'items';
}

/** A reference to the same part of the schema, which may be in a tuple. The converters escape nothing in references. */
function movedRef(ref: string, root: JsonSchema): string {
  if (!ref.startsWith('#/')) return ref;
  let at: unknown = root;
  let isName = false;
  const path = ref.slice(2).split('/');
  const moved = path.map((key) => {
    const next = isName ? key : keywordIn(at, key);
    isName = !isName && holdsNames.has(key);
    at = (at as Record<string, unknown> | undefined)?.[key];
    return next;
  });
  return `#/${moved.join('/')}`;
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function mapValues(from: unknown, map: (value: unknown) => unknown): unknown {
  if (!isObject(from)) return from;
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, map(value)]));
}
