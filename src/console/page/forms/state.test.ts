import { expect, test } from 'vitest';
import { compileEagerly } from '../../../schema/eager.ts';
import { corpus } from './corpus.fixture.ts';
import { FieldReader } from './field.ts';
import { type ExactJson, equalJson, formatJson, parseJson } from './json-text.ts';
import type { Schema } from './merge.ts';
import { emptyObject, type FieldState, startState, stateOf, valueFrom } from './state.ts';

const readingOf = (schema: Schema) => ({ reader: new FieldReader(schema), parse: parseJson });

/** The value after it went through the form. */
function throughForm(schema: Schema, text: string): ExactJson {
  const reading = readingOf(schema);
  return valueFrom(schema, stateOf(schema, parseJson(text), reading), true, reading) as ExactJson;
}

const valueIn = (schema: Schema, state: FieldState): string => {
  const value = valueFrom(schema, state, true, readingOf(schema));
  return value === undefined ? 'nothing' : formatJson(value);
};

test('the corpus has at least 40 schemas', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(40);
  expect(new Set(corpus.map(({ name }) => name)).size).toBe(corpus.length);
});

test.each(corpus.map((sample) => [sample.name, sample] as const))(
  '%s: values pass through the form unchanged',
  async (_, sample) => {
    const { validator } = compileEagerly(sample.schema, { direction: 'input', root: 'any', where: 'test' });
    for (const text of [...sample.valid, ...sample.invalid]) {
      const after = throughForm(sample.schema, text);
      expect(equalJson(after, parseJson(text)), `${text} became ${formatJson(after)}`).toBe(true);
      const validation = await validator.validate(JSON.parse(formatJson(after)));
      expect(validation.ok, `${text} is ${sample.valid.includes(text) ? '' : 'not '}valid`).toBe(
        sample.valid.includes(text),
      );
    }
  },
);

const withForm = (sample: (typeof corpus)[number]): boolean =>
  sample.name !== 'anything but' && !sample.name.startsWith('if');

test.each(corpus.filter(withForm).map((sample) => [sample.name, sample] as const))(
  '%s: what is valid is shown in fields, not as JSON',
  (_, sample) => {
    for (const text of sample.valid) {
      const state = stateOf(sample.schema, parseJson(text), readingOf(sample.schema));
      expect(state?.kind).not.toBe('json');
    }
  },
);

test('the further items of a tuple have fields under either keyword', () => {
  for (const keyword of ['items', 'unevaluatedItems']) {
    const schema = { type: 'array', prefixItems: [{ type: 'string' }], [keyword]: { type: 'integer' } };
    const state = stateOf(schema, parseJson('["a",1]'), readingOf(schema));
    expect(state).toMatchObject({ items: [{ state: { kind: 'text' } }, { state: { kind: 'number', text: '1' } }] });
  }
});

test('an empty form sends only what it shows: no defaults, no optional parts', () => {
  const schema = {
    type: 'object',
    properties: {
      text: { type: 'string', default: 'x' },
      flag: { type: 'boolean', default: true },
      list: { type: 'array', items: {} },
      part: { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] },
      choice: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    },
  };
  expect(valueIn(schema, undefined)).toBe('{}');
});

test('what is required and has one possible meaning is sent without input', () => {
  const schema = {
    type: 'object',
    properties: {
      kind: { const: 'a' },
      flag: { type: 'boolean' },
      list: { type: 'array', items: {} },
      part: { type: 'object', properties: { b: { type: 'string' } } },
      text: { type: 'string' },
    },
    required: ['kind', 'flag', 'list', 'part', 'text'],
  };
  expect(valueIn(schema, undefined)).toBe('{"kind":"a","flag":false,"list":[],"part":{}}');
});

test('an optional object is sent once something in it is entered', () => {
  const part = { type: 'object', properties: { kind: { const: 'a' }, n: { type: 'integer' } }, required: ['kind'] };
  const schema = { type: 'object', properties: { part } };
  const entered: FieldState = {
    kind: 'object',
    fields: new Map([['n', { kind: 'number', text: '3' }]]),
    entries: [],
    opened: false,
  };
  const whole: FieldState = { kind: 'object', fields: new Map([['part', entered]]), entries: [], opened: false };
  expect(valueIn(schema, whole)).toBe('{"part":{"kind":"a","n":3}}');
});

test('a number that is not finished is sent as it is, so that the validator says what is wrong', () => {
  expect(valueIn({ type: 'number' }, { kind: 'number', text: '1.' })).toBe('"1."');
  expect(valueIn({ type: 'integer' }, { kind: 'number', text: '9007199254740993' })).toBe('9007199254740993');
});

test('a schema that requires itself has an end', () => {
  const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
  expect(valueIn(schema, emptyObject)).toMatch(/^\{"next":\{/);
});

test('a recursive schema meets its own field again, so that a form can stop there', () => {
  const node = { type: 'object', properties: { child: { $ref: '#/$defs/node' } } };
  const schema = { type: 'object', properties: { tree: { $ref: '#/$defs/node' } }, $defs: { node } };
  const reader = new FieldReader(schema);
  expect(reader.read({ $ref: '#/$defs/node' })).toBe(reader.read(node.properties.child));
});

test('a circle of references is edited as JSON', () => {
  const schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  expect(new FieldReader(schema).read(schema).kind).toBe('json');
});

test('a new branch starts with its constant', () => {
  const branch = { type: 'object', properties: { kind: { const: 'a' }, n: { type: 'integer' } }, required: ['kind'] };
  const schema = { oneOf: [branch, { type: 'string' }] };
  const state: FieldState = { kind: 'choice', index: 0, state: startState(branch, new FieldReader(schema)) };
  expect(valueIn(schema, state)).toBe('{"kind":"a"}');
});

test('branches are labelled by title or type, and by what differs where that is the same', () => {
  const schema = {
    $defs: { b: { type: 'object', title: 'B', properties: {} } },
    oneOf: [
      { type: 'string' },
      { $ref: '#/$defs/b' },
      { type: 'object', properties: { kind: { const: 'x' } } },
      { type: 'object', properties: { kind: { const: 'y' } } },
      { type: 'object', required: ['n'] },
    ],
  };
  const field = new FieldReader(schema).read(schema);
  expect(field.kind === 'choice' && field.branches.map(({ label }) => label)).toEqual([
    'string',
    'B',
    'object (kind: x)',
    'object (kind: y)',
    'object (n)',
  ]);
});

test('a value picks the branch that knows most of its keys', () => {
  const schema = {
    anyOf: [
      { type: 'object', properties: { a: {} } },
      { type: 'object', properties: { b: {}, c: {} } },
    ],
  };
  const state = stateOf(schema, parseJson('{"b":1,"c":2}'), readingOf(schema));
  expect(state).toMatchObject({ kind: 'choice', index: 1 });
});
