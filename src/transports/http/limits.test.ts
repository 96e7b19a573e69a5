import { expect, test } from 'vitest';
import { defaultHttpLimits, settleLimits } from './limits.ts';

test('what is absent does not lift a limit', () => {
  expect(settleLimits()).toEqual(defaultHttpLimits);
  expect(settleLimits({ maxBodyBytes: undefined })).toEqual(defaultHttpLimits);
  expect(settleLimits({ maxBodyBytes: 5 }).maxBodyBytes).toBe(5);
});

test('what is no limit is refused', () => {
  for (const wrong of [0, -1, Number.NaN, '5', null]) {
    expect(() => settleLimits({ maxBodyBytes: wrong as number })).toThrow(/maxBodyBytes/);
  }
  expect(() => settleLimits({ maxBodies: 5 } as object)).toThrow(/maxBodies/);
});
