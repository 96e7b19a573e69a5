// { "secret": "name" } in the entry of a server: where it may be, and its replacement by the value.

import { headerKeys, secretOf, variableKeys } from '../../../gateway/config/entry-values.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { JsonObject } from '../../../protocol/model.ts';
import type { FoundInput } from './inputs.ts';

/** A secret that was not found. */
interface MissingSecret {
  readonly path: readonly string[];
  readonly why: string;
}

/** Objects of an entry whose values may be secrets. Arguments may not: all users can see command lines. */
const places: readonly (readonly string[])[] = [
  ...variableKeys.map((key) => [key]),
  ['command', 'env'],
  ...headerKeys.map((key) => [key]),
];
const clientSecret = ['mooring', 'auth', 'clientSecret'];

/** The secrets of an entry, each with its path. */
export function secretsIn(written: unknown): readonly { readonly path: readonly string[]; readonly name: string }[] {
  const values = places.flatMap((path) => {
    const found = valueAt(written, path);
    return isObject(found) ? Object.entries(found).map(([key, value]) => ({ path: [...path, key], value })) : [];
  });
  return [...values, { path: clientSecret, value: valueAt(written, clientSecret) }].flatMap(({ path, value }) => {
    const name = secretOf(value);
    return name === undefined ? [] : [{ path, name }];
  });
}

/** The entry with the values of its secrets. Those that are not found stay, and are in `missing`. */
export async function withSecrets(
  written: unknown,
  find: (name: string) => FoundInput | Promise<FoundInput>,
): Promise<{ readonly value: unknown; readonly missing: readonly MissingSecret[] }> {
  let value = written;
  const missing: MissingSecret[] = [];
  for (const { path, name } of secretsIn(written)) {
    const found = await find(name);
    if (found.ok) value = replaceAt(value, path, found.value);
    else missing.push({ path, why: found.why });
  }
  return { value, missing };
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((each, key) => (isObject(each) ? each[key] : undefined), value);
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], text: string): unknown {
  if (key === undefined) return text;
  const object = value as JsonObject;
  return Object.fromEntries(
    Object.entries(object).map(([name, each]) => [name, name === key ? replaceAt(each, rest, text) : each]),
  );
}
