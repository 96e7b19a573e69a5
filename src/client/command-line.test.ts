import { expect, test } from 'vitest';
import { splitCommandLine } from './command-line.ts';

test('on Windows a backslash is a part of a path', () => {
  const split = (text: string) => splitCommandLine(text, 'win32');
  expect(split(String.raw`node C:\app\server.js`)).toEqual(['node', String.raw`C:\app\server.js`]);
  expect(split(String.raw`node "C:\my app\server.js" \\host\share`)).toEqual([
    ...['node', String.raw`C:\my app\server.js`, String.raw`\\host\share`],
  ]);
  expect(split(String.raw`say "\"hi\"" \"`)).toEqual(['say', '"hi"', '"']);
});

test('elsewhere a backslash escapes what is after it', () => {
  const split = (text: string) => splitCommandLine(text, 'linux');
  expect(split(String.raw`node my\ app\\x "a\"b\c"`)).toEqual(['node', String.raw`my app\x`, String.raw`a"b\c`]);
});
