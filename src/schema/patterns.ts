// `pattern` and `patternProperties`. JSON Schema patterns are not anchored. The platform's RegExp backtracks: on
// `^(a+)+$` it takes exponential time. It is used where that can be ruled out; every other pattern is run by a matcher
// of ours whose time is proportional to the length of the text. Both spend from the budget of the validation.
import { limits } from './limits.ts';
import { boundSteps, type StepBound } from './pattern/backtracking.ts';
import { countMatcherStates, LinearMatcher, maxLooks } from './pattern/linear-matcher.ts';
import { parsePattern, type Syntax, UnsupportedPattern } from './pattern/syntax.ts';
import { spend, workExhausted } from './work.ts';

/** A pattern ready for use. */
export interface Pattern {
  readonly source: string;
  /** Whether it matches somewhere in the text. Throws `workExhausted` when the budget is used up. */
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

/** Prepares a pattern. Throws a `SyntaxError`, or an `UnsupportedPattern` for what no matcher runs in bounded time. */
export function compilePattern(source: string, budget: PatternBudget = newPatternBudget()): Pattern {
  budget.characters -= source.length;
  if (budget.characters < 0) {
    const most = limits.maxPatternCharacters;
    throw new UnsupportedPattern(`exceeds what is allowed: the patterns of a schema have at most ${most} characters`);
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
  if (syntax.looks.length > maxLooks) throw new UnsupportedPattern(`has more than ${maxLooks} lookarounds`);
  const states = countMatcherStates(syntax);
  if (states > limits.maxPatternStates) {
    throw new UnsupportedPattern(`needs more than ${limits.maxPatternStates} states, its repetitions written out`);
  }
  budget.states -= states;
  if (budget.states < 0) {
    throw new UnsupportedPattern(
      `exceeds what is allowed: the patterns of a schema have at most ${limits.maxPatternStates} states, their repetitions written out`,
    );
  }
}

function linearMatcher(syntax: Syntax): LinearMatcher {
  // A text so long that only this matcher can take it, and a pattern that only the other one can.
  if (syntax.looks.length > maxLooks || countMatcherStates(syntax) > limits.maxPatternStates) throw workExhausted;
  return new LinearMatcher(syntax);
}

/** Unicode mode as the standard asks; without it for the many patterns in the wild that only then are valid. */
function toRegExp(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
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
