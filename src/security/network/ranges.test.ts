import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contains, parseAddress, parseCidr } from '../../common/ip-address.ts';
import { classifyAddress } from './ranges.ts';
import { closedHosts, publicHosts } from './testing/addresses.ts';

/** The host after URL parsing, which is what the fetcher classifies. */
const normalised = (host: string) => new URL(`http://${host}/`).hostname;

test('the table contains at least 120 denied hosts', () => {
  expect(new Set(closedHosts.map(([host]) => host)).size).toBeGreaterThanOrEqual(120);
});

test.each(closedHosts)('%s is %s', (host, kind) => {
  expect(classifyAddress(normalised(host))?.kind).toBe(kind);
});

test.each(publicHosts)('%s is public', (host) => {
  expect(classifyAddress(normalised(host))?.kind).toBe('public');
});

test('forms that a URL parser would normalize are also classified without normalization', () => {
  const variants = [...closedHosts.map(([host]) => host), ...publicHosts].filter((host) => /^[\w.:[\]]+$/.test(host));
  for (const host of variants) {
    expect(classifyAddress(host)?.kind, host).toBe(classifyAddress(normalised(host))?.kind);
  }
});

test.each(['', '.', 'example.org', '1.2.3.4.5', '256.1.1.1', '1.2.3.256', '4294967296', '0x100000000', '08', '1..2'])(
  '%j is not an IPv4 address',
  (text) => {
    expect(parseAddress(text)).toBeUndefined();
  },
);

test.each([
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7::8',
  '12345::',
  'g::1',
  '::1.2.3',
  '::1.2.3.256',
  '1.2.3.4::',
  '::1.2.3.4:5',
  '::01.2.3.0004',
])('%j is not an IPv6 address', (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

test('a zone id does not hide an address', () => {
  expect(classifyAddress('fe80::1%eth0')?.kind).toBe('link-local');
  expect(classifyAddress('::1%25lo')?.kind).toBe('loopback');
});

test('every address is parsed to its bytes, compressed or not', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
      const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
      const full = groups.map((group) => group.toString(16)).join(':');
      expect(parseAddress(full)?.bytes).toEqual(bytes);
      expect(parseAddress(new URL(`http://[${full}]/`).hostname)?.bytes).toEqual(bytes);
      expect(parseAddress(bytes.slice(0, 4).join('.'))?.bytes).toEqual(bytes.slice(0, 4));
      const embedded = `${full.split(':').slice(0, 6).join(':')}:${bytes.slice(12).join('.')}`;
      expect(parseAddress(embedded)?.bytes).toEqual(bytes);
    }),
    { numRuns: 1000 },
  );
});

test('every address that Node accepts is parsed', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      expect(isIPv4(text) || isIPv6(text)).toBe(true);
      expect(parseAddress(text)?.family).toBe(text.includes(':') ? 6 : 4);
    }),
    { numRuns: 1000 },
  );
});

test('a block contains its first and last address and none outside', () => {
  const block = parseCidr('172.16.0.0/12')!;
  const holds = (text: string) => contains(block, parseAddress(text)!);
  expect(['172.16.0.0', '172.31.255.255', '172.20.1.2'].every(holds)).toBe(true);
  expect(['172.15.255.255', '172.32.0.0', '::ffff:172.16.0.1'].some(holds)).toBe(false);
  expect(contains(parseCidr('0.0.0.0/0')!, parseAddress('8.8.8.8')!)).toBe(true);
});

test.each(['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'x/8', '/8'])(
  '%j is not a block',
  (text) => {
    expect(parseCidr(text)).toBeUndefined();
  },
);
