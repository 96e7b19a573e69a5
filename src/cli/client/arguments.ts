// Tool arguments from the command line, converted to the types of the tool's schema.

import { readFileSync } from 'node:fs';
import { readFileOf } from '../../app/settings/read-file-of.ts';
import { nearest } from '../../app/text/nearest.ts';
import { UsageError } from '../../app/usage-error.ts';
import type { FormSchema } from './types.ts';

/** `--args`: a JSON object, @FILE, or - for stdin. */
export function readJsonArguments(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  const source =
    text === '-' ? readFileSync(0, 'utf8') : text.startsWith('@') ? readFileOf('--args', text.slice(1)) : text;
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw new UsageError(`--args is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError('--args must be a JSON object, as in --args \'{"city": "Gdynia"}\'');
  }
  return value as Record<string, unknown>;
}

/**
 * `--arg name=value`, each value converted to the type in the schema. `name:=json` is always parsed as JSON, and
 * `name.inner=value` sets a field of an object. A list can be given item by item or as JSON.
 */
export function readArguments(flags: readonly string[], schema: FormSchema): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const flag of flags) {
    const match = /^([^=]+?)(:?=)([\s\S]*)$/.exec(flag);
    if (match === null) throw new UsageError(`--arg must look like name=value, not ${JSON.stringify(flag)}`);
    const [, name = '', operator, text = ''] = match;
    const path = name in (schema.properties ?? {}) ? [name] : name.split('.');
    const wanted = path.reduce<FormSchema | undefined>((each, step) => each?.properties?.[step], schema);
    if (wanted === undefined && path.length === 1) assertKnownArguments(name, schema);
    put(result, path, operator === ':=' ? parseJson(name, text) : convert(name, text, wanted), wanted);
  }
  return result;
}

/** An unknown name is passed on if the schema allows additional properties, unless it looks like a typing error. */
function assertKnownArguments(name: string, schema: FormSchema & { readonly additionalProperties?: unknown }): void {
  const known = Object.keys(schema.properties ?? {});
  const meant = nearest(name, known);
  if (meant === undefined && schema.additionalProperties !== false) return;
  const hint =
    meant === undefined
      ? known.length === 0
        ? 'the tool takes no arguments'
        : `choose one of ${known.join(', ')}`
      : `did you mean ${meant}?`;
  throw new UsageError(`Unknown argument ${JSON.stringify(name)}; ${hint}`);
}

const typeNames: Readonly<Record<string, string>> = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

function convert(name: string, text: string, schema: FormSchema | undefined): unknown {
  const types = typesOf(schema);
  if (types.includes('array')) {
    if (text.trimStart().startsWith('[')) return parseJson(name, text);
    return [convert(name, text, schema?.items)];
  }
  if (types.length === 0 || types.includes('string')) return text;
  if (types.includes('null') && text === 'null') return null;
  if ((types.includes('number') || types.includes('integer')) && /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text)) {
    return Number(text);
  }
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  if (types.includes('object')) return parseJson(name, text);
  const wanted = types.map((type) => typeNames[type] ?? type).join(' or ');
  throw new UsageError(`${name} must be ${wanted}, not ${JSON.stringify(text)}`);
}

function typesOf(schema: FormSchema | undefined): readonly string[] {
  if (schema === undefined) return [];
  if (typeof schema.type === 'string') return [schema.type];
  if (schema.type !== undefined) return schema.type;
  if (schema.enum !== undefined) return [...new Set(schema.enum.map((each) => (each === null ? 'null' : typeof each)))];
  return (schema.anyOf ?? schema.oneOf ?? []).flatMap(typesOf);
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name} is not valid JSON: ${(error as Error).message}`);
  }
}

function put(
  into: Record<string, unknown>,
  [step, ...rest]: readonly string[],
  value: unknown,
  schema: FormSchema | undefined,
): void {
  if (step === undefined || step === '__proto__') throw new UsageError('--arg has an empty or forbidden name');
  if (rest.length > 0) {
    const inner = (into[step] ??= {});
    if (typeof inner !== 'object' || inner === null)
      throw new UsageError(`${step} is not an object, so it has no fields`);
    put(inner as Record<string, unknown>, rest, value, schema);
    return;
  }
  const before = into[step];
  into[step] =
    Array.isArray(before) && Array.isArray(value) && typesOf(schema).includes('array') ? [...before, ...value] : value;
}
