import { expect, test } from 'vitest';
import { compileExclude, compilePathGlob } from './path-glob.ts';

test.each([
  ['*.ts', ['a.ts'], ['sub/a.ts', 'a.tsx']],
  ['**/*.ts', ['a.ts', 'sub/a.ts', 'sub/deep/a.ts'], ['a.js']],
  ['src/**/a.ts', ['src/a.ts', 'src/x/a.ts', 'src/x/y/a.ts'], ['a.ts', 'lib/src/a.ts', 'src/ba.ts']],
  ['**/x/**/y', ['x/y', 'a/x/y', 'a/x/b/y'], ['y', 'xx/y']],
  ['**/*.{ts,js}', ['a.ts', 'b/c.js'], ['a.css']],
  ['{a,b{1,2}}.txt', ['a.txt', 'b1.txt', 'b2.txt'], ['b.txt', 'b3.txt']],
  ['**/[id].tsx', ['[id].tsx', 'app/[id].tsx'], ['i.tsx']],
  ['**/**/**/x', ['x', 'a/b/x'], ['y']],
  ['a/**', ['a/b', 'a/b/c'], ['a', 'b/a/c']],
  ['.*', ['.env'], ['env']],
])('%s matches what it says', (pattern, yes, no) => {
  const glob = compilePathGlob(pattern);
  expect(yes.filter((path) => !glob(path))).toEqual([]);
  expect(no.filter((path) => glob(path))).toEqual([]);
});

test('an excluded name without wildcards is excluded at any depth', () => {
  const glob = compileExclude(['node_modules', 'build/out', '*.log']);
  expect(['node_modules', 'a/node_modules', 'build/out', 'x/build/out', 'a.log'].filter((path) => !glob(path))).toEqual(
    [],
  );
  expect(['node_modules2', 'out', 'a/a.log'].filter((path) => glob(path))).toEqual([]);
});

test.each([
  ['', 'empty or too long'],
  ['x'.repeat(2000), 'empty or too long'],
  ['{a,b}'.repeat(12), 'more than 64 alternatives'],
  ['{a,a}'.repeat(200), 'more than 64 alternatives'],
  ['**/a/'.repeat(200), 'more than 64 alternatives'],
])('a pattern that is too much is an error (%#)', (pattern, why) => {
  expect(() => compilePathGlob(pattern)).toThrow(why);
});

test('a list of thousands of patterns is an error', () => {
  expect(() => compileExclude(Array.from({ length: 101 }, (_, index) => `${index}*`))).toThrow('At most 100 patterns');
});
