// Without judging.ts: what a server does that has not been called yet.
import { expect, test } from 'vitest';
import { compileSchema, SchemaError } from './index.ts';

const options = { direction: 'input', where: 'test' } as const;

test('the first values wait for what judges them, later ones and later schemas do not', async () => {
  const { validator } = compileSchema({ type: 'object', required: ['a'] }, options);
  expect(validator.check).toBeUndefined();
  const first = [validator.validate({ a: 1 }), validator.validate({})];
  expect(first[0]).toBeInstanceOf(Promise);
  const wrong = { ok: false, issues: [{ path: ['a'], message: 'is required' }] };
  expect(await Promise.all(first)).toEqual([{ ok: true, value: { a: 1 } }, wrong]);
  expect(validator.validate({})).toEqual(wrong);
  expect(validator.check?.({})).toEqual(wrong.issues);
  expect(compileSchema({ type: 'object', required: ['a'] }, options).validator.validate({})).toEqual(wrong);
});

test('a schema that can not be used is refused before anything is judged', () => {
  expect(() => compileSchema({ type: 'object', properties: { a: { type: 'strng' } } }, options)).toThrow(SchemaError);
});
