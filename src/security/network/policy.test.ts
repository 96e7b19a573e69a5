import { expect, test } from 'vitest';
import { parseAddress } from '../../common/ip-address.ts';
import { compilePolicy, type NetworkPolicy } from './policy.ts';
import { publicHosts } from './testing/addresses.ts';

/** The result of a policy for a URL whose host resolves to `address`. */
function decide(policy: NetworkPolicy, target: string, address?: string): string {
  const url = new URL(target);
  try {
    const check = compilePolicy(policy);
    check.url(url);
    return check.address(url, parseAddress(address ?? url.hostname)!);
  } catch (error) {
    return (error as { code: string }).code;
  }
}
const rejected = 'NETWORK_FORBIDDEN';

test('public addresses are allowed by default', () => {
  for (const host of publicHosts) expect(decide({}, `http://${host}/`), host).toBe('public');
});

test('a block, an address or a name allows addresses that are not public', () => {
  expect(decide({ allow: ['10.0.0.0/8'] }, 'http://a.test/', '10.1.2.3')).toBe('allowed');
  expect(decide({ allow: ['10.0.0.0/8'] }, 'http://a.test/', '192.168.0.1')).toBe(rejected);
  expect(decide({ allow: ['::1'] }, 'http://[::1]/')).toBe('allowed');
  expect(decide({ allow: ['127.0.0.1'] }, 'http://127.0.0.2/')).toBe(rejected);
  expect(decide({ allow: ['searx.internal'] }, 'http://searx.internal/', '10.0.0.9')).toBe('allowed');
  expect(decide({ allow: ['searx.internal'] }, 'http://SEARX.internal./', '10.0.0.9')).toBe('allowed');
  expect(decide({ allow: ['*.internal'] }, 'http://searx.internal/', '10.0.0.9')).toBe('allowed');
  expect(decide({ allow: ['*.internal'] }, 'http://internal/', '10.0.0.9')).toBe(rejected);
  expect(decide({ allow: ['bücher.test'] }, 'http://xn--bcher-kva.test/', '10.0.0.9')).toBe('allowed');
});

test('a rule with a port allows only that port', () => {
  expect(decide({ allow: ['localhost:8888'] }, 'http://localhost:8888/', '127.0.0.1')).toBe('allowed');
  expect(decide({ allow: ['localhost:8888'] }, 'http://localhost:8889/', '127.0.0.1')).toBe(rejected);
  expect(decide({ allow: ['127.0.0.1:8888'] }, 'http://127.0.0.1:8888/')).toBe('allowed');
  expect(decide({ allow: ['127.0.0.1:8888'] }, 'http://127.0.0.1/')).toBe(rejected);
  expect(decide({ allow: ['[::1]:8888'] }, 'http://[::1]:8888/')).toBe('allowed');
  expect(decide({ allow: ['localhost:80'] }, 'http://localhost/', '127.0.0.1')).toBe('allowed');
});

test('an IPv4 rule covers the mapped form that the system connects to, not the translated ones', () => {
  expect(decide({ allow: ['127.0.0.1'] }, 'http://[::ffff:127.0.0.1]/')).toBe('allowed');
  expect(decide({ allow: ['127.0.0.1'] }, 'http://[64:ff9b::127.0.0.1]/')).toBe(rejected);
  expect(decide({ allow: ['127.0.0.1'] }, 'http://[2002:7f00:1::]/')).toBe(rejected);
});

test('a metadata address is allowed only by its full address', () => {
  const url = 'http://169.254.169.254/';
  expect(decide({ allow: ['169.254.0.0/16'] }, url)).toBe(rejected);
  expect(decide({ allow: ['0.0.0.0/0'] }, url)).toBe(rejected);
  expect(decide({ allow: ['metadata.internal'] }, 'http://metadata.internal/', '169.254.169.254')).toBe(rejected);
  expect(decide({ allow: ['169.254.169.254'] }, url)).toBe('allowed');
});

test('deny overrides public, allow and other forms of an address', () => {
  expect(decide({ deny: ['8.8.8.0/24'] }, 'http://8.8.8.8/')).toBe(rejected);
  expect(decide({ deny: ['8.8.8.8'] }, 'http://[::ffff:8.8.8.8]/')).toBe(rejected);
  expect(decide({ deny: ['8.8.8.8'] }, 'http://[64:ff9b::808:808]/')).toBe(rejected);
  expect(decide({ allow: ['10.0.0.0/8'], deny: ['10.0.0.1'] }, 'http://10.0.0.1/')).toBe(rejected);
  expect(decide({ allow: ['a.test'], deny: ['a.test'] }, 'http://a.test/', '10.0.0.1')).toBe(rejected);
  expect(decide({ deny: ['*.evil.test'] }, 'http://x.y.evil.test./', '8.8.8.8')).toBe(rejected);
  expect(decide({ deny: ['*.evil.test'] }, 'http://notevil.test/', '8.8.8.8')).toBe('public');
});

test('a list of hosts allows those hosts and no look-alikes', () => {
  const policy = { hosts: ['example.org', '*.wiki.test'] };
  for (const host of ['example.org', 'EXAMPLE.org.', 'en.wiki.test', 'a.b.wiki.test']) {
    expect(decide(policy, `http://${host}/`, '8.8.8.8'), host).toBe('public');
  }
  const lookAlikes = [
    'example.org.evil.test',
    'evil-example.org',
    'examplexorg',
    'sub.example.org',
    'example.com',
    'еxample.org',
    'wiki.test',
    'evilwiki.test',
    'wiki.test.evil.test',
    '8.8.8.8',
    '[2606:4700:4700::1111]',
    'example.org%2eevil.test',
    'example',
    'exаmple.org',
    'example.org-evil.test',
  ];
  for (const host of lookAlikes) expect(decide(policy, `http://${host}/`, '8.8.8.8'), host).toBe(rejected);
});

test('ports and plain HTTP can be denied', () => {
  expect(decide({ ports: [443] }, 'https://a.test/', '8.8.8.8')).toBe('public');
  expect(decide({ ports: [443] }, 'https://a.test:8443/', '8.8.8.8')).toBe(rejected);
  expect(decide({ ports: [443] }, 'http://a.test/', '8.8.8.8')).toBe(rejected);
  expect(decide({ httpsOnly: true }, 'http://a.test/', '8.8.8.8')).toBe(rejected);
  expect(decide({ httpsOnly: true }, 'https://a.test/', '8.8.8.8')).toBe('public');
});

test.each([
  '',
  'http://a.test/',
  '10.0.0.0/99',
  'a b',
  'user@host',
  '*',
  'a.*',
  '*.*.test',
  'host:0',
  'host:99999',
  'a/b',
])('the rule %j is rejected when the policy is compiled', (rule) => {
  for (const list of ['allow', 'deny', 'hosts'] as const) {
    expect(() => compilePolicy({ [list]: [rule] })).toThrow(expect.objectContaining({ code: 'NETWORK_BAD_POLICY' }));
  }
});

test('the error for another scheme names the URL if it has no host', () => {
  const { url } = compilePolicy({});
  expect(() => url(new URL('file:///etc/passwd'))).toThrow(
    'Connection to file:///etc/passwd is not allowed: file is not an allowed scheme',
  );
});
