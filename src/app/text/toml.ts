// TOML, as far as it takes to change one table of a file and leave the rest alone: where each table and each pair
// stands, and whether the text is TOML at all. Values are checked, not turned into data.

/** A header or a pair, with the whole path of what it defines. */
export interface TomlStatement {
  readonly kind: 'table' | 'array-table' | 'pair';
  readonly path: readonly string[];
  /** Of the first line of the statement, and after its last one. */
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

const maxDepth = 100;
const scalar =
  /(?:true|false|[+-]?(?:inf|nan)|\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?|0x[\dA-Fa-f](?:_?[\dA-Fa-f])*|0o[0-7](?:_?[0-7])*|0b[01](?:_?[01])*|[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?)(?![\w.+:-])/y;

/** The statements of a text, in order. Throws `TomlError`. */
export function parseToml(text: string): TomlStatement[] {
  return new Reader(text).statements();
}

/** A text as a basic string; JSON's escapes are TOML's, but for the slash, which JSON does not escape. */
export function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** A key, quoted where it must be. */
export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : tomlString(key);
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  statements(): TomlStatement[] {
    const found: TomlStatement[] = [];
    const tables = new Set<string>();
    let table: readonly string[] = [];
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
    for (;;) {
      this.#blank(true);
      const start = this.#at;
      const c = this.#text[start];
      if (c === undefined) return found;
      if (c === '[') {
        const kind = this.#text[start + 1] === '[' ? 'array-table' : 'table';
        table = this.#header(kind);
        const id = JSON.stringify(table);
        if (kind === 'table' && tables.has(id)) this.#fail(`the table ${table.join('.')} is defined twice`, start);
        tables.add(id);
        this.#lineEnd();
        found.push({ kind, path: table, start, end: this.#at });
      } else {
        const path = [...table, ...this.#keys()];
        this.#expect('=');
        this.#value(0);
        this.#lineEnd();
        found.push({ kind: 'pair', path, start, end: this.#at });
      }
    }
  }

  #fail(message: string, offset = this.#at): never {
    throw new TomlError(message, offset);
  }

  /** Skips spaces and comments, and line feeds where they may be. */
  #blank(lines: boolean): void {
    const pattern = lines ? /(?:[ \t]|\r?\n|#[^\n]*)*/y : /[ \t]*/y;
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }

  #expect(word: string): void {
    this.#blank(false);
    if (!this.#text.startsWith(word, this.#at)) this.#fail(`"${word}" is expected here`);
    this.#at += word.length;
    this.#blank(false);
  }

  #lineEnd(): void {
    const pattern = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) this.#fail('the line must end here');
    this.#at += match[0].length;
  }

  #header(kind: 'table' | 'array-table'): string[] {
    const [open, close] = kind === 'table' ? ['[', ']'] : ['[[', ']]'];
    this.#expect(open);
    const path = this.#keys();
    this.#expect(close);
    return path;
  }

  #keys(): string[] {
    const keys: string[] = [];
    for (;;) {
      this.#blank(false);
      const c = this.#text[this.#at];
      if (c === '"' || c === "'") keys.push(this.#string());
      else {
        const bare = /[A-Za-z0-9_-]+/y;
        bare.lastIndex = this.#at;
        const match = bare.exec(this.#text);
        if (match === null) this.#fail('a name is expected here');
        keys.push(match[0]);
        this.#at += match[0].length;
      }
      this.#blank(false);
      if (this.#text[this.#at] !== '.') return keys;
      this.#at++;
    }
  }

  #value(depth: number): void {
    this.#blank(false);
    if (depth > maxDepth) this.#fail('nested too deeply');
    const c = this.#text[this.#at];
    if (c === '"' || c === "'") this.#string();
    else if (c === '[') this.#array(depth);
    else if (c === '{') this.#inlineTable(depth);
    else {
      scalar.lastIndex = this.#at;
      const match = scalar.exec(this.#text);
      if (match === null) this.#fail('a value is expected here; text needs quotes');
      this.#at += match[0].length;
    }
  }

  #array(depth: number): void {
    this.#at++;
    for (;;) {
      this.#blank(true);
      if (this.#text[this.#at] === ']') break;
      this.#value(depth + 1);
      this.#blank(true);
      if (this.#text[this.#at] === ',') this.#at++;
      else if (this.#text[this.#at] !== ']') this.#fail('"," or "]" is expected here');
    }
    this.#at++;
  }

  #inlineTable(depth: number): void {
    this.#at++;
    for (;;) {
      this.#blank(true);
      if (this.#text[this.#at] === '}') break;
      this.#keys();
      this.#expect('=');
      this.#value(depth + 1);
      this.#blank(true);
      if (this.#text[this.#at] === ',') this.#at++;
      else if (this.#text[this.#at] !== '}') this.#fail('"," or "}" is expected here');
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at;
    const quote = this.#text[start] as string;
    const long = quote.repeat(3);
    const escapes = quote === '"';
    if (this.#text.startsWith(long, start)) {
      for (let i = start + 3; i < this.#text.length; i++) {
        if (escapes && this.#text[i] === '\\') i++;
        else if (this.#text.startsWith(long, i)) {
          // Up to two more quotes belong to the text.
          while (this.#text[i + 3] === quote) i++;
          this.#at = i + 3;
          return this.#text.slice(start + 3, i);
        }
      }
      return this.#fail('this text is not closed', start);
    }
    for (let i = start + 1; i < this.#text.length && this.#text[i] !== '\n'; i++) {
      if (escapes && this.#text[i] === '\\') i++;
      else if (this.#text[i] === quote) {
        this.#at = i + 1;
        const inner = this.#text.slice(start + 1, i);
        return escapes ? unquoted(inner) : inner;
      }
    }
    return this.#fail('this text is not closed', start);
  }
}

/** Good enough to compare keys; an escape that JSON lacks leaves the text as written. */
function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}
