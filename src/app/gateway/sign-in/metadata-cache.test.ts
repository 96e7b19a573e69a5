import { afterEach, expect, test, vi } from 'vitest';
import { metadataMs, rememberingDocuments } from './metadata-cache.ts';

afterEach(() => {
  vi.useRealTimers();
});

const url = 'https://login.example.com/.well-known/oauth-authorization-server';

/** Responds with these, one after the other; the last one is repeated. */
function responding(...responses: (() => Response)[]) {
  const fetch = vi.fn(async (_url: string, _init: RequestInit) => {
    const next = responses.length > 1 ? responses.shift() : responses[0];
    return (next as () => Response)();
  });
  return { fetch, cached: rememberingDocuments(fetch) };
}

test('a document is requested once, also by several at the same time, and again after a while', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { fetch, cached } = responding(() => new Response('{"issuer":"x"}', { headers: { 'x-a': 'b' } }));
  const all = await Promise.all([cached(url, {}), cached(url, {})]);
  all.push(await cached(url, { method: 'GET' }));
  for (const each of all) {
    expect([each.status, each.headers.get('x-a'), await each.text()]).toEqual([200, 'b', '{"issuer":"x"}']);
  }
  expect(fetch).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(metadataMs);
  await cached(url, {});
  expect(fetch).toHaveBeenCalledTimes(2);
});

test('that a document does not exist is known, too; a failure is not kept', async () => {
  const { fetch, cached } = responding(
    () => new Response('later', { status: 503 }),
    () => {
      throw new Error('no connection');
    },
    () => new Response(null, { status: 404 }),
  );
  expect((await cached(url, {})).status).toBe(503);
  await expect(cached(url, {})).rejects.toThrow('no connection');
  expect([(await cached(url, {})).status, (await cached(url, {})).status]).toEqual([404, 404]);
  expect(fetch).toHaveBeenCalledTimes(3);
});

test('requests that send something are not answered from memory', async () => {
  const { fetch, cached } = responding(() => new Response('{}'));
  for (let n = 0; n < 2; n++) await cached(url, { method: 'POST' });
  expect(fetch).toHaveBeenCalledTimes(2);
});

test('neither many documents nor a large one fill the memory', async () => {
  const { fetch, cached } = responding(() => new Response('{}'));
  for (let n = 0; n < 21; n++) await cached(`${url}/${n}`, {});
  await cached(`${url}/20`, {});
  expect(fetch).toHaveBeenCalledTimes(21);
  await cached(`${url}/0`, {});
  expect(fetch).toHaveBeenCalledTimes(22);
  const large = responding(() => new Response('x'.repeat(300_000)));
  await expect(large.cached(url, {})).rejects.toThrow('exceeds');
});
