// Adds one table to a TOML text or removes it, and keeps every other byte.

import { parseToml, type TomlStatement, tomlKey, tomlString } from './toml.ts';

type TomlValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** A table in a form that cannot be edited safely: inline, or as dotted keys. */
export class TomlShape extends Error {}

/** Sets a table to exactly these pairs; objects become subtables. */
export function setTable(text: string, path: readonly string[], pairs: Readonly<Record<string, TomlValue>>): string {
  const statements = parseToml(text);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const block = printTable(path, pairs).join(eol) + eol;
  const region = regionOf(text, statements, path);
  if (region !== undefined) {
    const old = text.slice(region.start, region.end);
    return old.trimEnd() === block.trimEnd() ? text : text.slice(0, region.start) + block + text.slice(region.end);
  }
  const before = text === '' ? '' : text.endsWith('\n') ? text : text + eol;
  const gap = before === '' || before.endsWith(`${eol}${eol}`) ? '' : eol;
  return before + gap + block;
}

/** Removes a table and its subtables; undefined if it does not exist. */
export function removeTable(text: string, path: readonly string[]): string | undefined {
  const region = regionOf(text, parseToml(text), path);
  if (region === undefined) return undefined;
  const before = text.slice(0, region.start);
  const after = text.slice(region.end);
  // The empty line before the table is removed too.
  return after.trim() === '' ? before.replace(/(\r?\n)(\r?\n)+$/, '$1') : before + after.replace(/^(\r?\n)+/, '');
}

/** Whether a table exists. */
export function hasTable(text: string, path: readonly string[]): boolean {
  return regionOf(text, parseToml(text), path) !== undefined;
}

function regionOf(
  text: string,
  statements: readonly TomlStatement[],
  path: readonly string[],
): { readonly start: number; readonly end: number } | undefined {
  const ours = (each: TomlStatement): boolean => path.every((step, i) => each.path[i] === step);
  const first = statements.findIndex((each) => each.kind !== 'pair' && ours(each));
  const inline = statements.some(
    (each, i) =>
      each.kind === 'pair' &&
      (ours(each) || path.slice(0, each.path.length).join('\0') === each.path.join('\0')) &&
      !(first !== -1 && i > first && headerOf(statements, i, ours)),
  );
  if (inline) {
    throw new TomlShape(`${path.map(tomlKey).join('.')} is not written as a table of its own`);
  }
  if (first === -1) return undefined;
  let last = first;
  while (last + 1 < statements.length) {
    const next = statements[last + 1] as TomlStatement;
    if (next.kind !== 'pair' && !ours(next)) break;
    last++;
  }
  const later = statements.findIndex((each, i) => i > last && each.kind !== 'pair' && ours(each));
  if (later !== -1) throw new TomlShape(`the tables of ${path.map(tomlKey).join('.')} are not next to each other`);
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

function printTable(path: readonly string[], pairs: Readonly<Record<string, TomlValue>>): string[] {
  const entries = Object.entries(pairs);
  const simple = entries.filter(([, value]) => typeof value !== 'object' || Array.isArray(value));
  const nested = entries.filter(([, value]) => typeof value === 'object' && !Array.isArray(value));
  return [
    `[${path.map(tomlKey).join('.')}]`,
    ...simple.map(([key, value]) => `${tomlKey(key)} = ${printValue(value)}`),
    ...nested.flatMap(([key, value]) => ['', ...printTable([...path, key], value as Record<string, string>)]),
  ];
}

function printValue(value: TomlValue): string {
  if (typeof value === 'string') return tomlString(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`;
  return String(value);
}
