// Validators that are loaded with their first value.
import { expect, test, vi } from 'vitest';
import { compileSchema, SchemaError } from './index.ts';
import { LazyValidator } from './lazy-validator.ts';

const options = { direction: 'input', where: 'test' } as const;

test('the first values wait for what validates them, later ones and later schemas do not', async () => {
  vi.resetModules(); // Another test of this file may have loaded the validators.
  const { compileSchema } = await import('./index.ts');
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

test('a schema that cannot be used is rejected before anything is validated', () => {
  expect(() => compileSchema({ type: 'object', properties: { a: { type: 'strng' } } }, options)).toThrow(SchemaError);
});

test('a schema that was changed to say what is only validated by a library lets nothing pass', async () => {
  const schema: Record<string, unknown> = { type: 'object', properties: { a: { type: 'string' } } };
  const { validator } = compileSchema(schema, options);
  schema['unevaluatedProperties'] = false;
  for (const value of [{}, { b: 1 }]) {
    await expect((async () => validator.validate(value))()).rejects.toThrow('test: the schema was changed');
  }
});

test('what could not be loaded for one value is tried again for the next', async () => {
  let tries = 0;
  const validator = new LazyValidator(async () => {
    if (++tries === 1) throw new Error('no such file');
    return compileSchema({ type: 'object' }, options).validator;
  });
  await expect(validator.validate({})).rejects.toThrow('no such file');
  expect(await validator.validate({})).toEqual({ ok: true, value: {} });
  await validator.validate({});
  expect(tries).toBe(2);
});
