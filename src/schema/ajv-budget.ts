// Makes ajv spend from the budget of a validation. Its validators have no bound of their own: two recursive branches
// double their work at every level of a value. So every subschema gets a keyword that counts how often it is used.
import type { Ajv } from 'ajv';
import { spend } from './checks/budget.ts';
import { limits } from './limits.ts';
import { holdsMap, isObject } from './parse/refs.ts';
import { tooLargeForAjv } from './schema-error.ts';
import type { JsonSchema } from './types.ts';

const keyword = 'mooring:steps';

/** Keywords that hold a map from names to schemas: the map itself is none. */
const maps: ReadonlySet<string> = new Set(holdsMap);
/** Keywords that hold values, in which nothing is a schema. */
const values: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', '$vocabulary', 'required']);

/** Makes the keyword known. */
export function addBudget(ajv: Ajv): void {
  const validate = (): boolean => {
    spend(limits.stepsPerSubschema);
    return true;
  };
  ajv.addKeyword({ keyword, validate, errors: false });
}

/**
 * A copy of a schema in which every subschema counts. Also in places that no keyword names, since a reference may lead
 * there. Throws a `SchemaError` for a schema that ajv would take seconds to compile.
 */
export function countUses(schema: JsonSchema, where: string): JsonSchema {
  let left: number = limits.maxAjvSubschemas;
  const copySchema = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(copySchema);
    if (!isObject(part)) return part;
    if (--left < 0) throw tooLargeForAjv(where);
    const copies = Object.entries(part).map(([name, value]) => [name, copyKeyword(name, value)] as const);
    return Object.fromEntries([...copies, [keyword, true]]);
  };
  const copyKeyword = (name: string, value: unknown): unknown => {
    if (values.has(name)) return value;
    if (!maps.has(name) || !isObject(value)) return copySchema(value);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copySchema(each)]));
  };
  return copySchema(schema) as JsonSchema;
}
