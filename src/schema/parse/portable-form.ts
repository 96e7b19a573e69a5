// Schemas as the converters of libraries write them, in a form that readers of 2020-12 and of draft-07 accept: clients have
// either, and not all of them read `$schema`. The dialects differ in tuples. References lead to `$defs`, where every reader
// finds what they refer to. The meaning in 2020-12 stays the same.
import type { JsonSchema } from '../types.ts';
import { dialectAt } from './dialects.ts';
import { childrenOf, holdsList, holdsMap, holdsSchema, isObject, References } from './refs.ts';
import { isRestUnevaluated, prefixOf } from './tuples.ts';

/** The same schema for as many readers as possible. MCP assumes 2020-12 where a schema names no dialect. */
export function inPortableForm(schema: JsonSchema): JsonSchema {
  const { $schema, ...named } = schema;
  if ($schema !== undefined && !isConvertible($schema)) return schema;
  const root = withoutRootRef(named);
  const definitions = new Definitions(root);
  const converted = convert(root, definitions) as JsonSchema;
  const added = definitions.added();
  return added === undefined ? converted : { ...converted, $defs: { ...(converted['$defs'] as object), ...added } };
}

const isConvertible = (named: unknown): boolean =>
  typeof named === 'string' && ['2020-12', 'draft-07'].includes(dialectAt(named) ?? '');

const holdsSchemas = new Set([...holdsSchema, ...holdsList]);
/** The keys of these are names. */
const holdsNames = new Set(holdsMap);

/** Readers look for `properties` at the root, but converters also write the root as a definition and refer to it. */
function withoutRootRef(root: JsonSchema): JsonSchema {
  const { $ref, $defs, ...others } = root;
  const name = typeof $ref === 'string' ? /^#\/\$defs\/(\w+)$/.exec($ref)?.[1] : undefined;
  if (name === undefined || !isObject($defs) || Object.keys(others).some((key) => !annotations.has(key))) return root;
  const { [name]: target, ...rest } = $defs;
  if (!isObject(target) || target['$ref'] !== undefined || target['$id'] !== undefined) return root;
  const isUsed = JSON.stringify([target, rest]).includes(JSON.stringify($ref));
  const left = isUsed ? $defs : rest;
  return { ...target, ...others, ...(Object.keys(left).length > 0 && { $defs: left }) };
}

const annotations = new Set(['title', 'description', 'examples', 'default', 'deprecated', '$comment']);

function convert(schema: unknown, definitions: Definitions): unknown {
  if (Array.isArray(schema)) return schema.map((each) => convert(each, definitions));
  if (!isObject(schema)) return schema;
  const name = definitions.nameOf(schema);
  return name === undefined ? convertKeywords(schema, definitions) : { $ref: `#/$defs/${name}` };
}

function convertKeywords(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === '$ref') return [[key, definitions.refTo(value)]];
    if (holdsNames.has(key)) return [[key, mapValues(value, (each) => convert(each, definitions))]];
    if (isAboutLength(schema, key)) return [];
    // No value is allowed, but some readers reject an empty list.
    if (key === 'enum' && isEmptyList(value)) return [['not', {}]];
    return [[keywordIn(schema, key), holdsSchemas.has(key) ? convert(value, definitions) : value]];
  });
  return { ...Object.fromEntries(entries), ...maxItemsOf(schema) };
}

/**
 * The parts of a schema that references lead to. Some readers only follow references to `$defs`, but converters also refer
 * to the root, and to the first use of a part. Those parts move to `$defs`.
 */
class Definitions {
  readonly #root: JsonSchema;
  readonly #references: References;
  readonly #names = new Map<unknown, string>();

  constructor(root: JsonSchema) {
    this.#root = root;
    this.#references = new References(root);
    const seen = new Set<unknown>();
    const open: unknown[] = [root];
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      if (!isObject(part) || seen.has(part)) continue;
      seen.add(part);
      if (part !== root && part['$id'] !== undefined) {
        // References in there start from it, not from the root. TypeBox writes such parts, and refers to them by their name.
        this.#names.clear();
        return;
      }
      const target = this.#target(part['$ref']);
      if (target !== undefined && !this.#names.has(target))
        this.#names.set(target, this.#newName(part['$ref'] as string));
      open.push(...childrenOf(part));
    }
  }

  /** The name of a part that moves. The root stays where it is, too. */
  nameOf(schema: JsonSchema): string | undefined {
    return schema === this.#root ? undefined : this.#names.get(schema);
  }

  refTo(ref: unknown): unknown {
    const name = this.#names.get(this.#target(ref));
    return name === undefined ? ref : `#/$defs/${name}`;
  }

  added(): JsonSchema | undefined {
    if (this.#names.size === 0) return undefined;
    const { $defs: _, definitions: __, ...root } = this.#root;
    const parts = [...this.#names].map(([part, name]): [string, JsonSchema] => {
      return [name, convertKeywords(part === this.#root ? root : (part as JsonSchema), this)];
    });
    return Object.fromEntries(parts);
  }

  /** What a reference leads to, if that has to move. */
  #target(ref: unknown): JsonSchema | undefined {
    if (typeof ref !== 'string' || (ref !== '#' && !ref.startsWith('#/'))) return undefined;
    if (/^#\/(\$defs|definitions)\/[^/]+$/.test(ref)) return undefined;
    const target = this.#references.resolve(ref, this.#references.main)?.schema;
    return isObject(target) ? target : undefined;
  }

  /** A name as the part had it, e.g. that of its property. */
  #newName(ref: string): string {
    const last = ref.split('/').at(-1) ?? '';
    const name = ref === '#' ? 'root' : /^[a-z]\w*$/i.test(last) ? last : 'part';
    const taken = new Set([...this.#names.values(), ...Object.keys((this.#root['$defs'] as object | undefined) ?? {})]);
    let unique = name;
    for (let count = 2; taken.has(unique); count++) unique = `${name}${count}`;
    return unique;
  }
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
function keywordIn(schema: JsonSchema, key: string): string {
  if (key === 'items' && Array.isArray(schema['items'])) return 'prefixItems';
  const prefix = prefixOf(schema);
  if (prefix === undefined || key !== restOf(schema)) return key;
  const { items: _, additionalItems: __, ...others } = schema;
  // A reader of draft-07 would apply `items` to the first items, too.
  const canMove = isRestUnevaluated({ ...others, prefixItems: prefix });
  return canMove && prefix.length > 0 && isObject(schema[key]) ? 'unevaluatedItems' : 'items';
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function mapValues(from: unknown, map: (value: unknown) => unknown): unknown {
  if (!isObject(from)) return from;
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, map(value)]));
}
