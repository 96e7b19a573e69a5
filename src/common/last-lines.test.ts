import { expect, test } from 'vitest';
import { lastLines } from './last-lines.ts';

const usage = Array.from({ length: 20 }, (_, n) => `  --option-${n}`);

test('the last lines have no escape sequences, empty lines and stacks', () => {
  const log = '\u001b[31m\nready\r\n\u001b[1mTypeError: x\u001b[0m\n    at run (a.js:1)\n\nNode.js v24.1.0\n';
  expect(lastLines(log, 6)).toEqual(['ready', 'TypeError: x']);
  expect(lastLines(log, 1)).toEqual(['TypeError: x']);
  expect(lastLines('', 6)).toEqual([]);
});

test.each(['Error: No token was provided.', '🚨  Error initializing', '[FATAL] no disk', 'TypeError: x'])(
  'an error before a long usage comes first: %s',
  (error) => {
    const lines = lastLines(['starting', error, ...usage].join('\n'), 5);
    expect(lines).toEqual([error, '…', '  --option-17', '  --option-18', '  --option-19']);
  },
);

test('other lines before the last ones are left out', () => {
  const lines = ['Errors: none', 'no error', ...usage];
  expect(lastLines(lines.join('\n'), 3)).toEqual(usage.slice(-3));
  expect(lastLines(['Error: old', ...usage, 'Error: new'].join('\n'), 2)).toEqual(['  --option-19', 'Error: new']);
});
