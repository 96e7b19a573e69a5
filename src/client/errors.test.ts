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

test.each([
  [{ retryAfterMs: 1 }, undefined, '. Retry after 1 s'],
  [{}, { retryAfterMs: 30_000 }, '. Retry after 30 s'],
  [{ retryAfterMs: 600_000 }, { retryAfterMs: 1 }, '. Retry after 10 minutes'],
  [{ retryAfterMs: 90_000_000 }, undefined, '. Retry after 25 hours'],
  [{ retryAfterMs: 0 }, undefined, ''],
  [{}, { retryAfterMs: 'soon' }, ''],
])('an error says when to retry: %j, data %j', (http, data, told) => {
  const { message } = clientErrors.serverRejected('ping', { code: -32000, message: 'Too many', data }, http);
  expect(message).toBe(`The server rejected ping: Too many (-32000)${told}`);
  if (data === undefined)
    expect(clientErrors.http('x', 'y', http).message).toBe(`"x" rejected y: no reason given${told}`);
});
