import { afterEach, expect, test, vi } from 'vitest';
import type { Principal } from './contract.ts';
import { TokenCache } from './token-cache.ts';

afterEach(() => void vi.useRealTimers());

/** Looks up tokens with these claims, and counts how often. */
function cacheOf(claims: Principal['claims']) {
  const cache = new TokenCache(60_000);
  let lookups = 0;
  const find = async (): Promise<Principal> => {
    lookups++;
    return { id: 'alice', issuer: 'https://id.example', claims: claims as NonNullable<Principal['claims']> };
  };
  return { get: (token: string) => cache.get(token, find), lookups: () => lookups };
}

test('long claims of many tokens do not fill the memory: the oldest are looked up again', async () => {
  const { get, lookups } = cacheOf({ groups: Array.from({ length: 10_000 }, () => []) });
  for (let n = 0; n < 200; n++) await get(`token-${n}`);
  expect(lookups()).toBe(200);
  await get('token-199');
  expect(lookups()).toBe(200);
  await get('token-0');
  expect(lookups()).toBe(201);
});

test('claims that are too long for the cache do not evict others, at any depth', async () => {
  let nested: unknown = 'end';
  for (let depth = 0; depth < 100_000; depth++) nested = [nested];
  const { get, lookups } = cacheOf({ nested } as never);
  await get('token');
  await get('token');
  expect(lookups()).toBe(2);
});

test('ordinary claims of ten thousand tokens fit', async () => {
  const { get, lookups } = cacheOf({ sub: 'alice', scope: 'mcp notes:read', aud: ['https://a.example'], exp: 1 });
  for (let n = 0; n < 10_000; n++) await get(`token-${n}`);
  await get('token-0');
  expect(lookups()).toBe(10_000);
});

test('a result is looked up again in time although the clock was set back', async () => {
  vi.useFakeTimers();
  const { get, lookups } = cacheOf({ sub: 'alice' });
  await get('token');
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  await get('token');
  expect(lookups()).toBe(2);
});
