// Draft-07 as converters of older libraries write it, in 2020-12: some clients accept no other dialect. Of the keywords that
// they write, only tuples have changed.
import type { JsonSchema } from '../types.ts';
import { dialectAt } from './dialects.ts';

/** The same schema in 2020-12, which MCP assumes where a schema names no dialect. */
export function inNewestDialect(schema: JsonSchema): JsonSchema {
  const { $schema, ...rest } = schema;
  if (typeof $schema !== 'string' || dialectAt($schema) !== 'draft-07') return schema;
  return convert(rest, rest) as JsonSchema;
}

/** What these contain is data, not schemas. */
const holdsData = new Set(['const', 'default', 'enum', 'examples']);
/** The keys of these are names. */
const holdsNames = new Set(['$defs', 'definitions', 'patternProperties', 'properties']);
const tupleKeywords: Readonly<Record<string, string>> = { items: 'prefixItems', additionalItems: 'items' };

function convert(schema: unknown, root: JsonSchema): unknown {
  if (Array.isArray(schema)) return schema.map((each) => convert(each, root));
  if (typeof schema !== 'object' || schema === null) return schema;
  return mapEntries(schema, (key, value) => {
    if (holdsData.has(key)) return [key, value];
    if (holdsNames.has(key)) return [key, mapEntries(value as object, (name, each) => [name, convert(each, root)])];
    if (key === '$ref') return [key, movedRef(String(value), root)];
    return [keywordIn(schema, key), convert(value, root)];
  });
}

/** The keyword of 2020-12 for that of a draft-07 schema. */
function keywordIn(schema: unknown, key: string): string {
  const isTuple = typeof schema === 'object' && schema !== null && 'items' in schema && Array.isArray(schema.items);
  return (isTuple ? tupleKeywords[key] : undefined) ?? key;
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

function mapEntries(from: object, map: (key: string, value: unknown) => [string, unknown]): object {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => map(key, value)));
}
