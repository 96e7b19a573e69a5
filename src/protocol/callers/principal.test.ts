import { expect, test } from 'vitest';
import { type Principal, principalKey, principalOfKey } from './principal.ts';

test.each<Principal | undefined>([
  undefined,
  { id: 'ada' },
  { id: 'ada', issuer: 'https://issuer.example' },
  { id: 'a\u0000b', issuer: 'https://issuer.example' },
  { id: '' },
])('the principal of the key of %j has the same key', (principal) => {
  const key = principalKey(principal);
  expect(principalKey(principalOfKey(key))).toBe(key);
});
