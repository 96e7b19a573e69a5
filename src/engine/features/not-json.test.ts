import { expect, test } from 'vitest';
import { lostPart, lostValue, notJson } from './not-json.ts';

const ring: Record<string, unknown> = {};
ring['self'] = { back: ring };
const sparse = { rows: Array.from({ length: 5_000 }, () => ({ n: 1 })), last: 1n };

test.each<[unknown, string]>([
  [1n, 'The tool returned a BigInt, which JSON cannot represent; return a string or a number'],
  [{ rows: [{ id: 1n }] }, 'The tool returned a BigInt in "rows[0].id", which JSON cannot represent; return a string'],
  [ring, 'The tool returned an object that contains itself in "self.back", which JSON cannot represent; return only'],
  [() => 1, 'The tool returned a function, which JSON cannot represent; return text, content blocks or an object'],
  [Symbol('s'), 'The tool returned a symbol, which JSON cannot represent'],
])('%o has an error that says where and what', (value, message) => {
  expect(notJson(value).message).toContain(message);
});

test('an error of a getter or of toJSON is passed on', () => {
  const value = {
    get a() {
      throw new Error('no database');
    },
  };
  const error = notJson(value, new Error('no database'));
  expect(error.message).toBe('The tool returned a value that cannot be converted to JSON: no database');
});

test('the search ends in a large value', () => {
  const error = notJson(sparse, new TypeError('Do not know how to serialize a BigInt'));
  expect(error.message).toContain('cannot be converted to JSON: Do not know how to serialize a BigInt');
});

class Row {
  #id = 1;
  get id(): number {
    return this.#id;
  }
}

test.each<[unknown, string]>([
  [new Map([['a', 1]]), 'a Map, which JSON cannot represent; return Object.fromEntries(map)'],
  [new Set([1]), 'a Set, which JSON cannot represent; return [...set]'],
  [new RangeError('x'), 'a RangeError, which JSON cannot represent; throw it, or return its message'],
  [Object.assign(new Error('x'), { code: 'E' }), 'an Error, which JSON cannot represent'],
  [new Row(), 'a Row, which JSON cannot represent; return an object with the fields that the client needs'],
  [new Uint8Array(2), 'a Uint8Array, which JSON cannot represent; return image(bytes, type), audio(bytes, type), or'],
  [Buffer.from('x'), 'a Buffer, which JSON cannot represent; return image(bytes, type)'],
])('%o is lost', (value, message) => {
  expect(lostValue(value)?.message).toContain(`The tool returned ${message}`);
});

test.each([
  [{}],
  [[]],
  [null],
  [5],
  [Object.create(null)],
  [new Date(0)],
  [new URL('https://example.com')],
  [Object.assign(new Row(), { name: 'Ada' })],
])('%o is not lost', (value) => {
  expect(lostValue(value)).toBeUndefined();
});

test('what is lost within a value is named', () => {
  expect(lostPart({ user: Promise.resolve(1) })).toBe(
    'a Promise in "user", which JSON cannot represent; write "await" before it',
  );
  expect(lostPart({ ok: false, error: new Error('x') })).toContain('an Error in "error"');
  expect(lostPart({ a: [{}, new Map()] })).toContain('a Map in "a[1]"');
  expect(lostPart({ a: {}, b: [], c: new Date(0), d: null })).toBeUndefined();
});
