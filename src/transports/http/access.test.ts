import { describe, expect, test } from 'vitest';
import { explainDenial, HostOriginCheck, hostsFrom, hostsOf, isLoopback, originsOf, rulesFrom } from './access.ts';
import type { HttpRequest } from './exchange.ts';

const at = (host: string, port: number, scheme: 'http' | 'https' = 'http') => ({ host, port, scheme });

const request = (headers: Record<string, string>): HttpRequest => ({
  method: 'POST',
  path: '/mcp',
  query: '',
  address: undefined,
  get: (name) => headers[name],
});

describe('an allowed name among look-alikes', () => {
  const access = new HostOriginCheck({
    hosts: hostsOf(at('127.0.0.1', 8000), ['mcp.example', 'other.example:8443', '[2001:db8::1]']),
    ownOrigins: originsOf(at('127.0.0.1', 8000)),
    corsOrigins: new Set(['https://app.example']),
  });

  test.each([
    ...['localhost:8000', 'LocalHost:8000', '127.0.0.1:8000', '[::1]:8000'],
    ...['mcp.example', 'MCP.example', 'mcp.example:80', 'MCP.example:443', 'mcp.example:8000', 'mcp.example:65535'],
    ...['other.example:8443', '[2001:db8::1]', '[2001:db8::1]:81'],
  ])('Host %s is allowed', (host) => {
    expect(access.check(request({ host }))).toBeUndefined();
  });

  test.each([
    ...['localhost', '127.0.0.1', '[::1]', 'localhost:80', 'localhost:80000', 'localhost:8000.', 'localhost.:8000'],
    ...['xlocalhost:8000', 'localhost.evil.test:8000', 'localhost:8000.evil.test', 'evil.test:8000', '127.0.0.2:8000'],
    ...['127.0.0.1.nip.io:8000', '127.1:8000', '2130706433:8000', '0x7f000001:8000', '0177.0.0.1:8000', '0.0.0.0:8000'],
    ...['[::]:8000', '[::ffff:127.0.0.1]:8000', '[0:0:0:0:0:0:0:1]:8000', '::1:8000', 'user@localhost:8000'],
    ...['localhost:8000@evil.test', 'localhost:8000/', 'http://localhost:8000', ' localhost:8000', 'localhost:8000 '],
    ...['mcp.example.evil.test', 'evilmcp.example', 'mcp.example:', 'mcp.example.', 'mcp.example.:80', '', ','],
    ...['mcp.example:8000:80', 'mcp.example:8000a', 'mcp.example:123456', 'mcp.example:80@evil.test:80', ':80'],
    ...['other.example', 'other.example:443', 'other.example:8444', '[2001:db8::2]:81', '2001:db8::1:81'],
    ...[
      'localhost:8000, localhost:8000',
      'localhost:8000,evil.test',
      'localhost\u0000:8000',
      'loc\u0410lhost:8000',
      'lоcalhost:8000',
    ],
  ])('Host %j is denied', (host) => {
    expect(access.check(request({ host }))).toBe('host');
  });

  test.each(['http://localhost:8000', 'http://127.0.0.1:8000', 'http://[::1]:8000', 'https://app.example'])(
    'Origin %s is let in',
    (origin) => {
      expect(access.check(request({ host: 'localhost:8000', origin }))).toBeUndefined();
    },
  );

  test.each([
    ...['null', '', 'https://localhost:8000', 'http://localhost', 'http://localhost:8001', 'http://localhost:8000/'],
    ...[
      'http://localhost:8000.evil.test',
      'http://evil.test',
      'https://app.example.evil.test',
      'https://evilapp.example',
    ],
    ...['http://app.example', 'https://app.example:443', 'https://APP.example', 'https://app.example/', 'file://'],
    ...['https://app.example, https://evil.test', 'https://app.example@evil.test', 'chrome-extension://abc'],
  ])('Origin %j is denied', (origin) => {
    expect(access.check(request({ host: 'localhost:8000', origin }))).toBe('origin');
  });

  test('only listed origins may read, and never with a wildcard', () => {
    expect(access.corsHeaders(request({ origin: 'https://app.example' }))).toContain('https://app.example');
    for (const origin of ['http://localhost:8000', 'https://evil.test']) {
      expect(access.corsHeaders(request({ origin }))).toEqual(['Vary', 'Origin']);
    }
    expect(access.preflight(request({ origin: 'https://evil.test' }), 'POST')).toBeUndefined();
    const headers = { origin: 'https://app.example', 'access-control-request-headers': 'x\r\nEvil: 1' };
    expect(access.preflight(request(headers), 'POST')?.join('\n')).not.toContain('Evil');
  });
});

test('only origins can be listed', () => {
  for (const wrong of [
    '*',
    'null',
    'app.example',
    'https://app.example/',
    'https://APP.example',
    'https://app.example/path',
  ]) {
    expect(() => rulesFrom({ allowedOrigins: [wrong] })).toThrow(/^allowedOrigins: .* is not an origin/);
  }
});

test('only host names can be listed', () => {
  for (const wrong of ['', '*', '*.example', 'http://x', 'x/mcp', 'x:', 'x:port', 'user@x', 'x, y', '2001:db8::1']) {
    expect(() => rulesFrom({ allowedHosts: [wrong] })).toThrow(/^allowedHosts: .* is not a host name/);
  }
  for (const right of ['x', 'x:8443', 'MCP.example', '10.0.0.1', '[2001:db8::1]', '[2001:db8::1]:81', 'a_b.example']) {
    expect(() => rulesFrom({ allowedHosts: [right] })).not.toThrow();
  }
});

test('the public URL must be one of HTTP', () => {
  for (const wrong of ['', 'nope', 'mcp.example', 'localhost:8000', 'ftp://mcp.example']) {
    expect(() => rulesFrom({ publicUrl: wrong })).toThrow(/^publicUrl: .* is not a URL/);
  }
});

test('loopback addresses and names are recognized only in full', () => {
  for (const host of ['localhost', '127.0.0.1', '127.255.0.3', '::1', '[::1]']) expect(isLoopback(host)).toBe(true);
  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    'example.com',
    '127.0.0.1.evil.test',
    'localhost.evil.test',
    '1127.0.0.1',
    '',
  ]) {
    expect(isLoopback(host)).toBe(false);
  }
});

test('a public address has no names of its own', () => {
  expect(hostsOf(at('0.0.0.0', 8000))).toBeUndefined();
  expect(originsOf(at('0.0.0.0', 8000)).size).toBe(0);
  expect(hostsOf(at('0.0.0.0', 8000), ['MCP.example'])).toEqual({ values: new Set(), names: new Set(['mcp.example']) });
  expect(hostsOf(at('0.0.0.0', 8000), ['mcp.example:443', '[2001:db8::1]:81'])).toEqual({
    values: new Set(['mcp.example:443', 'mcp.example', '[2001:db8::1]:81']),
    names: new Set(),
  });
  expect(hostsOf(at('0.0.0.0', 8000), [], 'mcp.example')).toEqual({
    values: new Set(['mcp.example', 'mcp.example:80', 'mcp.example:443']),
    names: new Set(),
  });
});

test('a letter that only folds into an allowed one is a different letter', () => {
  const access = new HostOriginCheck({
    hosts: hostsFrom(['desk.example']),
    ownOrigins: new Set(),
    corsOrigins: new Set(),
  });
  expect(access.check(request({ host: 'DESK.example' }))).toBeUndefined();
  expect(access.check(request({ host: 'des\u212a.example' }))).toBe('host');
});

test('at the default port a name needs no port', () => {
  const hosts = hostsOf(at('localhost', 80));
  const has = (host: string) => hosts?.values.has(host);
  expect([has('localhost'), has('localhost:80'), has('localhost:443')]).toEqual([true, true, false]);
});

test('with TLS the default port and the scheme of its own origins are others', () => {
  expect(hostsOf(at('localhost', 443, 'https'))?.values.has('localhost')).toBe(true);
  expect(hostsOf(at('localhost', 80, 'https'))?.values.has('localhost')).toBe(false);
  expect(originsOf(at('localhost', 443, 'https'))).toContain('https://localhost');
  expect(originsOf(at('localhost', 8443, 'https'))).toContain('https://localhost:8443');
  expect(originsOf(at('localhost', 8443, 'https'))).not.toContain('http://localhost:8443');
});

test('a denial names the value and the option that allows it, and a long value is cut', () => {
  const headers = { host: 'evil.test', origin: `https://${'a'.repeat(1_000)}.example` };
  expect(explainDenial('host', request(headers))).toBe(
    'Forbidden: Host "evil.test" is not allowed. If it is a name of this server, add it with the option allowedHosts',
  );
  const origin = explainDenial('origin', request(headers), { allowedOrigins: '--allow-origin ORIGIN' });
  expect(origin).toMatch(/ add it with --allow-origin ORIGIN$/);
  expect(origin.length).toBeLessThan(400);
});
