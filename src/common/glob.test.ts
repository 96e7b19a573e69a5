import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlob, compileGlobs, literalPrefix, matchInSteps } from './glob.ts';

const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['echo', ['echo'], ['Echo', 'echo2', '']],
  ['execute_*', ['execute_', 'execute_command'], ['execute', 'execute_a/b', 'xexecute_a']],
  ['note://**', ['note://', 'note://a/b/c'], ['note:/a', 'notes://a']],
  ['note://*', ['note://1'], ['note://1/2']],
  ['file:///srv/*/public/**', ['file:///srv/a/public/x/y'], ['file:///srv/a/b/public/x', 'file:///srv/a/private/x']],
  ['?at', ['cat', 'rat'], ['at', '/at', 'chat']],
  ['**secret**', ['secret', 'a secret\nplace', 'x/secret/y'], ['secre t']],
  ['a**b**c', ['abc', 'aXbXc', 'abbcc'], ['acb', 'ab', 'ac']],
  ['**', ['', 'anything/at all'], []],
  ['*', ['', 'name'], ['a/b']],
  ['a*?c', ['abc', 'abbc'], ['ac', 'a/c']],
];

test.each(cases)('%s matches what it should and nothing else', (pattern, fitting, other) => {
  const glob = compileGlob(pattern);
  for (const text of fitting) expect(glob(text), text).toBe(true);
  for (const text of other) expect(glob(text), text).toBe(false);
});

test('a glob agrees with the equivalent regular expression', () => {
  const pieces = fc.constantFrom('a', 'b', '/', '*', '**', '?', '.');
  const letters = fc.constantFrom('a', 'b', '/', '.', 'c');
  fc.assert(
    fc.property(
      fc.array(pieces, { minLength: 1, maxLength: 8 }),
      fc.array(letters, { maxLength: 10 }),
      (parts, text) => {
        const pattern = parts.join('');
        const source = pattern.replace(/\*{2,}|[*?.]/g, (piece) =>
          piece === '?' ? '[^/]' : piece === '*' ? '[^/]*' : piece === '.' ? '\\.' : '[^]*',
        );
        expect(compileGlob(pattern)(text.join(''))).toBe(new RegExp(`^(?:${source})$`).test(text.join('')));
      },
    ),
    { numRuns: 2000 },
  );
});

test('patterns that are slow with backtracking are matched in one pass', () => {
  const hostile = 'a'.repeat(1_000_000);
  for (const pattern of [`${'*a'.repeat(20)}b`, `${'**a'.repeat(20)}b`, `${'a*'.repeat(20)}?b`]) {
    expect(compileGlob(pattern)(hostile)).toBe(false);
  }
});

test('long texts are matched in steps, with the same result', () => {
  const long = 'abc/'.repeat(10_000);
  for (const patterns of [['**a?c/*'], ['**b*d'], ['**a?c/', 'x'], ['y', '*']]) {
    const glob = compileGlobs(patterns);
    let steps = 0;
    const matching = matchInSteps(glob, long);
    let step = matching.next();
    for (; step.done !== true; step = matching.next()) steps++;
    expect(step.value).toBe(glob(long));
    expect(steps).toBeGreaterThan(0);
  }
});

test('several patterns match if one does; no patterns match nothing', () => {
  expect(compileGlobs(['a', 'b*'])('bc')).toBe(true);
  expect(compileGlobs([])('a')).toBe(false);
});

test('an empty or endless pattern is rejected', () => {
  expect(() => compileGlob('')).toThrow(RangeError);
  expect(() => compileGlob('a'.repeat(1025))).toThrow(RangeError);
});

test('the literal prefix of a pattern is found', () => {
  expect(literalPrefix('note://public-*')).toBe('note://public-');
  expect(literalPrefix('plain')).toBe('plain');
});
