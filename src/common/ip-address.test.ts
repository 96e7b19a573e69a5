import { expect, test } from 'vitest';
import { type Address, formatAddress, parseAddress, unmapAddress } from './ip-address.ts';

const parsed = (text: string): Address => parseAddress(text) as Address;

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['[2001:DB8:0:0:0:0:0:1]', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::', '::'],
  ['2001:db8:1:2:3:4:5:ff', '2001:db8:1:2:3:4:5:ff'],
])('the usual text of %s is %s', (text, usual) => {
  expect(formatAddress(parsed(text))).toBe(usual);
});

test.each([
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.1'],
  ['::192.0.2.1', '::c000:201'],
  ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
])('only an IPv4-mapped address is unmapped: %s is %s', (text, usual) => {
  expect(formatAddress(unmapAddress(parsed(text)))).toBe(usual);
});
