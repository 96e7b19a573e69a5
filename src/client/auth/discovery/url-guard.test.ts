import { expect, test } from 'vitest';
import { createUrlGuard, isLoopback } from './url-guard.ts';

const remote = createUrlGuard('https://mcp.example.com/mcp');
const local = createUrlGuard('http://127.0.0.1:8000/mcp');

test('https anywhere and http on loopback are accepted', () => {
  expect(remote.check('x', 'https://as.example.com/token').href).toBe('https://as.example.com/token');
  for (const host of [
    '127.0.0.1',
    '127.9.9.9',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0x7f.1',
    '2130706433',
  ]) {
    expect(local.check('x', `http://${host}:9000/`).protocol).toBe('http:');
  }
});

test('plain http to any other host is rejected', () => {
  for (const host of ['as.example.com', '10.0.0.1', 'localhost.evil.test', '127.0.0.1.nip.io', '[2001:db8::1]']) {
    expect(() => local.check('x', `http://${host}/`)).toThrow(expect.objectContaining({ code: 'insecure-url' }));
  }
});

test('schemes that a browser or desktop would act on are rejected', () => {
  const hostile = [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://as.example.com/',
    'ws://127.0.0.1/',
    'vscode://x',
    '--help',
    '-oProxyCommand=x',
    '$(touch /tmp/x)',
    '`id`',
    '//as.example.com/authorize',
    '/authorize',
    '',
    ' ',
    undefined,
    42,
  ];
  for (const value of hostile) {
    expect(() => local.check('authorization_endpoint', value), String(value)).toThrow(
      expect.objectContaining({ code: 'insecure-url' }),
    );
  }
});

test('credentials in a URL are rejected and not repeated in the message', () => {
  expect(() => remote.check('x', 'https://user:hunter2@as.example.com/')).toThrow(
    expect.objectContaining({ code: 'insecure-url', message: expect.not.stringContaining('hunter2') }),
  );
});

test('a public server may not point into our networks', () => {
  const inner = [
    'http://localhost:6379/',
    'http://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://10.1.2.3/',
    'https://172.20.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://0.0.0.0/',
    'https://0x0a000001/',
    'https://017700000001/',
  ];
  for (const url of inner) {
    expect(() => remote.check('x', url), url).toThrow(expect.objectContaining({ code: 'private-address' }));
  }
});

test('a server may point to where it stands itself, not deeper', () => {
  const inHouse = createUrlGuard('https://10.0.0.5/mcp');
  expect(inHouse.check('x', 'https://192.168.7.7/').hostname).toBe('192.168.7.7');
  expect(() => inHouse.check('x', 'http://localhost/')).toThrow(expect.objectContaining({ code: 'private-address' }));
  expect(() => inHouse.check('x', 'https://169.254.169.254/')).toThrow(
    expect.objectContaining({ code: 'private-address' }),
  );
  expect(() => local.check('x', 'http://169.254.169.254/')).toThrow();
});

test('the laboratory switches open exactly what they name', () => {
  expect(
    createUrlGuard('https://a.example/', { allowPrivateNetwork: true }).check('x', 'https://10.0.0.1/'),
  ).toBeInstanceOf(URL);
  expect(createUrlGuard('http://lab.example/mcp', { allowInsecureHttp: true }).server.href).toBe(
    'http://lab.example/mcp',
  );
  expect(() => createUrlGuard('http://lab.example/mcp')).toThrow(expect.objectContaining({ code: 'insecure-url' }));
});

test('a redirect is checked like any other URL and never falls back to http', () => {
  const from = new URL('https://mcp.example.com/a');
  expect(remote.checkRedirect('x', from, '/b').href).toBe('https://mcp.example.com/b');
  expect(() => remote.checkRedirect('x', from, 'file:///x')).toThrow(expect.objectContaining({ code: 'insecure-url' }));
  const lax = createUrlGuard('https://mcp.example.com/', { allowInsecureHttp: true });
  expect(() => lax.checkRedirect('x', from, 'http://mcp.example.com/b')).toThrow(/leave https/);
});

test('look-alikes of localhost are not loopback', () => {
  for (const host of ['localhost.evil.test', 'mylocalhost', '127.0.0.1.evil.test', 'example.com', '[::2]']) {
    expect(isLoopback(host), host).toBe(false);
  }
});

test('a WebSocket server is validated as the HTTP server it begins as', () => {
  expect(createUrlGuard('wss://mcp.example.com/ws').server.href).toBe('https://mcp.example.com/ws');
  expect(createUrlGuard('ws://localhost:9/ws').server.href).toBe('http://localhost:9/ws');
  expect(() => createUrlGuard('ws://mcp.example.com/ws')).toThrow(expect.objectContaining({ code: 'insecure-url' }));
});
