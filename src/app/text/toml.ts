// Positions of the tables and pairs in a TOML file, for toml-edit.ts, which changes one table and keeps every other
// byte. The only file that imports the parser.
//
// Editors that keep comments were tried instead: @decimalturn/toml-patch 3.3 writes inline tables with a trailing comma,
// which TOML 1.0 does not allow, so that the client could no longer read its own file.

import { type AST, getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import type { JsonObject } from '../../protocol/model.ts';

/** A header or a pair, with the whole path of what it defines. */
export interface TomlStatement {
  readonly kind: 'table' | 'array-table' | 'pair';
  readonly path: readonly string[];
  /** Offset of its first character, and of the line after it. */
  readonly start: number;
  readonly end: number;
}

/** What is wrong with a text, and where. */
export class TomlError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** The statements of a text, in order. Throws `TomlError`. */
export function parseToml(text: string): TomlStatement[] {
  // The parser does not accept a byte order mark; replacing it by a space keeps all offsets.
  const [top] = parse(text.replace(/^\ufeff/, ' ')).body;
  const statements: TomlStatement[] = [];
  const add = (kind: TomlStatement['kind'], path: readonly string[], start: number, lastOffset: number): void => {
    // After a statement there can only be white space and a comment.
    const lineFeed = text.indexOf('\n', lastOffset);
    statements.push({ kind, path, start, end: lineFeed === -1 ? text.length : lineFeed + 1 });
  };
  for (const node of top.body) {
    if (node.type === 'TOMLKeyValue') add('pair', keysOf(node.key), ...node.range);
    else {
      const path = keysOf(node.key);
      const kind = node.kind === 'array' ? 'array-table' : 'table';
      add(kind, path, node.range[0], node.key.range[1]);
      for (const pair of node.body) add('pair', [...path, ...keysOf(pair.key)], ...pair.range);
    }
  }
  return statements;
}

/** Where a value is, or what is nearest to it: its table, or the first statement below it. */
export function tomlOffset(text: string, path: readonly (string | number)[]): number {
  const depth = (of: readonly string[]): number => {
    const end = of.findIndex((step, i) => step !== path[i]);
    return end === -1 ? of.length : end;
  };
  const statements = parseToml(text);
  const deepest = Math.max(...statements.map((each) => depth(each.path)));
  return statements.find((each) => depth(each.path) === deepest)?.start ?? 0;
}

/** The whole text as plain data. Throws `TomlError`. */
export function tomlData(text: string): JsonObject {
  return getStaticTOMLValue(parse(text.replace(/^\ufeff/, ' '))) as Record<string, unknown>;
}

function parse(text: string): AST.TOMLProgram {
  try {
    return parseTOML(text);
  } catch (error) {
    if (error instanceof ParseError) throw new TomlError(error.message, error.index);
    throw error;
  }
}

const keysOf = ({ keys }: AST.TOMLKey): string[] => keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value));

/** A text as a TOML basic string, which has the same escapes as JSON. */
export function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** A key, quoted if necessary. */
export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlString(key);
}
