import { expect, test } from 'vitest';
import { defaultHttpLimits, resolveHttpLimits } from './limits.ts';

test('an absent value does not remove a limit', () => {
  expect(resolveHttpLimits()).toEqual(defaultHttpLimits);
  expect(resolveHttpLimits({ maxBodyBytes: undefined })).toEqual(defaultHttpLimits);
  expect(resolveHttpLimits({ maxBodyBytes: 5 }).maxBodyBytes).toBe(5);
});

test('an unknown or invalid limit is rejected', () => {
  for (const wrong of [0, -1, Number.NaN, '5', null]) {
    expect(() => resolveHttpLimits({ maxBodyBytes: wrong as number })).toThrow(/maxBodyBytes/);
  }
  expect(() => resolveHttpLimits({ maxBodies: 5 } as object)).toThrow(/maxBodies/);
});
