import { expect, test } from 'vitest';
import { isProxyRange, TrustedProxies } from './trusted-proxies.ts';

const proxies = new TrustedProxies(['loopback', '10.0.0.0/8', '2001:db8:1::/48', '192.0.2.80']);

test.each([
  ['no header', undefined, '127.0.0.1'],
  ['an empty header', '', '127.0.0.1'],
  ['one client', '203.0.113.9', '203.0.113.9'],
  ['addresses that the client sent itself', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['a chain of proxies', '203.0.113.9, 192.0.2.80, 10.1.2.3', '203.0.113.9'],
  ['a chain, and a trusted address that the client sent', '10.9.9.9, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['only trusted addresses', '10.9.9.9, 10.1.2.3', '10.9.9.9'],
  ['an entry that is not an address', '203.0.113.9, unknown', '127.0.0.1'],
  ['such an entry left of a proxy', '203.0.113.9, _hidden, 10.1.2.3', '10.1.2.3'],
  ['such an entry left of the client', 'unknown, 203.0.113.9', '203.0.113.9'],
  ['an empty entry', '203.0.113.9,', '127.0.0.1'],
  ['a number that URLs take for an address', '203.0.113.9, 3405803785', '127.0.0.1'],
  ['an octal number', '0313.0.113.9', '127.0.0.1'],
  ['a number that is too large', '203.0.113.256', '127.0.0.1'],
  ['no spaces', '203.0.113.9,10.1.2.3', '203.0.113.9'],
  ['IPv6', '2001:DB8:0:0::9, 2001:db8:1::80', '2001:db8::9'],
  ['an IPv4-mapped client', '::ffff:203.0.113.9', '203.0.113.9'],
  ['an IPv4-mapped proxy', '203.0.113.9, ::ffff:10.1.2.3', '203.0.113.9'],
  ['ports', '203.0.113.9:4711, [2001:db8:1::80]:443', '203.0.113.9'],
  ['brackets', '[2001:db8::9]', '2001:db8::9'],
])('%s: the client is the right-most address that is not a trusted proxy', (_what, header, client) => {
  expect(proxies.clientOf('127.0.0.1', header)).toBe(client);
});

test.each([
  ['127.0.0.1', true],
  ['127.8.8.8', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::ffff:10.2.3.4', true],
  ['2001:db8:1:2::3', true],
  ['192.0.2.80', true],
  ['192.0.2.81', false],
  ['11.0.0.1', false],
  ['2001:db8:2::1', false],
  [undefined, false],
])('whether %s is trusted: %s', (address, trusted) => {
  expect(proxies.includes(address)).toBe(trusted);
});

test('a range of IPv4-mapped addresses is that of the IPv4 addresses', () => {
  const mapped = new TrustedProxies(['::ffff:10.0.0.0/104']);
  expect(['10.1.2.3', '::ffff:10.1.2.3', '11.0.0.1'].map((each) => mapped.includes(each))).toEqual([true, true, false]);
});

test.each(['loopback', '10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '[::1]', 'fd00::/8', 'fe80::1%eth0'])(
  '%s can be listed',
  (text) => {
    expect(isProxyRange(text)).toBe(true);
  },
);

test.each([
  '',
  '10',
  '10/8',
  '010.0.0.1',
  '10.0.0.0/33',
  '10.0.0.0/',
  'fd00::/129',
  'proxy.example',
  '10.0.0.1:80',
  '*',
])('%j cannot be listed', (text) => {
  expect(isProxyRange(text)).toBe(false);
});
