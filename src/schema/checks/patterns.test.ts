import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { limits } from '../limits.ts';
import { boundSteps } from '../pattern/backtracking.ts';
import { backtrack, TooManySteps } from '../pattern/backtracking-matcher.fixture.ts';
import { LinearMatcher } from '../pattern/linear-matcher.ts';
import { parsePattern, type Syntax, UnsupportedPattern } from '../pattern/syntax.ts';
import { budget, budgetExceeded } from './budget.ts';
import { compilePattern } from './patterns.ts';

beforeEach(() => {
  budget.stepsLeft = limits.maxSteps;
});

/** Patterns as text: small parts over few characters, so that they often match and often fail late. */
function patterns(unicode: boolean): fc.Arbitrary<string> {
  const both = [
    'a',
    'b',
    '-',
    '.',
    '[ab]',
    '[^a]',
    '[a-c]',
    '\\w',
    '\\W',
    '\\s',
    '\\d',
    '^',
    '$',
    '\\b',
    '\\B',
    '[^]',
    '[]',
  ];
  const only = unicode
    ? [
        '\\p{L}',
        '[\\P{L}b]',
        '[^\\p{Lu}a]',
        '😀',
        '[😀a]',
        '\\u{1F600}',
        '\\ud83d\\ude00',
        '\\ud83d',
        '[\\ud83d-\\ude00]',
      ]
    : ['\\-', '[\\w-.]', '\\ud83d', '{', ']', '\\a', '[\\ud83d😀]', '\\u{2}'];
  return fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom(...both, ...only),
      fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((items) => items.join('')),
      fc.array(tie('node'), { minLength: 2, maxLength: 3 }).map((items) => `(?:${items.join('|')})`),
      tie('node').map((item) => `(${item})`),
      tie('node').map((item) => `(?:|${item})`),
      fc
        .tuple(tie('node'), fc.constantFrom('*', '+', '?', '*?', '{2}', '{0,2}', '{1,3}', '{2,}', '{0}', '{0,70}'))
        .map(([item, quantifier]) => `(?:${item})${quantifier}`),
      fc.tuple(fc.constantFrom('(?=', '(?!', '(?<=', '(?<!'), tie('node')).map(([open, item]) => `${open}${item})`),
    ),
  })).node;
}

const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', '-', ' ', '1', '\n', '😀', '\ud83d', '\ude00', 'é', 'a', 'a', 'b'), {
    maxLength: 14,
  })
  .map((parts) => parts.join(''));

function isValid(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) !== undefined;
  } catch {
    return false;
  }
}

const manyTexts = fc.array(texts, { minLength: 5, maxLength: 10 });
const runs = { numRuns: 1_000, seed: 20261116 };

describe.each([true, false])('with Unicode mode %s', (unicode) => {
  test('the linear matcher agrees with RegExp on every pattern and text', () => {
    const found = { true: 0, false: 0 };
    fc.assert(
      fc.property(patterns(unicode), manyTexts, (source, values) => {
        fc.pre(isValid(source, unicode ? 'u' : ''));
        const syntax = parsePattern(source, unicode);
        const matcher = matcherFor(syntax);
        const native = new RegExp(source, unicode ? 'u' : '');
        for (const value of values) {
          const expected = expectedFor(syntax, value);
          if (expected === undefined) continue;
          found[`${expected}`]++;
          budget.stepsLeft = limits.maxSteps;
          const what = `/${source}/ on ${JSON.stringify(value)}`;
          expect(matcher.test(value), what).toBe(expected);
          // V8 also looks between the halves of a surrogate pair, which ECMA-262 (RegExpBuiltinExec) does not.
          if (!/[\ud800-\udbff][\udc00-\udfff]/.test(value)) expect(native.test(value), what).toBe(expected);
        }
      }),
      runs,
    );
    expect(found.true).toBeGreaterThan(1_000);
    expect(found.false).toBeGreaterThan(1_000);
  });

  test('no search takes more steps than the bound says', () => {
    let bounded = 0;
    fc.assert(
      fc.property(patterns(unicode), manyTexts, (source, values) => {
        fc.pre(isValid(source, unicode ? 'u' : ''));
        const syntax = parsePattern(source, unicode);
        const bound = boundSteps(syntax);
        if (bound === undefined) return;
        bounded++;
        for (const value of values) {
          const most = bound(value.length);
          if (most > 50_000) continue;
          expect(backtrack(syntax, value, most).steps).toBeLessThanOrEqual(most);
        }
      }),
      runs,
    );
    expect(bounded).toBeGreaterThan(200);
  });
});

function matcherFor(syntax: Syntax): LinearMatcher {
  try {
    return new LinearMatcher(syntax);
  } catch (error) {
    return fc.pre(!(error instanceof UnsupportedPattern)) as never;
  }
}

/** Undefined where backtracking takes too long to be waited for. */
function expectedFor(syntax: Syntax, value: string): boolean | undefined {
  try {
    return backtrack(syntax, value, 50_000).matches;
  } catch (error) {
    if (error instanceof TooManySteps || error instanceof RangeError) return undefined;
    throw error;
  }
}

describe('patterns on which RegExp takes too long', () => {
  // Steps that double, or grow with a power of the length.
  test.each([
    ['^(a+)+$', 'a', '!'],
    ['^(a|a)*$', 'a', '!'],
    ['^(a*)*$', 'a', '!'],
    ['^(a|aa)+$', 'a', '!'],
    ['(x+x+)+y', 'x', ''],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a', ''],
    ['a*a*a*a*a*b', 'a', ''],
    ['(.*)x(.*)y$', 'x', ''],
    ['^(?=(a+)+b)', 'a', ''],
    ['(?<=(a|a)*)c', 'a', ''],
    ['^(?:a?){40}a{40}$', 'a', 'x'],
    ['^([a-zA-Z0-9_.+-]+)+@x$', 'a', ''],
    ['^(\\s|\\p{Zs})*$', ' ', 'x'],
    ['[a-z]+\\d+', 'a', ''],
  ])('%s is decided in a moment on 300,000 characters', (source, part, end) => {
    const { test } = compilePattern(source);
    const before = process.cpuUsage();
    expect(test(part.repeat(300_000) + end)).toBe(false);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });

  test('ten million characters are read in one pass, or not at all', () => {
    const text = 'abcxdefg'.repeat(1_250_000);
    expect(compilePattern('(.*)x(.*)y$').test(text)).toBe(false);
    expect(compilePattern('^(?:[a-w]|[xy]|z)*$').test(text)).toBe(true);
    const before = process.cpuUsage();
    // Every character meets nearly all of 5,000 states, and leads to a set of them that was not met before.
    const many = compilePattern('^(?:.*x){0,1000}(?:(?:a|b)(?:.*x)?){0,200}$');
    expect(() => many.test(`${text}!\n`)).toThrow(budgetExceeded);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
  });
});

describe('ordinary patterns', () => {
  test.each([
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    '^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '^(?=.*[A-Z])(?=.*\\d).{8,}$',
    '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    '^\\+?[1-9]\\d{1,14}$',
    '^https?://',
    '\\.json$',
    '^.{1,65535}$',
    '^[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]*[\\p{L}\\p{N}])?$',
  ])('%s is run by RegExp itself', (source) => {
    const native = vi.spyOn(RegExp.prototype, 'test');
    try {
      const { test } = compilePattern(source);
      native.mockClear();
      test('a'.repeat(100_000));
      expect(native).toHaveBeenCalledOnce();
    } finally {
      native.mockRestore();
    }
  });
});

test.each([
  ['^(["\']).*\\1$', 'uses the backreference \\1, which cannot be matched in linear time'],
  ['(?<quote>").*\\k<quote>', 'uses the backreference \\k, which cannot be matched in linear time'],
  ['((x{100}){100}){100}?.*y', 'is too large: with repetitions written out'],
  ['(?=a)(?=b)(?=c)(?=d)(?=e)(?=f)(?=g)(?=h)(?=i)(x+)+y', 'has more than 8 lookarounds'],
  [`${'('.repeat(101)}a${')'.repeat(101)}`, 'nests more than 100 groups'],
])('%s is rejected with a reason', (source, reason) => {
  expect(() => compilePattern(source)).toThrow(reason);
});

test.each([
  ['[^a]$', 'b😀'],
  ['[^a]{2}$', '😀😀'],
  ['(?:x|y)[^a]$', 'x😀'],
  ['😀$|b$', '😀'],
])('%s matches a character of two code units at the end of %s', (source, text) => {
  expect(compilePattern(source).test(text)).toBe(true);
  expect(compilePattern(source).test('a')).toBe(false);
});
