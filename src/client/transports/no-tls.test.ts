import { expect, test } from 'vitest';
import { isNoTls, noTls } from './no-tls.ts';

test('an error of OpenSSL is recognized, also as a cause', () => {
  const error = new Error(
    'write EPROTO 80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../x.c:350:',
  );
  expect(isNoTls(error)).toBe(true);
  expect(isNoTls(new TypeError('fetch failed', { cause: error }))).toBe(true);
  expect(isNoTls(new Error('connect ECONNREFUSED'))).toBe(false);
  expect(isNoTls(undefined)).toBe(false);
});

test('the reason names the address without TLS', () => {
  expect(noTls(new URL('https://localhost:8000/mcp'))).toContain('connect to http://localhost:8000/mcp');
  expect(noTls(new URL('wss://localhost:8000/mcp'))).toContain('connect to ws://localhost:8000/mcp');
});
