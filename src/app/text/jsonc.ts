// Parses JSON with comments and trailing commas. Every value has its position, for error messages and for edits that
// keep the rest of the text (jsonc-edit.ts).

export type JsonNode =
  | { readonly kind: 'object'; readonly start: number; readonly end: number; readonly members: readonly JsonMember[] }
  | { readonly kind: 'array'; readonly start: number; readonly end: number; readonly items: readonly JsonNode[] }
  | { readonly kind: 'scalar'; readonly start: number; readonly end: number; readonly value: Scalar };

export interface JsonMember {
  readonly key: string;
  readonly keyStart: number;
  readonly value: JsonNode;
}

export type Scalar = string | number | boolean | null;

/** What is wrong with a text, and where. */
export class JsoncError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Stops stack overflows by deeply nested input. */
const maxDepth = 200;

/** Parses a text. Throws `JsoncError`. */
export function parseJsonc(text: string): JsonNode {
  const reader = new JsoncReader(text);
  const node = reader.value(0);
  reader.skip();
  if (reader.at < text.length) reader.fail('unexpected text after the end of the value');
  return node;
}

/** The value of a node as plain data. */
export function dataOf(node: JsonNode): unknown {
  switch (node.kind) {
    case 'scalar':
      return node.value;
    case 'array':
      return node.items.map(dataOf);
    case 'object':
      // fromEntries keeps a member named __proto__ a plain member.
      return Object.fromEntries(node.members.map(({ key, value }) => [key, dataOf(value)]));
  }
}

/** The node at a path; undefined if there is none. Of duplicate keys the last one counts, as in JSON.parse. */
export function nodeAt(node: JsonNode, path: readonly (string | number)[]): JsonNode | undefined {
  let found: JsonNode | undefined = node;
  for (const step of path) {
    if (found === undefined) return undefined;
    if (found.kind === 'object') found = found.members.findLast(({ key }) => key === step)?.value;
    else if (found.kind === 'array') found = found.items[step as number];
    else return undefined;
  }
  return found;
}

/** Line and column of an offset, from 1. */
export function positionOf(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  const lines = before.split(/\r\n|\n|\r/);
  return { line: lines.length, column: (lines.at(-1) as string).length + 1 };
}

/** Offset of the first character that is neither white space nor comment. */
export function skipSpace(text: string, from: number): number {
  const reader = new JsoncReader(text);
  reader.at = from;
  reader.skip();
  return reader.at;
}

class JsoncReader {
  readonly text: string;
  at: number;

  constructor(text: string) {
    this.text = text;
    this.at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  }

  fail(message: string, offset = this.at): never {
    throw new JsoncError(message, offset);
  }

  skip(): void {
    for (;;) {
      const c = this.text[this.at];
      if (c === ' ' || c === '\n' || c === '\r' || c === '\t') this.at++;
      else if (c === '/' && this.text[this.at + 1] === '/') this.#lineComment();
      else if (c === '/' && this.text[this.at + 1] === '*') this.#blockComment();
      else return;
    }
  }

  value(depth: number): JsonNode {
    this.skip();
    if (depth > maxDepth) this.fail('nested too deeply');
    const start = this.at;
    const c = this.text[start];
    if (c === '{') return this.#object(depth);
    if (c === '[') return this.#array(depth);
    if (c === '"') return { kind: 'scalar', start, value: this.#string(), end: this.at };
    const literal = /[-+.\w]*/y;
    literal.lastIndex = start;
    const [found] = literal.exec(this.text) as RegExpExecArray;
    if (found === '')
      this.fail(c === undefined ? 'the text ends too early' : `${JSON.stringify(c)} is not expected here`);
    return { kind: 'scalar', start, value: this.#literal(found), end: (this.at = start + found.length) };
  }

  #literal(literal: string): Scalar {
    if (literal === 'true') return true;
    if (literal === 'false') return false;
    if (literal === 'null') return null;
    if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(literal)) return Number(literal);
    return this.fail(`${JSON.stringify(literal)} is not a JSON value; text needs double quotes`);
  }

  #string(): string {
    const start = this.at;
    for (let i = start + 1; i < this.text.length; i++) {
      const c = this.text[i];
      if (c === '\\') i++;
      else if (c === '\n') break;
      else if (c === '"') {
        this.at = i + 1;
        try {
          return JSON.parse(this.text.slice(start, this.at)) as string;
        } catch {
          return this.fail('this text has an escape or a character that JSON does not allow', start);
        }
      }
    }
    return this.fail('this text is not closed by a double quote', start);
  }

  #object(depth: number): JsonNode {
    const start = this.at++;
    const members: JsonMember[] = [];
    for (;;) {
      this.skip();
      if (this.text[this.at] === '}') return { kind: 'object', start, members, end: ++this.at };
      const keyStart = this.at;
      if (this.text[this.at] !== '"') this.fail(this.#missing('a name in double quotes or "}"'));
      const key = this.#string();
      this.skip();
      if (this.text[this.at] !== ':') this.fail(this.#missing('":"'));
      this.at++;
      members.push({ key, keyStart, value: this.value(depth + 1) });
      this.#comma('}');
    }
  }

  #array(depth: number): JsonNode {
    const start = this.at++;
    const items: JsonNode[] = [];
    for (;;) {
      this.skip();
      if (this.text[this.at] === ']') return { kind: 'array', start, items, end: ++this.at };
      items.push(this.value(depth + 1));
      this.#comma(']');
    }
  }

  #comma(close: '}' | ']'): void {
    this.skip();
    if (this.text[this.at] === ',') this.at++;
    else if (this.text[this.at] !== close) this.fail(this.#missing(`"," or "${close}"`));
  }

  #missing(what: string): string {
    return this.at >= this.text.length ? `the text ends where ${what} is expected` : `${what} is expected here`;
  }

  #lineComment(): void {
    const end = this.text.indexOf('\n', this.at);
    this.at = end === -1 ? this.text.length : end;
  }

  #blockComment(): void {
    const end = this.text.indexOf('*/', this.at + 2);
    if (end === -1) this.fail('this comment is not closed by */');
    this.at = end + 2;
  }
}
