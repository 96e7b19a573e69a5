import { expect, test } from 'vitest';
import { applyDefaults } from './defaults.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'Ada' },
    age: { type: 'number' },
    tags: { type: 'array', default: ['new'] },
    nothing: { default: null },
    inner: { type: 'object', properties: { x: { default: 1 } } },
  },
};

test('missing properties get their default, present ones keep their value', () => {
  expect(applyDefaults(schema, { age: 5, tags: [] })).toEqual({ name: 'Ada', age: 5, tags: [], nothing: null });
  expect(applyDefaults(schema, { name: undefined })).toMatchObject({ name: 'Ada' });
  expect(applyDefaults(schema, { name: '', inner: {} })).toMatchObject({ name: '', inner: {} });
});

test('neither the value nor the schema is touched, now or later', () => {
  const value = {};
  const filled = applyDefaults(schema, value);
  (filled['tags'] as string[]).push('changed');
  expect(value).toEqual({});
  expect(schema.properties.tags.default).toEqual(['new']);
});

test('a default for __proto__ sets a property, not the prototype', () => {
  const filled = applyDefaults({ properties: JSON.parse('{"__proto__":{"default":{"admin":true}}}') }, {});
  expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
  expect(Object.keys(filled)).toEqual(['__proto__']);
  expect('admin' in filled).toBe(false);
});

test('a schema without properties has no defaults', () => {
  expect(applyDefaults({}, { a: 1 })).toEqual({ a: 1 });
  expect(applyDefaults({ properties: { a: true } }, {})).toEqual({});
});
