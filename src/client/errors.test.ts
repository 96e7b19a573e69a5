import { expect, test } from 'vitest';
import { clientErrors } from './errors.ts';

test.each([
  ['Resource not found: x://a', 'There is no resource "x://a"'],
  ['Resource not found', 'There is no resource "x://a"'],
  ['Resource not found: it was moved', 'There is no resource "x://a": Resource not found: it was moved'],
  ['gone since Monday', 'There is no resource "x://a": gone since Monday'],
])('a server that says %j is not repeated', (message, told) => {
  expect(clientErrors.resourceNotFound('x://a', { code: -32002, message }).message).toBe(told);
});
