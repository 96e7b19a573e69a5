// The schema of an elicitation form as clients can show it: a flat object of simple fields, with no other keywords.

import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonSchema } from '../../schema/index.ts';

const common = ['type', 'title', 'description', 'default'];

/** The keywords of each type of field (2025-11-25, Elicitation, "Requested Schema"). */
const fields: Readonly<Record<string, readonly string[]>> = {
  string: [...common, 'minLength', 'maxLength', 'format', 'enum', 'enumNames', 'oneOf'],
  number: [...common, 'minimum', 'maximum'],
  integer: [...common, 'minimum', 'maximum'],
  boolean: common,
  array: [...common, 'minItems', 'maxItems', 'items'],
};

/** Formats that a client must know. A schema library may use others; only the server checks those. */
const formats = ['email', 'uri', 'date', 'date-time'];

/** The form that clients show. Responses are still validated against the original schema. */
export function flatForm(schema: JsonSchema): JsonSchema {
  const properties: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    properties[name] = flatField(name, isObject(field) ? field : {});
  }
  const { $schema, required } = schema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties,
    ...(required === undefined ? {} : { required }),
  };
}

function flatField(name: string, field: JsonSchema): JsonSchema {
  const type = field['type'] ?? (Array.isArray(field['enum']) || Array.isArray(field['oneOf']) ? 'string' : undefined);
  const keys = typeof type === 'string' && Object.hasOwn(fields, type) ? fields[type] : undefined;
  const choices = isObject(field['items']) ? (field['items']['enum'] ?? field['items']['anyOf']) : undefined;
  if (keys === undefined || (type === 'array' && !Array.isArray(choices))) {
    throw new TypeError(
      `Elicitation form: field ${JSON.stringify(name)} must be a string, number, boolean, choice or list of choices; request nested values one by one`,
    );
  }
  const flat: Record<string, unknown> = { type };
  for (const key of keys) if (field[key] !== undefined) flat[key] = field[key];
  if (flat['format'] !== undefined && !formats.includes(flat['format'] as string)) delete flat['format'];
  return flat;
}
