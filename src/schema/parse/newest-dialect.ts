// Draft-07 as converters of older libraries write it, in 2020-12: some clients accept no other dialect. Of the keywords that
// they write, only tuples have changed.
import type { JsonSchema } from '../types.ts';
import { dialectAt } from './dialects.ts';

/** The same schema in 2020-12, which MCP assumes where a schema names no dialect. */
export function inNewestDialect(schema: JsonSchema): JsonSchema {
  const { $schema, ...rest } = schema;
  if (typeof $schema !== 'string' || dialectAt($schema) !== 'draft-07') return schema;
  return convert(rest) as JsonSchema;
}

/** What these contain is data, not schemas. */
const holdsData = new Set(['const', 'default', 'enum', 'examples']);
/** The keys of these are names. */
const holdsNames = new Set(['$defs', 'definitions', 'patternProperties', 'properties']);
const tupleKeywords: Readonly<Record<string, string>> = { items: 'prefixItems', additionalItems: 'items' };

function convert(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(convert);
  if (typeof schema !== 'object' || schema === null) return schema;
  const isTuple = 'items' in schema && Array.isArray(schema.items);
  return mapEntries(schema, (key, value) => {
    if (holdsData.has(key)) return [key, value];
    if (holdsNames.has(key)) return [key, mapEntries(value as object, (name, each) => [name, convert(each)])];
    if (key === '$ref') return [key, String(value).replace(/\/items\/(?=\d+(\/|$))/g, '/prefixItems/')];
    return [(isTuple ? tupleKeywords[key] : undefined) ?? key, convert(value)];
  });
}

function mapEntries(from: object, map: (key: string, value: unknown) => [string, unknown]): object {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => map(key, value)));
}
