// The schemas of an OpenAPI document as JSON Schema: what only OpenAPI has is converted or left out, and what they refer to
// becomes part of each schema.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { type OpenApiDocument, OpenApiError } from './document.ts';
import { UniqueNames } from './names.ts';
import { isBinary } from './parameters.ts';

type ConvertedSchema = JsonObject | boolean;

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const inner = new Set([
  ...['items', 'additionalItems', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames'],
]);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const named = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** They say nothing about values, or are meant for documents as a whole. */
const leftOut = new Set([
  ...['xml', 'discriminator', 'externalDocs', 'example', 'nullable', 'readOnly', 'writeOnly', '$comment'],
  ...['$schema', '$id', '$anchor', '$dynamicAnchor'],
]);

/**
 * Characters of the schema of one tool, about 60,000 tokens of a model. Stops a document from filling the memory by referring
 * to large schemas in every operation.
 */
const maxSchemaChars = 262_144;
const charsPerKeyword = 12;

/** Converts the schemas of the arguments of one tool, which share their definitions. */
export class SchemaConverter {
  readonly #document: OpenApiDocument;
  /** The names of definitions by reference. */
  readonly #names = new Map<string, string>();
  readonly #unique = new UniqueNames();
  readonly #definitions = new Map<string, ConvertedSchema>();
  /** References whose definitions are not converted yet: a long chain of them must not be a deep recursion. */
  readonly #pending: string[] = [];
  #chars = 0;

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** What the converted schemas refer to; undefined if they refer to nothing. */
  definitions(): JsonObject | undefined {
    for (let next = this.#pending.pop(); next !== undefined; next = this.#pending.pop()) {
      this.#definitions.set(this.#names.get(next) as string, this.convert(this.#document.at(next)));
    }
    return this.#definitions.size === 0 ? undefined : (Object.fromEntries(this.#definitions) as JsonObject);
  }

  convert(schema: unknown): ConvertedSchema {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) return {};
    const { $ref: reference, ...others } = schema;
    if (typeof reference === 'string') {
      // In 3.0, what stands beside a reference has no effect; descriptions are often there nevertheless.
      const kept = this.#document.isVersion30 ? pickDescription(others) : others;
      return { $ref: `#/$defs/${this.#nameOf(reference)}`, ...this.#keywords(kept) };
    }
    const converted = this.#keywords(schema);
    const plain = isBinary(schema) ? asBase64(converted) : converted;
    return this.#document.isVersion30 ? fromVersion30(plain, schema) : plain;
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    // Throws if it leads nowhere.
    this.#document.at(reference);
    const base = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_.-]/g, '_');
    const name = this.#unique.take(base);
    this.#names.set(reference, name);
    this.#definitions.set(name, true);
    this.#pending.push(reference);
    return name;
  }

  #keywords(schema: JsonObject): JsonObject {
    const result: [string, unknown][] = [];
    for (const [key, value] of Object.entries(schema)) {
      if (leftOut.has(key) || key.startsWith('x-')) continue;
      const converted = this.#keyword(key, value);
      if (converted !== undefined) result.push([key, converted]);
    }
    const { properties } = schema;
    return withoutReadOnly(Object.fromEntries(result) as JsonObject, isObject(properties) ? properties : {});
  }

  /** Undefined: it is left out. */
  #keyword(key: string, value: unknown): unknown {
    this.#spend(charsPerKeyword);
    if (inner.has(key)) return this.convert(value);
    if (lists.has(key) && Array.isArray(value)) return value.map((each) => this.convert(each));
    if (named.has(key) && isObject(value)) return this.#byName(value);
    // Patterns of other languages, and the "required: true" of parameters, are frequent mistakes.
    if (key === 'pattern' && !isPattern(value)) return undefined;
    if (key === 'required' && !Array.isArray(value)) return undefined;
    this.#spend((JSON.stringify(value) ?? '').length);
    return value;
  }

  #byName(schemas: JsonObject): JsonObject {
    const converted = Object.entries(schemas).map(([name, each]) => {
      this.#spend(name.length);
      return [name, this.convert(each)];
    });
    return Object.fromEntries(converted) as JsonObject;
  }

  #spend(chars: number): void {
    this.#chars += chars;
    if (this.#chars > maxSchemaChars) throw new OpenApiError(`has schemas of more than ${maxSchemaChars} characters`);
  }
}

const pickDescription = ({ description }: JsonObject): JsonObject =>
  typeof description === 'string' ? { description } : {};

function isPattern(value: unknown): boolean {
  try {
    new RegExp(value as string, 'u');
    return typeof value === 'string';
  } catch {
    return false;
  }
}

/** Bytes are base64 in JSON. */
function asBase64({ format: _format, ...schema }: JsonObject): JsonObject {
  return { ...schema, type: 'string', contentEncoding: 'base64' };
}

/** Read-only properties are part of responses, not of requests. */
function withoutReadOnly(schema: JsonObject, given: JsonObject): JsonObject {
  const readOnly = new Set(
    Object.entries(given).flatMap(([name, each]) => (isObject(each) && each['readOnly'] === true ? [name] : [])),
  );
  if (readOnly.size === 0) return schema;
  const properties = Object.entries(schema['properties'] as JsonObject).filter(([name]) => !readOnly.has(name));
  const { required } = schema;
  return {
    ...schema,
    properties: Object.fromEntries(properties) as JsonObject,
    ...(Array.isArray(required) ? { required: required.filter((name) => !readOnly.has(name as string)) } : {}),
  };
}

/** `nullable`, and limits that are exclusive by a flag. */
function fromVersion30(converted: JsonObject, { nullable }: JsonObject): JsonObject {
  const schema: Record<string, unknown> = { ...converted };
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[flag] !== 'boolean') continue;
    const bound = schema[flag] === true ? schema[limit] : undefined;
    delete schema[flag];
    if (typeof bound !== 'number') continue;
    schema[flag] = bound;
    delete schema[limit];
  }
  if (nullable !== true) return schema as JsonObject;
  const { type, enum: values, description } = schema;
  if (typeof type !== 'string') {
    return { ...(description === undefined ? {} : { description }), anyOf: [schema, { type: 'null' }] } as JsonObject;
  }
  const withNull = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...schema, type: [type, 'null'], ...withNull } as JsonObject;
}
