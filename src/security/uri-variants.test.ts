import { expect, test } from 'vitest';
import { variantsOf } from './uri-variants.ts';

test.each(['note://1', 'file:///srv/data/a.txt', 'server://counter', 'https://example.org/a/b', 'urn:uuid:123'])(
  '%s has one variant',
  (uri) => {
    expect(variantsOf(uri)).toEqual([uri]);
  },
);

test.each([
  ['file:///srv/../etc/passwd', 'file:///etc/passwd'],
  ['file:///srv/%2e%2e/etc/passwd', 'file:///etc/passwd'],
  ['file:///srv/%252e%252e/etc/passwd', 'file:///etc/passwd'],
  ['file:///%65tc/passwd', 'file:///etc/passwd'],
  ['file:///srv/..%2fetc/passwd', 'file:///etc/passwd'],
  ['file:////etc//passwd', 'file:///etc/passwd'],
  ['file:///srv/./../etc/passwd', 'file:///etc/passwd'],
  ['file:///srv\\..\\etc\\passwd', 'file:///etc/passwd'],
  ['FILE:///etc/passwd', 'file:///etc/passwd'],
  ['file:///etc/passwd?x=1', 'file:///etc/passwd'],
  ['file:///etc/passwd#x', 'file:///etc/passwd'],
  ['note://A/../../secret', 'note://a/secret'],
  ['file:///caf\u0065\u0301', 'file:///caf\u00e9'],
])('%s may be understood as %s', (uri, other) => {
  expect(variantsOf(uri)).toContain(other);
  expect(variantsOf(uri)[0]).toBe(uri);
});

test('what is not a URI, or not UTF-8, is not changed', () => {
  expect(variantsOf('no uri at all')).toEqual(['no uri at all']);
  expect(variantsOf('x:%ff%zz')).toContain('x:%ff%zz');
});

test('a megabyte of dot segments is normalized in one pass', () => {
  expect(variantsOf(`file:///${'../'.repeat(300_000)}etc`)).toContain('file:///etc');
  expect(variantsOf(`file:///${'%25'.repeat(300_000)}`).length).toBeLessThan(10);
});
