// Texts of upstreams that users read or programs print, outside of results: hidden characters and terminal sequences are removed.
// A text without any stays the same. Values that an answer has to contain, such as the names of fields, are left as they are.

import { cleanText, cleanValue, inspectValue } from '../../common/hygiene.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonSchema } from '../../schema/index.ts';

/** More than a user reads; stops an upstream from filling the window of a client. */
const maxMessageChars = 65_536;

/** Forms are flat: a field, its items, their options. Stops schemas that were made to be deep. */
const maxFormDepth = 8;

/** The message of an input request. */
export function cleanMessage(message: string): string {
  return cleanText(message, 'strip', maxMessageChars);
}

/** A URL with hidden characters is shown with their codes: `%E2%80%AE`. */
export function cleanUrl(url: string): string {
  return cleanText(url) === url ? url : new URL(url).href;
}

/** The schema of a form, with clean titles and descriptions. */
export function cleanForm(schema: JsonSchema): JsonSchema {
  return inspectValue(schema, 1).length === 0 ? schema : (cleanSchema(schema, 0) as JsonSchema);
}

function cleanSchema(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > maxFormDepth) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, cleanMember(key, value, depth)] as const);
  return Object.fromEntries(entries);
}

function cleanMember(key: string, value: unknown, depth: number): unknown {
  switch (key) {
    case 'title':
    case 'description':
      return typeof value === 'string' ? cleanText(value) : value;
    case 'enumNames':
      return cleanValue(value);
    case 'items':
      return cleanSchema(value, depth + 1);
    case 'oneOf':
    case 'anyOf':
      return Array.isArray(value) ? value.map((each) => cleanSchema(each, depth + 1)) : value;
    case 'properties':
      if (!isObject(value)) return value;
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cleanSchema(each, depth + 1)]));
    default:
      return value;
  }
}

/** The `data` of an error. `maxResultBytes` limits its size; what is nested deeper than a program would read is left out. */
export function cleanErrorData(data: unknown): unknown {
  return data === undefined ? undefined : cleanValue(data);
}
