import { afterEach, expect, test, vi } from 'vitest';
import { principalKey } from '../../engine/ports.ts';
import { type Principal, tokenIssuer } from '../../security/auth/index.ts';
import { CallerTokens } from './caller-tokens.ts';

afterEach(() => {
  vi.useRealTimers();
});

const keyOf = (id: string): string => `\u0000${id}`;

/** Sends requests with this token; the caller is named by what is before the dot. */
function sending(tokens: CallerTokens, more: Partial<Principal> = {}) {
  const authenticate = tokens.remembering((request) => {
    const [, id = ''] = /^Bearer (\w+)/.exec(request.get('authorization') ?? '') ?? [];
    return id === 'stranger' ? { status: 401 } : { id, ...more };
  });
  const about = { method: 'POST', path: '/mcp', address: '127.0.0.1' };
  return (token: string) =>
    authenticate({ ...about, get: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined) });
}

test('the token of the last request of a caller is known, and none of a request that was rejected', () => {
  const tokens = new CallerTokens(() => true);
  const send = sending(tokens);
  for (const token of ['alice.1', 'bob.1', 'alice.2', 'stranger.1']) send(token);
  expect(['alice', 'bob', 'stranger'].map((id) => tokens.of(keyOf(id)))).toEqual(['alice.2', 'bob.1', undefined]);
});

test('a token is not used after it has expired', () => {
  vi.useFakeTimers({ now: 1_000 });
  const tokens = new CallerTokens(() => true);
  sending(tokens, { expiresAtMs: 2_000 })('alice.1');
  expect(tokens.of(keyOf('alice'))).toBe('alice.1');
  vi.setSystemTime(2_000);
  expect(tokens.of(keyOf('alice'))).toBeUndefined();
});

test('tokens of "mooring token" are not remembered: no authorization server gets them', () => {
  const tokens = new CallerTokens(() => true);
  sending(tokens, { issuer: tokenIssuer })('alice.1');
  expect(tokens.of(principalKey({ id: 'alice', issuer: tokenIssuer }))).toBeUndefined();
});

test('nothing is remembered where no server needs it', async () => {
  let isNeeded = false;
  const tokens = new CallerTokens(() => isNeeded);
  const send = sending(tokens);
  send('alice.1');
  expect(tokens.of(keyOf('alice'))).toBeUndefined();
  isNeeded = true;
  send('alice.2');
  expect(tokens.of(keyOf('alice'))).toBe('alice.2');
});

test('many callers, or long tokens, do not fill the memory: those that sent nothing for longest are forgotten', () => {
  const tokens = new CallerTokens(() => true);
  const send = sending(tokens);
  for (let n = 0; n < 10_001; n++) send(`user${n}.1`);
  expect([tokens.of(keyOf('user0')), tokens.of(keyOf('user1'))]).toEqual([undefined, 'user1.1']);
  const long = 'x'.repeat(8_000);
  for (let n = 0; n < 2_500; n++) send(`long${n}.${long}`);
  expect([tokens.of(keyOf('long0')), tokens.of(keyOf('user10000'))]).toEqual([undefined, undefined]);
  expect(tokens.of(keyOf('long2499'))).toBe(`long2499.${long}`);
});
