// Globs for paths below a directory, written with slashes: what glob.ts knows, `{a,b}`, and `**/` for any number of
// folders, none included. Brackets are ordinary characters: `[id].tsx` is a file name.

import { compileGlobs, type Glob } from '../../common/glob.ts';
import { fileErrors } from './errors.ts';

/** Plain globs that one pattern may stand for: stops `{a,b}{a,b}{a,b}…` from doubling without limit. */
const maxAlternatives = 64;

/** Patterns in one list: every entry of a search is compared with all of them. */
const maxPatterns = 100;

/** Compiles a pattern; throws `FILE_BAD_PATTERN`. */
export const compilePathGlob = (pattern: string): Glob => compileAll([pattern], (each) => [each]);

/** What is left out. A pattern without a wildcard is a name or path at any depth, with everything in it. */
export function compileExclude(patterns: readonly string[]): Glob {
  if (patterns.length > maxPatterns)
    throw fileErrors.badPattern(String(patterns.length), `At most ${maxPatterns} patterns are allowed`);
  return compileAll(patterns, (each) => (/[*?{]/.test(each) ? [each] : [each, `**/${each}`]));
}

function compileAll(patterns: readonly string[], variants: (pattern: string) => readonly string[]): Glob {
  const globs = patterns.map((pattern) => {
    try {
      return compileGlobs(alternativesOf(pattern, variants(pattern)));
    } catch (error) {
      if (error instanceof RangeError) throw fileErrors.badPattern(pattern, 'The pattern is empty or too long');
      throw error;
    }
  });
  return (path) => globs.some((glob) => glob(path));
}

/** The plain globs that the variants of a pattern stand for. */
function alternativesOf(pattern: string, variants: readonly string[]): readonly string[] {
  const done: string[] = [];
  const pending = variants.map((each) => each.replace(/(\*\*\/)+/g, '**/'));
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const further = expandBraces(next) ?? expandFolders(next);
    if (further === undefined) done.push(next);
    else pending.push(...further);
    if (done.length + pending.length > maxAlternatives)
      throw fileErrors.badPattern(pattern, `The pattern has more than ${maxAlternatives} alternatives`);
  }
  return [...new Set(done)].map((each) => each.replaceAll(anyFolders, '**/'));
}

/** `a{b,c}` as `ab` and `ac`, for the innermost braces; undefined where there are none. */
function expandBraces(pattern: string): readonly string[] | undefined {
  const found = /\{([^{},]*(?:,[^{},]*)+)\}/.exec(pattern);
  if (found === null) return undefined;
  const before = pattern.slice(0, found.index);
  const after = pattern.slice(found.index + found[0].length);
  return (found[1] as string).split(',').map((choice) => before + choice + after);
}

/** Stands for a `**\/` that was expanded already; no name contains this character (see locator.ts). */
const anyFolders = '\0';

/** `**\/x` as `x` and as `x` in some folder. */
function expandFolders(pattern: string): readonly string[] | undefined {
  const found = /(^|\/|\0)\*\*\//.exec(pattern);
  if (found === null) return undefined;
  const before = pattern.slice(0, found.index) + found[1];
  const after = pattern.slice(found.index + found[0].length);
  return [before + after, before + anyFolders + after];
}
