import { expect, test } from 'vitest';
import { authenticated } from './authentication.ts';

test('a caller and a denial are used as they are', () => {
  const caller = { id: 'ada', scopes: ['read'] };
  expect(authenticated(caller)).toBe(caller);
  const denied = { status: 403, message: 'Forbidden' };
  expect(authenticated(denied)).toBe(denied);
});

test.each([undefined, null, false])('%s is no caller', (result) => {
  expect(authenticated(result)).toEqual({ status: 401 });
});

test.each([
  [{ user: 'ada' }, 'returned an object without an id'],
  [{ id: undefined }, 'returned an object whose id is undefined'],
  [{ id: '' }, 'returned an object whose id is ""'],
  [{ id: 7 }, 'returned an object whose id is 7'],
  [{ id: 'ada', status: 'active' }, 'returned an object whose status is "active"'],
  ['ada', 'returned a string'],
  [true, 'returned a boolean'],
])('%j admits no caller, and the error says what to return', (result, said) => {
  expect(() => authenticated(result)).toThrow(`authenticate ${said}`);
  expect(() => authenticated(result)).toThrow(
    'return { id } for a caller, and undefined or { status: 401 } to reject the request',
  );
});
