import { expect, test } from 'vitest';
import { maxShortCopy, shortCopy } from './short-copy.ts';

const copyOf = (value: unknown) => shortCopy(value, JSON.stringify(value)) as { text: string; _meta?: object };
const opening = 'The result is in structuredContent: ';
const long = 'x'.repeat(300);

test('the JSON of a short value is its own copy', () => {
  expect(copyOf({ city: 'Oslo', days: [1, 2] })).toEqual({ type: 'text', text: '{"city":"Oslo","days":[1,2]}' });
  expect(copyOf('y'.repeat(maxShortCopy - 2)).text).toHaveLength(maxShortCopy);
  expect(copyOf('y'.repeat(maxShortCopy - 1)).text).toBe(`${opening}text of ${maxShortCopy - 1} characters`);
});

test.each<[string, unknown, string]>([
  [
    'an object',
    {
      city: 'Oslo',
      celsius: 21.5,
      wind: null,
      dry: true,
      hours: Array(24).fill(20),
      at: { lat: 1, lon: 2 },
      text: long,
    },
    'city: "Oslo", celsius: 21.5, wind: null, dry: true, hours: list of 24, at: object with 2 members, text: text of 300 characters',
  ],
  ['a list of objects', Array(90).fill({ id: 1, name: 'a' }), 'list of 90, the first with id, name'],
  ['a list of texts', Array(90).fill('abc'), 'list of 90'],
  ['a text', long, 'text of 300 characters'],
  ['names that are no words', { 'a\nb': 1, long }, '"a\\nb": 1, long: text of 300 characters'],
  ['what JSON leaves out', { a: undefined, run: () => 1, long }, 'long: text of 300 characters'],
  [
    'values with a JSON of their own',
    { on: new Date(0), long },
    'on: "1970-01-01T00:00:00.000Z", long: text of 300 characters',
  ],
  ['an object with a JSON of its own', { toJSON: () => ({ long }) }, 'long: text of 300 characters'],
  ['an object whose names are all long', { [long]: 1, [`${long}y`]: 2 }, 'object with 2 members'],
  ['a name that is long', { [long]: 1, a: 1 }, 'a: 1, and 1 more'],
])('%s is summarized, and marked as a summary', (_, value, text) => {
  expect(copyOf(value)).toEqual({ type: 'text', text: opening + text, _meta: { 'mooring/summary': true } });
});

test('it is one line of limited length, whatever the value', () => {
  for (const size of [5, 50, 500, 10_000]) {
    for (const name of ['k', 'some\nname-', 'a'.repeat(50)]) {
      const value = Object.fromEntries(Array.from({ length: size }, (_, index) => [`${name}${index}`, 'v'.repeat(59)]));
      for (const { text } of [copyOf(value), copyOf(Array(3).fill(value))]) {
        expect(text.length).toBeLessThanOrEqual(maxShortCopy);
        expect(text).not.toContain('\n');
      }
      expect(copyOf(value).text).toMatch(/, and \d+ more$/);
    }
  }
});

test('no string is cut: a part of a secret would not be recognized as one', () => {
  const secret = 's3cret'.repeat(11);
  expect(copyOf({ token: secret, list: [secret], [secret]: 1, long }).text).not.toContain('s3cret');
});
