// Sets one table of a TOML text or removes it, and keeps every other byte. A table that is written inline or with dotted
// keys is rewritten as a table of its own.

import { nodeUtil } from '../../common/builtins.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { parseToml, type TomlStatement, tomlData, tomlKey, tomlString } from './toml.ts';

type TomlTable = JsonObject;

/** A table in a form that cannot be edited safely: an array of tables, for example. */
export class TomlShape extends Error {}

/** Sets a table to exactly these pairs; objects become subtables. Pairs that stay the same keep their text. */
export function setTable(text: string, path: readonly string[], pairs: TomlTable): string {
  const statements = parseToml(text);
  const data = tomlData(text);
  if (nodeUtil().isDeepStrictEqual(tableAt(data, path), pairs)) return text;
  const eol = eolOf(text);
  const kept = keptText(text, statements, data, pairs, path);
  const block = printTable(path, pairs, kept).join(eol) + eol;
  const region = regionOf(text, statements, path);
  const next =
    region === 'scattered'
      ? append(withoutTable(text, statements, data, path), block)
      : region === undefined
        ? append(text, block)
        : text.slice(0, region.start) + block + text.slice(region.end);
  return verified(next, changed(data, path, pairs), path);
}

/** Removes a table and its subtables; undefined if it does not exist. */
export function removeTable(text: string, path: readonly string[]): string | undefined {
  const statements = parseToml(text);
  const data = tomlData(text);
  if (tableAt(data, path) === undefined) return undefined;
  const region = regionOf(text, statements, path);
  if (region === undefined || region === 'scattered') {
    return verified(withoutTable(text, statements, data, path), changed(data, path, undefined), path);
  }
  const before = text.slice(0, region.start);
  const after = text.slice(region.end);
  // The empty line before the table is removed too.
  return after.trim() === '' ? before.replace(/(\r?\n)(\r?\n)+$/, '$1') : before + after.replace(/^(\r?\n)+/, '');
}

/** Whether a table exists, in any form. */
export function hasTable(text: string, path: readonly string[]): boolean {
  return tableAt(tomlData(text), path) !== undefined;
}

/** The table at a path; undefined if there is none. */
export function tableAt(data: unknown, path: readonly string[]): TomlTable | undefined {
  let found = data;
  for (const step of path) found = isTable(found) ? found[step] : undefined;
  return isTable(found) ? found : undefined;
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A copy of the data with another table at the path, or without it. */
function changed(data: TomlTable, [step = '', ...rest]: readonly string[], table: TomlTable | undefined): TomlTable {
  const { [step]: old, ...others } = data;
  if (old !== undefined && !isTable(old)) throw new TomlShape(`${tomlKey(step)} is not a table`);
  if (rest.length === 0) return table === undefined ? others : { ...others, [step]: table };
  return { ...others, [step]: changed(isTable(old) ? old : {}, rest, table) };
}

/** The check that makes every edit safe: the new text must mean what was asked for. A table without pairs may be gone. */
function verified(text: string, expected: TomlTable, path: readonly string[]): string {
  const prune = (table: TomlTable): TomlTable =>
    Object.fromEntries(
      Object.entries(table).flatMap(([key, value]) => {
        const inner = isTable(value) ? prune(value) : value;
        return isTable(inner) && Object.keys(inner).length === 0 ? [] : [[key, inner]];
      }),
    );
  if (nodeUtil().isDeepStrictEqual(prune(tomlData(text)), prune(expected))) return text;
  throw new TomlShape(`${path.map(tomlKey).join('.')} is written in a form that cannot be changed`);
}

function append(text: string, block: string): string {
  const eol = eolOf(text);
  const before = text === '' ? '' : text.endsWith('\n') ? text : text + eol;
  const gap = before === '' || before.endsWith(`${eol}${eol}`) ? '' : eol;
  return before + gap + block;
}

/** Removes every statement about the table, wherever it is. An inline table around it becomes tables at the end. */
function withoutTable(
  text: string,
  statements: readonly TomlStatement[],
  data: TomlTable,
  path: readonly string[],
): string {
  const ours = (each: TomlStatement): boolean => path.every((step, i) => each.path[i] === step);
  const around = (each: TomlStatement): boolean =>
    each.kind === 'pair' && each.path.length < path.length && each.path.every((step, i) => path[i] === step);
  let rest = '';
  let at = 0;
  for (const each of statements) {
    if (!ours(each) && !around(each)) continue;
    rest += text.slice(at, lineStart(text, each.start));
    at = each.end;
  }
  rest += text.slice(at);
  for (const each of statements.filter(around)) {
    const others = tableAt(changed(data, path, undefined), each.path) ?? {};
    if (Object.keys(others).length > 0)
      rest = append(rest, printTable(each.path, others).join(eolOf(text)) + eolOf(text));
  }
  return rest;
}

/** The text of the pairs that stay the same, by their path. */
function keptText(
  text: string,
  statements: readonly TomlStatement[],
  data: TomlTable,
  pairs: TomlTable,
  path: readonly string[],
): ReadonlyMap<string, string> {
  const kept = new Map<string, string>();
  statements.forEach((each, i) => {
    const key = each.path.at(-1) as string;
    const inner = each.path.slice(path.length);
    if (each.kind !== 'pair' || inner.length === 0 || !path.every((step, at) => each.path[at] === step)) return;
    // Only pairs right below their header: the key in the text is then the whole key.
    const header = statements.slice(0, i).findLast(({ kind }) => kind !== 'pair');
    if (header?.path.length !== each.path.length - 1) return;
    const old = tableAt(data, each.path.slice(0, -1))?.[key];
    const next = tableAt({ pairs }, ['pairs', ...inner.slice(0, -1)])?.[key];
    if (!isTable(old) && nodeUtil().isDeepStrictEqual(old, next)) {
      kept.set(each.path.join('\0'), text.slice(each.start, each.end).trimEnd());
    }
  });
  return kept;
}

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** The lines of a table that is written as one, with its subtables after it. */
function regionOf(
  text: string,
  statements: readonly TomlStatement[],
  path: readonly string[],
): { readonly start: number; readonly end: number } | 'scattered' | undefined {
  const ours = (each: TomlStatement): boolean => path.every((step, i) => each.path[i] === step);
  const first = statements.findIndex((each) => each.kind !== 'pair' && ours(each));
  const inline = statements.some(
    (each, i) =>
      each.kind === 'pair' &&
      (ours(each) || path.slice(0, each.path.length).join('\0') === each.path.join('\0')) &&
      !(first !== -1 && i > first && headerOf(statements, i, ours)),
  );
  if (inline) return 'scattered';
  if (first === -1) return undefined;
  let last = first;
  while (last + 1 < statements.length) {
    const next = statements[last + 1] as TomlStatement;
    if (next.kind !== 'pair' && !ours(next)) break;
    last++;
  }
  const later = statements.findIndex((each, i) => i > last && each.kind !== 'pair' && ours(each));
  if (later !== -1) return 'scattered';
  return {
    start: lineStart(text, (statements[first] as TomlStatement).start),
    end: (statements[last] as TomlStatement).end,
  };
}

/** Whether the pair at `index` is under one of our table headers. */
function headerOf(
  statements: readonly TomlStatement[],
  index: number,
  ours: (statement: TomlStatement) => boolean,
): boolean {
  for (let i = index; i >= 0; i--) {
    const each = statements[i] as TomlStatement;
    if (each.kind !== 'pair') return ours(each);
  }
  return false;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function printTable(
  path: readonly string[],
  pairs: TomlTable,
  kept: ReadonlyMap<string, string> = new Map(),
): string[] {
  const entries = Object.entries(pairs);
  const simple = entries.filter(([, value]) => !isTable(value));
  const nested = entries.filter(([, value]) => isTable(value));
  // A table that only holds tables needs no header of its own.
  const header = simple.length === 0 && nested.length > 0 ? [] : [`[${path.map(tomlKey).join('.')}]`];
  const lines = [
    ...header,
    ...simple.map(([key, value]) => kept.get([...path, key].join('\0')) ?? `${tomlKey(key)} = ${printValue(value)}`),
  ];
  for (const [key, value] of nested) {
    if (lines.length > 0) lines.push('');
    lines.push(...printTable([...path, key], value as TomlTable, kept));
  }
  return lines;
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return tomlString(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`;
  if (value instanceof Date) return value.toISOString();
  if (isTable(value)) {
    const pairs = Object.entries(value).map(([key, each]) => `${tomlKey(key)} = ${printValue(each)}`);
    return `{ ${pairs.join(', ')} }`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  }
  return String(value);
}
