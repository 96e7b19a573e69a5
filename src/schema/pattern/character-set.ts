// Sets of characters: what `.`, `[a-z]`, `\d` or `\p{L}` match. Code points, or code units outside Unicode mode.

/** The largest code point. */
const maxCode = 0x10ffff;

/** A Unicode property (`\p{L}`), which only the platform knows the members of. */
class UnicodeProperty {
  readonly #regexp: RegExp;
  /** By code: 0 unknown, 1 no, 2 yes. */
  readonly #ascii = new Uint8Array(128);

  constructor(source: string) {
    this.#regexp = new RegExp(source, 'u');
  }

  has(code: number): boolean {
    const known = code < 128 ? (this.#ascii[code] as number) : 0;
    if (known !== 0) return known === 2;
    const found = this.#regexp.test(String.fromCodePoint(code));
    if (code < 128) this.#ascii[code] = found ? 2 : 1;
    return found;
  }
}

/** Made once each: there are only so many, and patterns repeat them. */
const properties = new Map<string, UnicodeProperty>();

/** A property or what is outside of it, by how it is written. */
interface PropertyUse {
  readonly source: string;
  readonly property: UnicodeProperty;
  readonly negated: boolean;
}

/** An immutable set. Ranges are exact; members of properties are checked one by one. */
export class CharacterSet {
  /** Pairs of first and last, sorted, apart from each other. */
  readonly #ranges: readonly number[];
  readonly #properties: readonly PropertyUse[];
  readonly #negated: boolean;
  #ascii: Int32Array | undefined;
  /** The same for two sets that are written in the same way. */
  readonly key: string;

  private constructor(ranges: readonly number[], uses: readonly PropertyUse[], negated: boolean) {
    // Without properties the complement is written as ranges, so that overlaps are found exactly.
    const fold = negated && uses.length === 0;
    this.#ranges = fold ? complement(ranges) : ranges;
    this.#properties = uses;
    this.#negated = negated && !fold;
    const names = uses.map((each) => `${each.negated ? '!' : ''}${each.source}`);
    this.key = `${this.#negated ? '^' : ''}${this.#ranges.join()}${names.join('')}`;
  }

  /** The members of these ranges, each a pair of first and last, in any order. */
  static ofRanges(...ranges: readonly (readonly [number, number])[]): CharacterSet {
    return new CharacterSet(merge(ranges), [], false);
  }

  /** `source` is the property as a pattern, such as `\p{L}`. */
  static ofProperty(source: string): CharacterSet {
    let property = properties.get(source);
    if (property === undefined) properties.set(source, (property = new UnicodeProperty(source)));
    return new CharacterSet([], [{ source, property, negated: false }], false);
  }

  /** Members of any of these sets. */
  static union(sets: readonly CharacterSet[]): CharacterSet {
    const ranges: (readonly [number, number])[] = [];
    const uses: PropertyUse[] = [];
    for (const set of sets) {
      // Only a single property is ever negated by itself (`\P{L}`): classes are negated after their union.
      for (const use of set.#properties) uses.push({ ...use, negated: use.negated !== set.#negated });
      for (let at = 0; at < set.#ranges.length; at += 2) {
        ranges.push([set.#ranges[at] as number, set.#ranges[at + 1] as number]);
      }
    }
    return new CharacterSet(merge(ranges), uses, false);
  }

  negate(): CharacterSet {
    return new CharacterSet(this.#ranges, this.#properties, !this.#negated);
  }

  has(code: number): boolean {
    return (inRanges(this.#ranges, code) || this.#hasProperty(code)) !== this.#negated;
  }

  #hasProperty(code: number): boolean {
    return (
      this.#properties.length > 0 && this.#properties.some(({ property, negated }) => property.has(code) !== negated)
    );
  }

  /** Whether a character may be in both. Exact without properties; with them only for ASCII, else "yes". */
  overlaps(other: CharacterSet): boolean {
    if (this.#properties.length === 0 && other.#properties.length === 0) return intersect(this.#ranges, other.#ranges);
    const [mine, others] = [this.#asciiBits(), other.#asciiBits()];
    if (mine.some((bits, word) => (bits & (others[word] as number)) !== 0)) return true;
    return this.#reachesBeyondAscii() && other.#reachesBeyondAscii();
  }

  /** Which of the ASCII characters are members, one bit each. */
  #asciiBits(): Int32Array {
    if (this.#ascii !== undefined) return this.#ascii;
    const bits = new Int32Array(4);
    for (let code = 0; code < 128; code++)
      if (this.has(code)) bits[code >> 5] = (bits[code >> 5] as number) | (1 << (code & 31));
    this.#ascii = bits;
    return bits;
  }

  #reachesBeyondAscii(): boolean {
    return this.#properties.length > 0 || (this.#ranges.at(-1) ?? 0) > 127;
  }
}

function merge(ranges: readonly (readonly [number, number])[]): number[] {
  const merged: number[] = [];
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before + 1) merged[merged.length - 1] = Math.max(before, last);
    else merged.push(first, last);
  }
  return merged;
}

function complement(ranges: readonly number[]): number[] {
  const rest: number[] = [];
  let next = 0;
  for (let at = 0; at < ranges.length; at += 2) {
    const first = ranges[at] as number;
    if (first > next) rest.push(next, first - 1);
    next = (ranges[at + 1] as number) + 1;
  }
  if (next <= maxCode) rest.push(next, maxCode);
  return rest;
}

function inRanges(ranges: readonly number[], code: number): boolean {
  let low = 0;
  let high = ranges.length / 2 - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (ranges[middle * 2] as number)) high = middle - 1;
    else if (code > (ranges[middle * 2 + 1] as number)) low = middle + 1;
    else return true;
  }
  return false;
}

function intersect(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if ((a[i + 1] as number) < (b[j] as number)) i += 2;
    else if ((b[j + 1] as number) < (a[i] as number)) j += 2;
    else return true;
  }
  return false;
}

/** A set that is made when it is first used: most servers have no patterns. */
function constantSet(...ranges: readonly (readonly [number, number])[]): () => CharacterSet {
  let set: CharacterSet | undefined;
  return () => (set ??= CharacterSet.ofRanges(...ranges));
}

export const anyCharacter = constantSet([0, maxCode]);
export const lineBreaks = constantSet([0x0a, 0x0a], [0x0d, 0x0d], [0x2028, 0x2029]);
export const digits = constantSet([0x30, 0x39]);
export const wordCharacters = constantSet([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);
/** White space and line breaks, ECMA-262 §12.2 and §12.3. */
export const spaces = constantSet(
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
);
