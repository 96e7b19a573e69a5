// Requests that involve public addresses, which tests must not really contact: sending is faked, and the fake records
// the targets.

import { Readable } from 'node:stream';
import { beforeEach, expect, test, vi } from 'vitest';
import { createFetcher, type FetcherOptions, type NetworkError } from './fetcher.ts';
import type { Hop } from './hop.ts';
import { publicHosts } from './testing/addresses.ts';

const hops: Hop[] = [];
let redirects: Record<string, string> = {};

vi.mock('./hop.ts', () => ({
  sendHop: async (hop: Hop) => {
    hops.push(hop);
    const location = redirects[hop.url.hostname];
    const headers = location === undefined ? {} : { location };
    return Object.assign(Readable.from([Buffer.from('ok')]), {
      statusCode: location === undefined ? 200 : 302,
      headers,
      rawHeaders: Object.entries(headers).flat(),
    });
  },
}));

beforeEach(() => {
  hops.length = 0;
  redirects = {};
});

const names: Record<string, readonly string[]> = {
  'web.test': ['8.8.8.8', '2606:4700:4700::1111'],
  'other.test': ['1.1.1.1'],
  'inner.test': ['10.0.0.5'],
  'second.test': ['10.0.0.6'],
};
const open = (options: FetcherOptions = {}) =>
  createFetcher({ resolver: async (name) => names[name] ?? [], allow: ['10.0.0.0/24'], ...options });

test('every public host of the table is sent to exactly that address', async () => {
  for (const host of publicHosts) await (await open().fetch(`http://${host}/`)).bytes();
  expect(hops.map((hop) => hop.addresses)).toEqual(
    publicHosts.map((host) => [new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '')]),
  );
});

test('a name is sent to all of its checked addresses and no others', async () => {
  expect(await (await open().fetch('https://web.test/')).text()).toBe('ok');
  expect(hops.map(({ addresses }) => addresses)).toEqual([['8.8.8.8', '2606:4700:4700::1111']]);
});

test('a public server may not redirect to an address that was allowed for another purpose', async () => {
  redirects = { 'web.test': 'http://inner.test/admin' };
  await expect(open().fetch('http://web.test/')).rejects.toMatchObject({ code: 'NETWORK_FORBIDDEN' } as NetworkError);
  expect(hops).toHaveLength(1);
});

test('not even through another public server', async () => {
  redirects = { 'web.test': 'http://other.test/', 'other.test': 'http://10.0.0.5/admin' };
  await expect(open().fetch('http://web.test/')).rejects.toMatchObject({ code: 'NETWORK_FORBIDDEN' } as NetworkError);
  expect(hops).toHaveLength(2);
});

test('an allowed address may redirect to another allowed address and to public ones', async () => {
  redirects = { 'inner.test': 'http://second.test/', 'second.test': 'http://web.test/' };
  const response = await open().fetch('http://inner.test/');
  expect(response.url).toBe('http://web.test/');
  expect(hops.map((hop) => hop.url.hostname)).toEqual(['inner.test', 'second.test', 'web.test']);
});

test('a name with a public and an allowed address counts as allowed', async () => {
  redirects = { 'web.test': 'http://mixed.test/' };
  const resolver = async (name: string) => (name === 'mixed.test' ? ['8.8.8.8', '10.0.0.5'] : names[name]!);
  await expect(open({ resolver }).fetch('http://web.test/')).rejects.toMatchObject({ code: 'NETWORK_FORBIDDEN' });
});
