import { expect, test } from 'vitest';
import { convertAnswer, exampleAnswer } from './fields.ts';
import { signature, typeText } from './schema-summary.ts';

test.each([
  [{ type: 'string' }, 'x', { value: 'x' }],
  [{ type: 'string', minLength: 3 }, 'x', { problem: 'needs at least 3 characters' }],
  [{ type: 'string', format: 'email' }, 'ada', { problem: 'must be an email address' }],
  [{ type: 'string', format: 'date' }, '28.7.2026', { problem: 'must be a date such as 2026-01-31' }],
  [{ type: 'string', format: 'date' }, '2026-02-31', { problem: 'must be a date such as 2026-01-31' }],
  [{ type: 'string', format: 'date' }, '2026-02-28', { value: '2026-02-28' }],
  [
    { type: 'string', format: 'date-time' },
    '2026-02-28 9:00',
    { problem: 'must be a date and time such as 2026-01-31T09:30:00Z' },
  ],
  [{ type: 'string', format: 'date-time' }, '2026-02-28T09:00:00+01:00', { value: '2026-02-28T09:00:00+01:00' }],
  [{ type: 'integer' }, '1.5', { problem: 'must be a whole number' }],
  [{ type: 'number', minimum: 2 }, '1.5', { problem: 'must be at least 2' }],
  [{ type: 'number', maximum: 2 }, '1.5', { value: 1.5 }],
  [{ type: 'boolean' }, 'Y', { value: true }],
  [{ type: 'boolean' }, 'perhaps', { problem: 'must be y (yes) or n (no)' }],
  [{ enum: ['a', 'b'] }, '2', { value: 'b' }],
  [{ enum: ['a', 'b'] }, 'a', { value: 'a' }],
  [{ enum: ['a', 'b'] }, '3', { problem: 'must be one of a, b, or its number from 1 to 2' }],
  [{ oneOf: [{ const: 'x', title: 'Ex' }] }, 'Ex', { value: 'x' }],
  [{ type: 'array', items: { enum: ['a', 'b', 'c'] } }, '1, 3', { value: ['a', 'c'] }],
  [{ type: 'array', items: { enum: ['a'] }, minItems: 2 }, '1', { problem: 'needs at least 2 choices' }],
])('for %j the answer %j is %j', (field, words, outcome) => {
  expect(convertAnswer(field, words)).toEqual(outcome);
});

test.each([
  [{ type: 'boolean' }],
  [{ type: 'integer', minimum: 3 }],
  [{ type: 'integer', minimum: 2.5 }],
  [{ type: 'integer', maximum: -2.5 }],
  [{ type: 'number', maximum: -3 }],
  [{ enum: ['a', 'b'] }],
  [{ type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 3 }],
  [{ type: 'array', items: { enum: ['a', 'b', 'c'] }, maxItems: 1 }],
  [{ type: 'string', format: 'date-time' }],
  [{ type: 'string', format: 'email' }],
])('the example of %j is a valid answer', (field) => {
  expect(convertAnswer(field, exampleAnswer(field) ?? '')).not.toHaveProperty('problem');
});

test.each([
  [{ type: 'integer', minimum: 1 }, 'integer ≥ 1'],
  [{ type: 'number', minimum: 0, maximum: 1 }, 'number 0…1'],
  [{ type: 'array', items: { type: 'string' } }, 'string[]'],
  [{ enum: ['a', 'b', 'c', 'd', 'e', 'f'] }, '"a"|"b"|"c"|"d"|"e"|…'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string|null'],
  [{}, 'any'],
])('%j is summarised as %s', (schema, words) => {
  expect(typeText(schema)).toBe(words);
});

test('names from a server cannot send control sequences to the terminal', () => {
  expect(signature({ properties: { 'a\u001b[2Jb': { type: 'string' } }, required: [] })).not.toContain('\u001b');
});
