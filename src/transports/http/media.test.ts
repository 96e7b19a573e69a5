import { expect, test } from 'vitest';
import { acceptsOf, isJson } from './media.ts';

test.each<[string | undefined, string]>([
  [undefined, 'any'],
  ['', 'any'],
  ['*/*', 'any'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['text/event-stream', 'stream'],
  ['text/*', 'stream'],
  ['application/json, text/event-stream', 'both'],
  ['text/event-stream;q=0.9,application/json;q=0.1', 'both'],
  ['Text/Event-Stream , APPLICATION/JSON', 'both'],
  ['text/event-stream, */*', 'both'],
  ['application/json;q=0, text/event-stream', 'stream'],
  ['application/json;q=0.0', 'none'],
  ['text/html', 'none'],
  ['application/jsonx', 'none'],
  ['xapplication/json', 'none'],
])('Accept %s means %s', (header, expected) => {
  expect(acceptsOf(header)).toBe(expected);
  expect(acceptsOf(header)).toBe(expected);
});

test('thousands of different headers are parsed like the first', () => {
  for (let n = 0; n < 2000; n++) expect(acceptsOf(`application/json;v=${n}`)).toBe('json');
});

test.each<[string | undefined, boolean]>([
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset="utf8"', true],
  ['APPLICATION/JSON; charset=UTF-8; x=y', true],
  ['application/json; charset=iso-8859-1', false],
  ['application/json, application/json', false],
  ['application/json-seq', false],
  ['text/json', false],
  ['', false],
  [undefined, false],
])('Content-Type %s', (header, expected) => {
  expect(isJson(header)).toBe(expected);
});
