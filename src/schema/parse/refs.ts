// Where a `$ref` leads: JSON pointers, `$anchor`s, embedded resources with an `$id`. Everything is looked up inside
// the schema at hand; nothing is ever fetched. Which plan a reference is bound to is parse.ts's business.
import { limits } from '../limits.ts';
import type { JsonSchema } from '../types.ts';

/** A schema document or an embedded one: where `#` points, and the address relative references start from. */
export interface SchemaResource {
  readonly root: JsonSchema;
  readonly uri: string;
}

/** The subschema a reference leads to. */
export interface ResolvedRef {
  readonly schema: unknown;
  readonly resource: SchemaResource;
}

/** Keywords that hold a schema, a list of schemas, or a map of schemas. */
export const holdsSchema = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
];
holdsSchema.push('then', 'else', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema');
export const holdsList = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
export const holdsMap = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];

/** A schema without `$id` gets this address: relative references need some base, and it can name no real place. */
const baseUri = 'schema:///';

/** Resolves the references of one schema document. The index of anchors and ids is made only if one is used. */
export class References {
  readonly main: SchemaResource;
  #resources: Map<string, SchemaResource> | undefined;
  #anchors: Map<JsonSchema, Map<string, ResolvedRef>> | undefined;

  constructor(root: JsonSchema) {
    this.main = resourceOf(root, { root, uri: baseUri });
  }

  /** `undefined` when the reference leads nowhere or outside. */
  resolve(ref: string, from: SchemaResource): ResolvedRef | undefined {
    const hash = ref.indexOf('#');
    const fragment = hash === -1 ? '' : decode(ref.slice(hash + 1));
    const resource = hash === 0 ? from : this.#resource(hash === -1 ? ref : ref.slice(0, hash), from);
    if (resource === undefined || fragment === undefined) return undefined;
    if (fragment === '') return { schema: resource.root, resource };
    if (fragment.startsWith('/')) return followPointer(fragment, resource);
    this.#index();
    return this.#anchors?.get(resource.root)?.get(fragment);
  }

  #resource(address: string, from: SchemaResource): SchemaResource | undefined {
    const uri = join(address, from.uri);
    if (uri === undefined) return undefined;
    this.#index();
    return this.#resources?.get(uri);
  }

  #index(): void {
    if (this.#resources !== undefined) return;
    this.#resources = new Map([[this.main.uri, this.main]]);
    this.#anchors = new Map();
    const { root } = this.main;
    const open: (ResolvedRef & { readonly depth: number })[] = [{ schema: root, resource: this.main, depth: 0 }];
    let left: number = limits.maxSubschemas;
    for (let next = open.pop(); next !== undefined && left > 0; next = open.pop()) {
      const { schema, depth } = next;
      // Bounded like every walk; a reference beyond the limit is reported as unresolved.
      if (!isObject(schema) || depth > limits.maxSchemaDepth) continue;
      left--;
      const resource = schema === root ? this.main : resourceOf(schema, next.resource);
      if (resource !== next.resource) this.#resources.set(resource.uri, resource);
      this.#noteAnchors(schema, resource);
      for (const child of childrenOf(schema)) open.push({ schema: child, resource, depth: depth + 1 });
    }
  }

  #noteAnchors(schema: JsonSchema, resource: SchemaResource): void {
    const { $anchor, $dynamicAnchor, $id } = schema;
    // Draft-07 wrote an anchor as an `$id` that is only a fragment.
    const oldStyle = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined;
    for (const name of [$anchor, $dynamicAnchor, oldStyle]) {
      if (typeof name !== 'string') continue;
      const anchors = this.#anchors?.get(resource.root) ?? new Map<string, ResolvedRef>();
      this.#anchors?.set(resource.root, anchors.set(name, { schema, resource }));
    }
  }
}

/** What was found out before: thousands of references may lead through the same few schemas. */
const resources = new WeakMap<JsonSchema, { id: string; around: SchemaResource; resource: SchemaResource }>();

/** The resource a subschema belongs to: a new one if it has an `$id` of its own, else the one around it. */
export function resourceOf(schema: JsonSchema, around: SchemaResource): SchemaResource {
  const id = schema['$id'];
  if (typeof id !== 'string' || id.startsWith('#') || id.length > limits.maxIdLength) return around;
  const known = resources.get(schema);
  if (known?.id === id && known.around === around) return known.resource;
  const uri = join(id.replace(/#$/, ''), around.uri) ?? around.uri;
  const resource = uri.length > 4 * limits.maxIdLength ? around : { root: schema, uri };
  resources.set(schema, { id, around, resource });
  return resource;
}

function followPointer(pointer: string, start: SchemaResource): ResolvedRef | undefined {
  let schema: unknown = start.root;
  let resource = start;
  for (const token of pointer.slice(1).split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, key)) return undefined;
    schema = (schema as Record<string, unknown>)[key];
    if (isObject(schema)) resource = resourceOf(schema, resource);
  }
  return { schema, resource };
}

/** The subschemas of a schema. */
export function* childrenOf(schema: JsonSchema): Iterable<unknown> {
  for (const key of holdsSchema) if (isObject(schema[key])) yield schema[key];
  for (const key of holdsList) {
    const list = schema[key];
    if (Array.isArray(list)) yield* list;
  }
  for (const key of holdsMap) {
    const map = schema[key];
    if (isObject(map)) yield* Object.values(map);
  }
}

function decode(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined; // A stray `%`: no name can be meant by it.
  }
}

function join(address: string, base: string): string | undefined {
  try {
    return new URL(address, base).href;
  } catch {
    return undefined; // Not an address at all.
  }
}

/** A plain object, not an array. */
export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
