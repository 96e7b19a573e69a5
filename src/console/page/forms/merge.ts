// Schemas without references: `$ref` resolved, `allOf` and siblings of a reference merged into one schema.

export type Schema = { readonly [keyword: string]: unknown };

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords that a form cannot show; such a part of a value is edited as JSON. */
const complex = [
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
  '$dynamicRef',
  '$recursiveRef',
  'unsupported',
];

/** More references in a row than this are a circle. */
export const maxReferences = 32;

export const isComplex = (schema: Schema): boolean => complex.some((keyword) => schema[keyword] !== undefined);

/** The schema that a reference within `root` names; undefined if there is none. */
export function resolveReference(reference: string, root: Schema): Schema | undefined {
  if (!reference.startsWith('#')) return undefined;
  const pointer = reference.slice(1);
  if (pointer === '') return root;
  if (!pointer.startsWith('/')) return findAnchor(root, pointer);
  let at: unknown = root;
  for (const part of pointer.slice(1).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Schema)[key];
  }
  if (at === true) return {};
  return isSchema(at) ? at : undefined;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not an encoded text, so it is the key itself.
    return part;
  }
}

function findAnchor(root: Schema, anchor: string): Schema | undefined {
  for (const definitions of [root['$defs'], root['definitions']]) {
    if (!isSchema(definitions)) continue;
    for (const each of Object.values(definitions)) if (isSchema(each) && each['$anchor'] === anchor) return each;
  }
  return undefined;
}

/** One schema in place of references and `allOf`. What cannot be merged becomes a schema that is edited as JSON. */
export function flatten(schema: Schema, root: Schema, references = 0): Schema {
  if (references > maxReferences) return { unsupported: true };
  const { $ref, allOf, ...rest } = schema;
  let result: Schema = rest;
  if (typeof $ref === 'string') {
    const target = resolveReference($ref, root);
    if (target === undefined) return { ...rest, unsupported: true };
    // The annotations beside a reference are about this place, so they replace those of the target.
    result = merge(flatten(target, root, references + 1), rest);
  }
  if (Array.isArray(allOf)) {
    const parts = allOf.filter(isSchema).map((part) => flatten(part, root, references + 1));
    const merged = parts.reduce<Schema>(merge, {});
    result = merge(merged, result);
  }
  return result;
}

/** A schema that requires both. */
export function merge(a: Schema, b: Schema): Schema {
  const result: { [keyword: string]: unknown } = { ...a, ...b };
  for (const keyword of Object.keys(a)) {
    if (b[keyword] === undefined) {
      result[keyword] = a[keyword];
    } else {
      const combined = mergers[keyword]?.(a[keyword], b[keyword]);
      if (combined === conflict) result['unsupported'] = true;
      else if (combined !== undefined) result[keyword] = combined;
    }
  }
  return result;
}

const conflict = Symbol('conflict');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);
const both = (a: unknown, b: unknown): unknown => (a === b ? a : { allOf: [a, b].filter((each) => each !== true) });

const mergers: Readonly<Record<string, (a: unknown, b: unknown) => unknown>> = {
  type(a, b) {
    const allowed = list(b).flatMap((type) => {
      if (list(a).includes(type)) return [type];
      if (type === 'number' && list(a).includes('integer')) return ['integer'];
      return type === 'integer' && list(a).includes('number') ? ['integer'] : [];
    });
    if (allowed.length === 0) return conflict;
    return allowed.length === 1 ? allowed[0] : allowed;
  },
  properties(a, b) {
    const merged: [string, unknown][] = Object.entries(a as Schema);
    for (const [name, schema] of Object.entries(b as Schema)) {
      const index = merged.findIndex(([other]) => other === name);
      if (index < 0) merged.push([name, schema]);
      else merged[index] = [name, both(merged[index]?.[1], schema)];
    }
    return Object.fromEntries(merged);
  },
  required: (a, b) => [...new Set([...list(a), ...list(b)])],
  enum(a, b) {
    const texts = new Set(list(b).map((each) => JSON.stringify(each)));
    const common = list(a).filter((each) => texts.has(JSON.stringify(each)));
    return common.length === 0 ? conflict : common;
  },
  additionalProperties(a, b) {
    if (a === false || b === false) return false;
    return both(a, b);
  },
  items: (a, b) => (a === false || b === false ? false : both(a, b)),
  const: (a, b) => (JSON.stringify(a) === JSON.stringify(b) ? a : conflict),
  oneOf: (a, b) => (a === b ? a : conflict),
  anyOf: (a, b) => (a === b ? a : conflict),
  prefixItems: (a, b) => (a === b ? a : conflict),
};
