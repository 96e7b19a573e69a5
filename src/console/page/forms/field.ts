// What a form shows for a schema: the kind of control, its label, and the schemas of its parts. Parts are described when they
// are shown, so a recursive schema is no special case.

import { type ExactJson, fromPlain } from './json-text.ts';
import { flatten, isComplex, isSchema, maxReferences, resolveReference, type Schema } from './merge.ts';

export interface EnumOption {
  readonly label: string;
  readonly value: ExactJson;
}

export interface FieldProperty {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export interface Branch {
  readonly label: string;
  readonly schema: Schema;
}

interface Common {
  readonly title?: string;
  readonly description?: string;
  /** JSON text of the default; shown, but only sent if the user enters it. */
  readonly defaultText?: string;
  readonly nullable: boolean;
  /** Passwords and the like: typed hidden, not kept. */
  readonly secret: boolean;
}

export type Field = Common &
  (
    | { readonly kind: 'string'; readonly format?: string; readonly lines: boolean }
    | { readonly kind: 'number'; readonly integer: boolean }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'null' }
    | { readonly kind: 'enum'; readonly options: readonly EnumOption[] }
    | {
        readonly kind: 'object';
        readonly properties: readonly FieldProperty[];
        /** The schema of other keys; undefined if the form does not offer any. */
        readonly entries?: Schema;
        /** Whether other keys are allowed at all. */
        readonly open: boolean;
      }
    | {
        readonly kind: 'list';
        /** The schemas of the first items: a tuple. */
        readonly prefix: readonly Schema[];
        /** The schema of all others; undefined if there are none. */
        readonly items?: Schema;
        /** A choice of several options, without duplicates. */
        readonly distinct: boolean;
      }
    | { readonly kind: 'choice'; readonly branches: readonly Branch[] }
    | { readonly kind: 'json' }
  );

/** Texts that fit on a line. */
const shortText = 100;
const oneLine = new Set([
  'date',
  'time',
  'date-time',
  'email',
  'uri',
  'url',
  'uuid',
  'hostname',
  'ipv4',
  'ipv6',
  'password',
]);

/** Describes the schemas of one document; the same schema gives the same field. */
export class FieldReader {
  readonly root: Schema;
  readonly #known = new WeakMap<object, Field>();

  constructor(root: Schema) {
    this.root = root;
  }

  read(given: Schema): Field {
    const schema = this.#target(given);
    let field = this.#known.get(schema);
    if (field === undefined) {
      field = this.#describe(schema);
      this.#known.set(schema, field);
    }
    return field;
  }

  /** What a plain reference names, so that a recursive schema meets its own field again. */
  #target(schema: Schema): Schema {
    let target = schema;
    for (let references = 0; references < maxReferences; references++) {
      const { $ref, ...rest } = target;
      if (typeof $ref !== 'string' || Object.keys(rest).length > 0) return target;
      target = resolveReference($ref, this.root) ?? { unsupported: true };
    }
    return { unsupported: true };
  }

  #describe(original: Schema): Field {
    const schema = flatten(original, this.root);
    const { types, nullable } = typesOf(schema);
    const common = commonOf(schema, nullable);
    if (isComplex(schema)) return { ...common, kind: 'json' };
    const options = optionsOf(schema, this.root);
    if (options !== undefined) return { ...common, nullable: false, kind: 'enum', options };
    for (const keyword of ['oneOf', 'anyOf']) {
      const branches = schema[keyword];
      if (Array.isArray(branches)) return this.#choice(schema, keyword, branches.filter(isSchema), common);
    }
    if (types.length > 1) {
      const { title: _, description: __, default: ___, ...rest } = schema;
      return { ...common, kind: 'choice', branches: labelled(types.map((type) => ({ ...rest, type }))) };
    }
    return typed(types[0], schema, common, original === this.root);
  }

  #choice(schema: Schema, keyword: string, all: readonly Schema[], common: Common): Field {
    const flat = all.map((branch) => flatten(branch, this.root));
    const isNull = (branch: Schema): boolean => branch['type'] === 'null' || branch['const'] === null;
    const indexes = flat.map((_, index) => index).filter((index) => !isNull(flat[index] as Schema));
    const nullable = common.nullable || indexes.length < all.length;
    const { [keyword]: _, title: __, description: ___, default: ____, ...base } = schema;
    const branches = indexes.map((index) => {
      const branch = all[index] as Schema;
      return Object.keys(base).some((each) => !ignored.has(each)) ? { allOf: [base, branch] } : branch;
    });
    if (branches.length === 1) {
      // A reference to a recursive schema keeps its identity here.
      const inner = this.read(branches[0] as Schema);
      return { ...inner, ...defined(common), nullable: nullable || inner.nullable };
    }
    if (branches.length === 0) return { ...common, kind: nullable ? 'null' : 'json' };
    const names = indexes.map((index) => ({ ...(flat[index] as Schema), $ref: all[index]?.['$ref'] }));
    const labels = labelled(names).map(({ label }) => label);
    return {
      ...common,
      nullable,
      kind: 'choice',
      branches: branches.map((branch, index) => ({ schema: branch, label: labels[index] as string })),
    };
  }
}

/** Keywords that say nothing about a value. */
const ignored = new Set(['$schema', '$id', '$defs', 'definitions', '$comment', 'examples', 'discriminator']);

const defined = (common: Common): Partial<Common> =>
  Object.fromEntries(Object.entries(common).filter(([, value]) => value !== undefined && value !== false));

function commonOf(schema: Schema, nullable: boolean): Common {
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  return {
    title: text(schema['title']),
    description: text(schema['description']),
    defaultText: schema['default'] === undefined ? undefined : JSON.stringify(schema['default']),
    nullable,
    secret: schema['format'] === 'password' || schema['writeOnly'] === true,
  };
}

function typesOf(schema: Schema): { types: string[]; nullable: boolean } {
  const given = schema['type'];
  const all = (Array.isArray(given) ? given : [given]).filter((type): type is string => typeof type === 'string');
  if (all.length === 0) {
    // Without a type, the keywords tell what is meant.
    if (schema['properties'] !== undefined || schema['additionalProperties'] !== undefined) all.push('object');
    else if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) all.push('array');
    else if (schema['pattern'] !== undefined || typeof schema['format'] === 'string') all.push('string');
  }
  const types = all.filter((type) => type !== 'null' && !(type === 'integer' && all.includes('number')));
  const nullable = (all.includes('null') && types.length > 0) || schema['nullable'] === true;
  return { types: types.length === 0 ? all.slice(0, 1) : types, nullable };
}

/** The options of an enumeration: `enum`, `const`, or a `oneOf`/`anyOf` of constants with titles. */
function optionsOf(schema: Schema, root: Schema): EnumOption[] | undefined {
  if (schema['const'] !== undefined) return [option(schema['const'])];
  const values = schema['enum'];
  if (Array.isArray(values) && values.length > 0) {
    const names: unknown = schema['enumNames'];
    return values.map((value, index) => option(value, Array.isArray(names) ? names[index] : undefined));
  }
  for (const keyword of ['oneOf', 'anyOf']) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const flat = branches.filter(isSchema).map((branch) => flatten(branch, root));
    if (flat.length === branches.length && flat.every((branch) => branch['const'] !== undefined)) {
      return flat.map((branch) => option(branch['const'], branch['title']));
    }
  }
  return undefined;
}

function option(value: unknown, title?: unknown): EnumOption {
  const label = typeof title === 'string' ? title : typeof value === 'string' ? value : JSON.stringify(value);
  return { label, value: fromPlain(value) };
}

/** Each schema with its title or its type; what would be ambiguous also says how it differs. */
function labelled(schemas: readonly Schema[]): Branch[] {
  const plain = schemas.map((schema) => {
    const { types } = typesOf(schema);
    return typeof schema['title'] === 'string' ? schema['title'] : plainLabel(schema, types);
  });
  return schemas.map((schema, index) => {
    const label = plain[index] as string;
    const isAmbiguous = plain.filter((other) => other === label).length > 1;
    return { schema, label: isAmbiguous ? `${label} (${difference(schema) ?? index + 1})` : label };
  });
}

function plainLabel(schema: Schema, types: readonly string[]): string {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  if (types.length > 0) return types.join(' or ');
  return Array.isArray(schema['enum']) ? schema['enum'].map((each) => JSON.stringify(each)).join(', ') : 'any';
}

/** A constant property, the last part of its reference, or its required properties. */
function difference(schema: Schema): string | undefined {
  for (const [name, property] of Object.entries(isSchema(schema['properties']) ? schema['properties'] : {})) {
    if (isSchema(property) && property['const'] !== undefined) return `${name}: ${String(property['const'])}`;
  }
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1);
  const required = schema['required'];
  if (Array.isArray(required) && required.length > 0) return required.join(', ');
  return typeof schema['format'] === 'string' ? schema['format'] : undefined;
}

function typed(type: string | undefined, schema: Schema, common: Common, isRoot: boolean): Field {
  switch (type) {
    case 'string': {
      const format = typeof schema['format'] === 'string' ? schema['format'] : undefined;
      const { maxLength } = schema;
      const isShort = typeof maxLength === 'number' && maxLength <= shortText;
      const lines = !(common.secret || isShort || schema['pattern'] !== undefined || oneLine.has(format ?? ''));
      return { ...common, kind: 'string', format, lines };
    }
    case 'number':
    case 'integer':
      return { ...common, kind: 'number', integer: type === 'integer' };
    case 'boolean':
    case 'null':
      return { ...common, kind: type };
    case 'object':
      return { ...common, kind: 'object', ...objectParts(schema, isRoot) };
    case 'array':
      return { ...common, kind: 'list', ...listParts(schema) };
    default:
      return { ...common, kind: 'json' };
  }
}

function objectParts(
  schema: Schema,
  isRoot: boolean,
): { properties: FieldProperty[]; entries?: Schema; open: boolean } {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const given = Object.entries(isSchema(schema['properties']) ? schema['properties'] : {});
  const properties = given.flatMap(([name, property]): FieldProperty[] => {
    if (property === false) return [];
    return [{ name, schema: isSchema(property) ? property : {}, required: required.has(name) }];
  });
  // A required name without a schema of its own still needs a field.
  for (const name of required) {
    if (typeof name === 'string' && !given.some(([other]) => other === name)) {
      properties.push({ name, schema: {}, required: true });
    }
  }
  const additional = schema['additionalProperties'] ?? schema['unevaluatedProperties'];
  const patterns = isSchema(schema['patternProperties'])
    ? Object.values(schema['patternProperties']).filter(isSchema)
    : [];
  const open = additional !== false || patterns.length > 0;
  if (isSchema(additional)) return { properties, open, entries: additional };
  if (patterns.length > 0) return { properties, open, entries: patterns.length === 1 ? patterns[0] : {} };
  // Without any property, a part is a map; but arguments without any are none.
  const isMap = open && !isRoot && schema['properties'] === undefined && properties.length === 0;
  if (additional === true || isMap) return { properties, open, entries: {} };
  return { properties, open };
}

function listParts(schema: Schema): { prefix: Schema[]; items?: Schema; distinct: boolean } {
  const asSchema = (each: unknown): Schema => (isSchema(each) ? each : {});
  const { prefixItems, items, additionalItems, unevaluatedItems } = schema;
  // Before 2020-12 a tuple is `items` with a list, and the others are `additionalItems`.
  const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const others = Array.isArray(items) ? additionalItems : (items ?? unevaluatedItems);
  const prefix = tuple.map(asSchema);
  const distinct = schema['uniqueItems'] === true;
  if (others === false || (prefix.length > 0 && others === undefined)) return { prefix, distinct };
  return { prefix, distinct, items: asSchema(others) };
}
