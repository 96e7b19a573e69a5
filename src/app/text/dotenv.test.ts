import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDotenv } from './dotenv.ts';

const variables = (...lines: string[]) => parseDotenv(lines.join('\n')).variables;

test.each([
  ['NAME=value', 'value'],
  ['NAME=', ''],
  ['NAME = spaced value  ', 'spaced value'],
  ['  export NAME=value', 'value'],
  ['NAME=value # comment', 'value'],
  ['NAME=# comment', ''],
  ['NAME=a#b', 'a#b'],
  ['NAME=a=b', 'a=b'],
  ['NAME="a # b"', 'a # b'],
  ['NAME="a" # comment', 'a'],
  [`NAME='a\\n"b"'`, 'a\\n"b"'],
  ['NAME="a\\n\\"b\\"\\\\"', 'a\n"b"\\'],
  ['NAME="C:\\Users\\me"', 'C:\\Users\\me'],
  ['NAME=`"a" \'b\'`', '"a" \'b\''],
  ['NAME="', '"'],
  ['NAME="a"b', '"a"b'],
  [`NAME=\${OTHER}`, `\${OTHER}`],
])('%s', (line, value) => {
  expect(variables(line)).toEqual({ NAME: value });
});

test('comments, empty lines and line breaks of Windows; the last value of a name counts', () => {
  const { variables: read, unread } = parseDotenv('\uFEFF# first\r\n\r\nA=1\r\n  # more\r\nB=2\r\nA=3\r\n');
  expect(read).toEqual({ A: '3', B: '2' });
  expect(unread).toEqual([]);
});

test('quoted values may have several lines', () => {
  expect(variables('KEY="-----BEGIN', 'abc', '-----END"', "OTHER='a", "b'", 'LAST=1')).toEqual({
    KEY: '-----BEGIN\nabc\n-----END',
    OTHER: 'a\nb',
    LAST: '1',
  });
});

test('lines without a variable are reported', () => {
  expect(parseDotenv('A=1\nNAME\n1B=2\n: c\nD=4')).toEqual({ variables: { A: '1', D: '4' }, unread: [2, 3, 4] });
  expect(Object.keys(variables('__proto__=1'))).toEqual(['__proto__']);
});

test('every value can be written in double quotes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      fc.pre(!value.includes('\r'));
      const written = `NAME="${value.replace(/["\\]/g, '\\$&')}"`;
      expect(variables(written, 'NEXT=1')).toEqual({ NAME: value, NEXT: '1' });
    }),
  );
});
