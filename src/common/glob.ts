// Globs for names, URIs and texts: `*` any run without a slash, `**` any run, `?` one character that is not a slash.
// Matching never backtracks, so no text can make it slow. Knows nothing of files or rules.

/** A longer pattern is an error in a configuration. */
const maxPatternChars = 1024;

/** Whether a whole text matches. */
export interface Glob {
  (text: string): boolean;
  /** The same in steps, for texts whose length a caller can choose. Absent where one step is always enough. */
  readonly steps?: (text: string) => Generator<void, boolean>;
}

/** How many characters are compared with one pattern in one step; takes about half a millisecond. */
const stepChars = 16_384;

/** Compiles one pattern; throws a `RangeError` when it is empty or too long. */
export function compileGlob(pattern: string): Glob {
  if (pattern === '' || pattern.length > maxPatternChars) {
    throw new RangeError(
      `A pattern must have 1 to ${maxPatternChars} characters: ${JSON.stringify(pattern.slice(0, 60))}`,
    );
  }
  if (pattern === '**') return () => true;
  if (!/[*?]/.test(pattern)) return (text) => text === pattern;
  const parts = pattern.split(/\*{2,}/);
  return parts.every((part) => !/[*?]/.test(part)) ? matchParts(parts) : matchStates(pattern);
}

/** A text matches if one of the patterns does. Without patterns nothing matches. */
export function compileGlobs(patterns: readonly string[]): Glob {
  const globs = patterns.map(compileGlob);
  if (globs.length === 1) return globs[0] as Glob;
  const match = (text: string): boolean => globs.some((glob) => glob(text));
  const steps = function* (text: string): Generator<void, boolean> {
    if (text.length * globs.length <= stepChars) return match(text);
    for (const glob of globs) {
      if (yield* matchInSteps(glob, text)) return true;
      yield;
    }
    return false;
  };
  return Object.assign(match, { steps });
}

/** Whether a text matches, in steps where the text is long. */
export function* matchInSteps(glob: Glob, text: string): Generator<void, boolean> {
  return glob.steps === undefined ? glob(text) : yield* glob.steps(text);
}

/** The prefix of every text that matches. */
export function literalPrefix(pattern: string): string {
  const end = pattern.search(/[*?]/);
  return end === -1 ? pattern : pattern.slice(0, end);
}

/** Literals with `**` between them: each is matched at its first occurrence. */
function matchParts(parts: readonly string[]): Glob {
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  const middle = parts.slice(1, -1);
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
    let at = first.length;
    for (const part of middle) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= text.length - last.length;
  };
}

const slash = 0x2f;

/**
 * The general case: every position in the pattern that can be reached is one bit, and all advance together. Bit n means
 * that n characters of the pattern are matched; a wildcard run is a bit that may stay set.
 */
function matchStates(pattern: string): Glob {
  const { characters, runs } = readPattern(pattern);
  const size = (characters.length >> 5) + 1;
  const loops = { any: new Uint32Array(size), segment: new Uint32Array(size) };
  for (const { at, kind } of runs) setBit(loops[kind], at);
  const stay = { slash: loops.any, other: loops.any.map((word, index) => word | (loops.segment[index] as number)) };
  const wild = new Uint32Array(size);
  const literals = new Map<number, Uint32Array>();
  characters.forEach((character, index) => {
    if (character === undefined) setBit(wild, index + 1);
  });
  characters.forEach((character, index) => {
    if (character === undefined) return;
    let mask = literals.get(character);
    if (mask === undefined)
      literals.set(character, (mask = character === slash ? new Uint32Array(size) : wild.slice()));
    setBit(mask, index + 1);
  });
  const none = new Uint32Array(size);
  const accept = characters.length;

  const begin = (): Uint32Array => {
    const states = new Uint32Array(size);
    states[0] = 1;
    return states;
  };
  /** Advances by these characters; false if no continuation can match. */
  const advance = (states: Uint32Array, text: string, from: number, to: number): boolean => {
    for (let index = from; index < to; index++) {
      const unit = text.charCodeAt(index);
      const moves = literals.get(unit) ?? (unit === slash ? none : wild);
      const stays = unit === slash ? stay.slash : stay.other;
      let carry = 0;
      let alive = 0;
      for (let word = 0; word < size; word++) {
        const before = states[word] as number;
        const after = (((before << 1) | carry) & (moves[word] as number)) | (before & (stays[word] as number));
        carry = before >>> 31;
        states[word] = after;
        alive |= after;
      }
      if (alive === 0) return false;
    }
    return true;
  };
  const accepts = (states: Uint32Array): boolean => ((states[accept >> 5] as number) & (1 << (accept & 31))) !== 0;

  const match = (text: string): boolean => {
    const states = begin();
    return advance(states, text, 0, text.length) && accepts(states);
  };
  const steps = function* (text: string): Generator<void, boolean> {
    const states = begin();
    for (let from = 0; from < text.length; from += stepChars) {
      if (from > 0) yield;
      if (!advance(states, text, from, Math.min(from + stepChars, text.length))) return false;
    }
    return accepts(states);
  };
  return Object.assign(match, { steps });
}

const setBit = (words: Uint32Array, bit: number): void => {
  words[bit >> 5] = (words[bit >> 5] as number) | (1 << (bit & 31));
};

/** The characters of a pattern (undefined: any but a slash), and the positions of wildcard runs. */
function readPattern(pattern: string): {
  readonly characters: readonly (number | undefined)[];
  readonly runs: readonly { readonly at: number; readonly kind: 'any' | 'segment' }[];
} {
  const characters: (number | undefined)[] = [];
  const runs: { at: number; kind: 'any' | 'segment' }[] = [];
  for (const piece of pattern.split(/(\*+|\?)/)) {
    if (piece.startsWith('*')) runs.push({ at: characters.length, kind: piece === '*' ? 'segment' : 'any' });
    else if (piece === '?') characters.push(undefined);
    else for (let index = 0; index < piece.length; index++) characters.push(piece.charCodeAt(index));
  }
  return { characters, runs };
}
