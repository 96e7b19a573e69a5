// How values are written in paths, queries, headers, cookies and forms: the styles of OpenAPI. Values within objects and lists
// are written as JSON if they are objects or lists themselves, except in deepObject.

import { isObject } from '../../protocol/json-rpc.ts';
import type { ValueStyle } from './parameters.ts';

/** A name and a value, both percent-encoded. */
export type Pair = readonly [name: string, value: string];

type Encode = (text: string) => string;

const unchanged: Encode = (text) => text;

/** For URLs and forms. A half of a surrogate pair has no encoding. */
export const percentEncode: Encode = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\uFFFD'));

/** A value without names or separators around it. */
export const plainText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** In headers (`simple`), without any encoding. */
export const headerText = (style: ValueStyle, value: unknown): string => simpleText(style, value, unchanged, ',');

/** In paths, percent-encoded. */
export function pathText(parameter: ValueStyle, value: unknown): string {
  const { name, style, explode } = parameter;
  if (style === 'label') return `.${simpleText(parameter, value, percentEncode, explode ? '.' : ',')}`;
  if (style !== 'matrix') return simpleText(parameter, value, percentEncode, ',');
  const prefix = `;${percentEncode(name)}=`;
  if (parameter.isJson || !explode || typeof value !== 'object' || value === null) {
    return prefix + simpleText(parameter, value, percentEncode, ',');
  }
  if (Array.isArray(value)) return value.map((each) => prefix + percentEncode(plainText(each))).join('');
  return `;${simpleText(parameter, value, percentEncode, ';')}`;
}

function simpleText({ isJson, explode }: ValueStyle, value: unknown, encode: Encode, separator: string): string {
  if (isJson) return encode(JSON.stringify(value));
  if (Array.isArray(value)) return value.map((each) => encode(plainText(each))).join(separator);
  if (!isObject(value)) return encode(plainText(value));
  const equals = explode ? '=' : ',';
  return Object.entries(value)
    .map(([key, each]) => `${encode(key)}${equals}${encode(plainText(each))}`)
    .join(separator);
}

const separators: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '|' };

/** In queries, cookies and forms: encoded pairs. An empty list is no pair. */
export function encodedPairs({ name, style, explode, isJson }: ValueStyle, value: unknown): readonly Pair[] {
  const key = percentEncode(name);
  if (isJson || typeof value !== 'object' || value === null) {
    return [[key, percentEncode(isJson ? JSON.stringify(value) : plainText(value))]];
  }
  if (style === 'deepObject') return deepPairs(key, value);
  const separator = separators[style] ?? ',';
  if (Array.isArray(value)) {
    const texts = value.map((each) => percentEncode(plainText(each)));
    if (explode) return texts.map((text) => [key, text]);
    return texts.length === 0 ? [] : [[key, texts.join(separator)]];
  }
  const entries = Object.entries(value).map(([part, each]) => [percentEncode(part), percentEncode(plainText(each))]);
  if (explode) return entries as unknown as readonly Pair[];
  return entries.length === 0 ? [] : [[key, entries.flat().join(separator)]];
}

/** The specification describes one level, `a[b]=1`. Servers that read it also read `a[b][c]=1` and `a[0]=1`. */
function deepPairs(prefix: string, value: object): readonly Pair[] {
  return Object.entries(value).flatMap(([key, each]): readonly Pair[] => {
    const name = `${prefix}[${percentEncode(key)}]`;
    return typeof each === 'object' && each !== null ? deepPairs(name, each) : [[name, percentEncode(plainText(each))]];
  });
}

export const joinPairs = (pairs: readonly Pair[], separator: string): string =>
  pairs.map(([name, value]) => `${name}=${value}`).join(separator);
