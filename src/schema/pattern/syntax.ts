// Regular expressions as trees. Reads what the platform's RegExp accepts (ECMA-262 §22.2.1, without flags or with `u`),
// and rejects what cannot be matched in time proportional to the text, above all backreferences.
import { CharacterSet, digits, lineBreaks, spaces, wordCharacters } from './character-set.ts';

/** A part of a pattern. Groups, captures and laziness make no difference to whether a text matches. */
export type Node =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly items: readonly Node[] }
  | { readonly kind: 'repeat'; readonly item: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'assertion'; readonly what: Assertion }
  | Look;

export type Assertion = 'start' | 'end' | 'boundary' | 'no-boundary';

/** `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`. */
export interface Look {
  readonly kind: 'look';
  readonly behind: boolean;
  readonly negated: boolean;
  readonly item: Node;
  /** Its place among all lookarounds of the pattern; those inside it come before it. */
  readonly index: number;
}

/** A pattern that has been read. */
export interface Syntax {
  readonly root: Node;
  readonly looks: readonly Look[];
  /** Matches code points, not code units. */
  readonly unicode: boolean;
}

/** A valid pattern that we cannot match in bounded time. The message completes the sentence "the pattern …". */
export class UnsupportedPattern extends Error {}

/** Groups inside groups: a pattern of ten thousand parentheses would overflow the stack of every walk over it. */
const maxNesting = 100;

const noBackreferences = 'which cannot be matched in linear time. Rewrite it without backreferences';

/** Reads a pattern that `new RegExp(source, unicode ? 'u' : '')` accepts. */
export function parsePattern(source: string, unicode: boolean): Syntax {
  return new PatternParser(source, unicode).parse();
}

const classEscapes: Readonly<Record<string, () => CharacterSet>> = {
  d: digits,
  D: () => digits().negate(),
  w: wordCharacters,
  W: () => wordCharacters().negate(),
  s: spaces,
  S: () => spaces().negate(),
};
const controlEscapes: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

class PatternParser {
  readonly #source: string;
  readonly #unicode: boolean;
  readonly #looks: Look[] = [];
  #at = 0;
  #nesting = 0;

  constructor(source: string, unicode: boolean) {
    this.#source = source;
    this.#unicode = unicode;
  }

  parse(): Syntax {
    const root = this.#choice();
    if (this.#at < this.#source.length) this.#unsupported();
    return { root, looks: this.#looks, unicode: this.#unicode };
  }

  #choice(): Node {
    if (++this.#nesting > maxNesting) throw new UnsupportedPattern(`nests more than ${maxNesting} groups`);
    const items = [this.#sequence()];
    while (this.#take('|')) items.push(this.#sequence());
    this.#nesting--;
    return items.length === 1 ? (items[0] as Node) : { kind: 'choice', items };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) items.push(this.#repeated());
    return items.length === 1 ? (items[0] as Node) : { kind: 'sequence', items };
  }

  #repeated(): Node {
    const item = this.#atom();
    const bounds = this.#quantifier();
    return bounds === undefined ? item : { kind: 'repeat', item, min: bounds[0], max: bounds[1] };
  }

  #quantifier(): readonly [number, number] | undefined {
    const match = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
    match.lastIndex = this.#at;
    const found = match.exec(this.#source);
    if (found === null) return undefined;
    this.#at = match.lastIndex;
    const [text, from, comma, to] = found;
    if (from === undefined) return [text.startsWith('+') ? 1 : 0, text.startsWith('?') ? 1 : Number.POSITIVE_INFINITY];
    const max = comma === '' ? Number(from) : to === '' ? Number.POSITIVE_INFINITY : Number(to);
    return [Number(from), max];
  }

  #atom(): Node {
    if (this.#take('^')) return { kind: 'assertion', what: 'start' };
    if (this.#take('$')) return { kind: 'assertion', what: 'end' };
    if (this.#take('.')) return { kind: 'set', set: lineBreaks().negate() };
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return { kind: 'set', set: this.#class() };
    if (!this.#take('\\')) return character(this.#next());
    if (this.#take('b')) return { kind: 'assertion', what: 'boundary' };
    if (this.#take('B')) return { kind: 'assertion', what: 'no-boundary' };
    const escaped = this.#escape();
    return typeof escaped === 'number' ? character(escaped) : { kind: 'set', set: escaped };
  }

  #group(): Node {
    if (this.#take('?=')) return this.#look(false, false);
    if (this.#take('?!')) return this.#look(false, true);
    if (this.#take('?<=')) return this.#look(true, false);
    if (this.#take('?<!')) return this.#look(true, true);
    if (this.#take('?<')) this.#at = this.#source.indexOf('>', this.#at) + 1;
    else if (!this.#take('?:') && this.#sees('?')) this.#unsupported();
    return this.#close(this.#choice());
  }

  #look(behind: boolean, negated: boolean): Node {
    const item = this.#close(this.#choice());
    const look: Look = { kind: 'look', behind, negated, item, index: this.#looks.length };
    this.#looks.push(look);
    return look;
  }

  #close(inner: Node): Node {
    if (!this.#take(')')) this.#unsupported();
    return inner;
  }

  /** What follows `[`. */
  #class(): CharacterSet {
    const negated = this.#take('^');
    const parts: CharacterSet[] = [];
    while (!this.#take(']')) {
      const from = this.#classMember();
      const ranged = this.#sees('-') && this.#source[this.#at + 1] !== ']';
      if (!ranged) {
        parts.push(toSet(from));
        continue;
      }
      this.#at++;
      const to = this.#classMember();
      // Outside Unicode mode `[\w-.]` is a word character, a dash or a dot.
      if (typeof from === 'number' && typeof to === 'number') parts.push(CharacterSet.ofRanges([from, to]));
      else parts.push(toSet(from), toSet(0x2d), toSet(to));
    }
    const union = CharacterSet.union(parts);
    return negated ? union.negate() : union;
  }

  #classMember(): number | CharacterSet {
    if (this.#at >= this.#source.length) this.#unsupported();
    if (!this.#take('\\')) return this.#next();
    if (this.#take('b')) return 8;
    return this.#escape();
  }

  /** What follows a backslash, in a class or outside. */
  #escape(): number | CharacterSet {
    const letter = this.#source[this.#at] ?? '';
    const escapedClass = Object.hasOwn(classEscapes, letter) ? classEscapes[letter] : undefined;
    if (escapedClass !== undefined) {
      this.#at++;
      return escapedClass();
    }
    if (Object.hasOwn(controlEscapes, letter)) {
      this.#at++;
      return controlEscapes[letter] as number;
    }
    const digit = this.#match(/\d+/y)?.[0];
    if (digit === '0') return 0;
    if (digit !== undefined) throw new UnsupportedPattern(`uses the backreference \\${digit}, ${noBackreferences}`);
    if (letter === 'k') throw new UnsupportedPattern(`uses the backreference \\k, ${noBackreferences}`);
    if (letter === 'c') {
      const control = this.#match(/c([A-Za-z])/y)?.[1];
      return control === undefined ? this.#unsupported() : control.charCodeAt(0) % 32;
    }
    if (this.#unicode && (letter === 'p' || letter === 'P')) {
      const property = this.#match(/[pP](\{[^}]*\})/y);
      if (property === null) return this.#unsupported();
      const set = CharacterSet.ofProperty(`\\p${property[1]}`);
      return letter === 'P' ? set.negate() : set;
    }
    return this.#codeEscape() ?? this.#next();
  }

  /** `\x41`, `\u0041`, `\u{1F600}`; undefined where there is none, which in Unicode mode is an error elsewhere. */
  #codeEscape(): number | undefined {
    const byte = this.#match(/x([\da-fA-F]{2})/y)?.[1];
    if (byte !== undefined) return Number.parseInt(byte, 16);
    if (this.#unicode) {
      const point = this.#match(/u\{([\da-fA-F]+)\}/y)?.[1];
      if (point !== undefined) return Number.parseInt(point, 16);
      const pair = this.#match(/u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})/y);
      if (pair !== null) {
        const [high, low] = [Number.parseInt(pair[1] as string, 16), Number.parseInt(pair[2] as string, 16)];
        return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
      }
    }
    const unit = this.#match(/u([\da-fA-F]{4})/y)?.[1];
    return unit === undefined ? undefined : Number.parseInt(unit, 16);
  }

  #match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#source);
    if (found !== null) this.#at = sticky.lastIndex;
    return found;
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** The next character as it stands. */
  #next(): number {
    const code = this.#unicode ? this.#source.codePointAt(this.#at) : this.#source.charCodeAt(this.#at);
    if (code === undefined || Number.isNaN(code)) return this.#unsupported();
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #unsupported(): never {
    throw new UnsupportedPattern(`uses unsupported syntax at character ${this.#at + 1}`);
  }
}

const toSet = (member: number | CharacterSet): CharacterSet =>
  typeof member === 'number' ? CharacterSet.ofRanges([member, member]) : member;

const character = (code: number): Node => ({ kind: 'set', set: toSet(code) });

/** Whether a match can only begin at the start of the text. */
export function isAnchored(node: Node): boolean {
  if (node.kind === 'assertion') return node.what === 'start';
  if (node.kind === 'sequence') return node.items.slice(0, 1).some(isAnchored);
  if (node.kind === 'choice') return node.items.every(isAnchored);
  return false;
}
