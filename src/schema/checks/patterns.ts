// `pattern` and `patternProperties`. JSON Schema patterns are not anchored. RegExp backtracks: on `^(a+)+$` it takes
// exponential time. It is used only for patterns where that is impossible; all others run in our own matcher, in time
// proportional to the length of the text. Both spend from the budget of the validation.
import { limits } from '../limits.ts';
import { boundSteps, type StepBound } from '../pattern/backtracking.ts';
import { countMatcherStates, LinearMatcher, maxLooks } from '../pattern/linear-matcher.ts';
import { parsePattern, type Syntax, UnsupportedPattern } from '../pattern/syntax.ts';
import { budgetExceeded, spend } from './budget.ts';

/** A pattern ready for use. */
export interface Pattern {
  readonly source: string;
  /** Whether it matches somewhere in the text. Throws `budgetExceeded` when the budget is used up. */
  test(text: string): boolean;
}

/** What the patterns of one schema may still take: preparing them, and the memory of their matchers. */
export interface PatternBudget {
  characters: number;
  states: number;
}

/** For a schema that is about to be read. */
export function newPatternBudget(): PatternBudget {
  return { characters: limits.maxPatternCharacters, states: limits.maxPatternStates };
}

/** Prepares a pattern. Throws a `SyntaxError`, or an `UnsupportedPattern` where no bound on its time can be given. */
export function compilePattern(source: string, budget: PatternBudget = newPatternBudget()): Pattern {
  budget.characters -= source.length;
  if (budget.characters < 0) {
    const most = limits.maxPatternCharacters;
    throw new UnsupportedPattern(`is too long: all patterns of a schema may have ${most} characters together`);
  }
  const regexp = toRegExp(source);
  const syntax = parsePattern(source, regexp.unicode);
  const steps = boundSteps(syntax);
  const maxNative = steps === undefined ? -1 : longestNative(steps, source.length);
  if (maxNative < limits.maxNativeLength) requireStates(syntax, budget);
  let linear: LinearMatcher | undefined;
  return {
    source,
    test(text) {
      if (text.length > maxNative) return (linear ??= linearMatcher(syntax)).test(text);
      spend(text.length);
      return regexp.test(text);
    },
  };
}

function requireStates(syntax: Syntax, budget: PatternBudget): void {
  if (syntax.looks.length > maxLooks) throw new UnsupportedPattern(`has more than ${maxLooks} lookarounds. Use fewer`);
  budget.states -= countMatcherStates(syntax);
  if (budget.states < 0) {
    throw new UnsupportedPattern(
      `is too large: with repetitions written out, all patterns of a schema may have ${limits.maxPatternStates} ` +
        'states together. Use smaller repeat counts',
    );
  }
}

function linearMatcher(syntax: Syntax): LinearMatcher {
  // The text is too long for RegExp, and the pattern too large for the other matcher.
  if (syntax.looks.length > maxLooks || countMatcherStates(syntax) > limits.maxPatternStates) throw budgetExceeded;
  return new LinearMatcher(syntax);
}

/**
 * V8 14.6 (Node.js 26) overlooks characters of two code units where a pattern ends with `$`: `/[^a]$/u` does not match an emoji.
 * A pattern with an alternative that ends otherwise is not affected; this one never matches.
 */
const anotherEnd = /[^a]$/u.test('\u{1f600}') ? '' : '|[^\\s\\S]';

/** Unicode mode as the standard requires; without it for the many existing patterns that are only valid then. */
function toRegExp(source: string): RegExp {
  try {
    const regexp = new RegExp(source, 'u');
    return anotherEnd === '' ? regexp : new RegExp(`(?:${source})${anotherEnd}`, 'u');
  } catch {
    // Such as `[\w-.]` or `\-`: an error in Unicode mode only. A pattern wrong in both modes throws here.
    return new RegExp(source);
  }
}

/** The longest text for which the platform's RegExp takes a few steps per character; -1 where even short ones do not. */
function longestNative(steps: StepBound, patternLength: number): number {
  // A pattern may take a few steps for each of its own characters, however short the text.
  const constant = limits.maxNativeConstantSteps + 4 * patternLength;
  const isFast = (length: number): boolean => steps(length) <= limits.maxNativeSteps * length + constant;
  // The bound grows faster than the length, or as fast: once it is too slow it stays so.
  if (isFast(limits.maxNativeLength)) return limits.maxNativeLength;
  let [good, bad] = [-1, limits.maxNativeLength as number];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isFast(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
