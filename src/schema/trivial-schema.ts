// Recognizes schemas that are certainly valid by a short check: most tools have one. All other schemas
// are parsed in full by parse.ts, which also has the messages.
import { typeBits } from './parse/plan.ts';
import { isObject } from './parse/refs.ts';

/** Beyond these the check is not short any more. */
const maxDepth = 8;
const maxSubschemas = 200;

const anything = (): boolean => true;
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isBound = Number.isFinite;

/** What a keyword's value must be to be certainly valid. */
const validKeywords: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['type', (value) => typeof value === 'string' && Object.hasOwn(typeBits, value)],
  ['title', anything],
  ['description', anything],
  ['default', anything],
  ['examples', anything],
  ['const', anything],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['required', (value) => Array.isArray(value) && value.every((name) => typeof name === 'string')],
  ['minimum', isBound],
  ['maximum', isBound],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
]);

/** True only for a schema that can be read without an error and needs nothing that a plan cannot express. */
export function isTrivialSchema(schema: unknown): boolean {
  let left = maxSubschemas;
  const look = (part: unknown, depth: number): boolean => {
    if (typeof part === 'boolean') return true;
    if (!isObject(part) || depth > maxDepth || --left < 0) return false;
    // Reading a keyword by its name also sees inherited and non-enumerable ones.
    const prototype: unknown = Object.getPrototypeOf(part);
    if (prototype !== Object.prototype && prototype !== null) return false;
    for (const keyword of Object.getOwnPropertyNames(part)) {
      const value = part[keyword];
      if (keyword === 'properties') {
        if (!isObject(value) || !Object.values(value).every((each) => look(each, depth + 1))) return false;
      } else if (keyword === 'items' || keyword === 'additionalProperties') {
        if (!look(value, depth + 1)) return false;
      } else if (validKeywords.get(keyword)?.(value) !== true) return false;
    }
    return true;
  };
  return look(schema, 0);
}
