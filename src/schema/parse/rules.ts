// Reads the keywords that belong together, one group for each kind of value. Subschemas inside them are read through
// the `Reader` that parse.ts is.
import { formats } from '../checks/formats.ts';
import { show } from '../checks/issues.ts';
import type { Pattern } from '../checks/patterns.ts';
import type { JsonSchema } from '../types.ts';
import { type Fail, readCount, readMap, readNames, readNumber } from './keywords.ts';
import type { ArrayRules, Member, NumberRules, ObjectRules, Plan, StringRules } from './plan.ts';
import { isRestUnevaluated } from './tuples.ts';

/** How rules reach the subschemas under their keywords. */
export interface SubschemaReader {
  readonly fail: Fail;
  /** The schema under a keyword, `undefined` also when it accepts everything. */
  child(schema: JsonSchema, keyword: string): Plan | undefined;
  list(schema: JsonSchema, keyword: string): Plan[] | undefined;
  map(schema: JsonSchema, keyword: string): { name: string; plan: Plan }[];
  descend(schema: unknown, ...steps: (string | number)[]): Plan;
  pattern(source: unknown, keyword: string): Pattern;
}

/** `minimum` and similar keywords. */
export function readNumberRules(schema: JsonSchema, { fail }: SubschemaReader): NumberRules | undefined {
  const minimum = readNumber(schema, 'minimum', fail);
  const maximum = readNumber(schema, 'maximum', fail);
  const exclusiveMinimum = readNumber(schema, 'exclusiveMinimum', fail);
  const exclusiveMaximum = readNumber(schema, 'exclusiveMaximum', fail);
  const multipleOf = readNumber(schema, 'multipleOf', fail);
  if (multipleOf !== undefined && multipleOf <= 0) fail('multipleOf', 'must be greater than 0');
  if ((minimum ?? maximum ?? exclusiveMinimum ?? exclusiveMaximum ?? multipleOf) === undefined) return undefined;
  return { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf };
}

/** `minLength`, `maxLength`, `pattern`, `format`. */
export function readStringRules(schema: JsonSchema, reader: SubschemaReader): StringRules | undefined {
  const { fail } = reader;
  const minLength = readCount(schema, 'minLength', fail);
  const maxLength = readCount(schema, 'maxLength', fail);
  const source = schema['pattern'];
  const pattern = source === undefined ? undefined : reader.pattern(source, 'pattern');
  const name = schema['format'];
  if (name !== undefined && typeof name !== 'string') return fail('format', `must be a name, not ${show(name)}`);
  const test = name === undefined ? undefined : formats.get(name);
  const format = name === undefined || test === undefined ? undefined : { name, test };
  if ((minLength ?? maxLength ?? pattern ?? format) === undefined) return undefined;
  return { minLength, maxLength, pattern, format };
}

/** `items` in all its spellings, `contains`, `uniqueItems`, `minItems`, `maxItems`. */
export function readArrayRules(schema: JsonSchema, reader: SubschemaReader): ArrayRules | undefined {
  const { fail } = reader;
  const minItems = readCount(schema, 'minItems', fail);
  const maxItems = readCount(schema, 'maxItems', fail);
  const unique = schema['uniqueItems'];
  if (unique !== undefined && typeof unique !== 'boolean') return fail('uniqueItems', 'must be true or false');
  // Before 2020-12 a list under `items` was what `prefixItems` is now, and `additionalItems` what `items` is now.
  const oldStyle = Array.isArray(schema['items']);
  const prefix = reader.list(schema, 'prefixItems') ?? (oldStyle ? reader.list(schema, 'items') : undefined) ?? [];
  const rest =
    reader.child(schema, oldStyle ? 'additionalItems' : 'items') ??
    (isRestUnevaluated(schema) ? reader.child(schema, 'unevaluatedItems') : undefined);
  const plan = reader.child(schema, 'contains');
  const min = readCount(schema, 'minContains', fail) ?? 1;
  const max = readCount(schema, 'maxContains', fail) ?? Number.POSITIVE_INFINITY;
  const contains = plan === undefined ? undefined : { plan, min, max };
  const isConstrained =
    (minItems ?? maxItems ?? rest ?? contains) !== undefined || unique === true || prefix.length > 0;
  return isConstrained ? { minItems, maxItems, unique: unique === true, prefix, rest, contains } : undefined;
}

/** `properties` and all other keywords for objects. */
export function readObjectRules(schema: JsonSchema, reader: SubschemaReader): ObjectRules | undefined {
  const { fail } = reader;
  const properties = reader.map(schema, 'properties');
  const required = new Set(readNames(schema['required'], 'required', fail));
  const known = new Set(properties.map(({ name }) => name));
  const members: Member[] = properties.map(({ name, plan }) => ({ name, required: required.has(name), plan }));
  for (const name of required) if (!known.has(name)) members.push({ name, required: true, plan: undefined });
  const patterns = reader.map(schema, 'patternProperties').map(({ name, plan }) => {
    return { pattern: reader.pattern(name, 'patternProperties'), plan };
  });
  const additional = reader.child(schema, 'additionalProperties');
  const names = reader.child(schema, 'propertyNames');
  const minProperties = readCount(schema, 'minProperties', fail);
  const maxProperties = readCount(schema, 'maxProperties', fail);
  const { dependentRequired, dependentSchemas } = readDependencies(schema, reader);
  const counted = members.length + patterns.length + dependentRequired.length + dependentSchemas.length;
  if (counted === 0 && (additional ?? names ?? minProperties ?? maxProperties) === undefined) return undefined;
  return {
    members,
    known,
    patterns,
    additional,
    names,
    minProperties,
    maxProperties,
    dependentRequired,
    dependentSchemas,
  };
}

function readDependencies(schema: JsonSchema, reader: SubschemaReader) {
  const dependentRequired = readMap(schema, 'dependentRequired', reader.fail).map(([name, needs]) => {
    return { name, needs: readNames(needs, 'dependentRequired', reader.fail) };
  });
  const dependentSchemas = reader.map(schema, 'dependentSchemas');
  // Draft-07 had one keyword for both.
  for (const [name, needs] of readMap(schema, 'dependencies', reader.fail)) {
    if (Array.isArray(needs)) dependentRequired.push({ name, needs: readNames(needs, 'dependencies', reader.fail) });
    else dependentSchemas.push({ name, plan: reader.descend(needs, 'dependencies', name) });
  }
  return { dependentRequired, dependentSchemas };
}
