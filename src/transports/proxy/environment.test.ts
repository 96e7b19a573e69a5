import { expect, test } from 'vitest';
import { findProxy, isExcluded, ProxyError, proxyVariable } from './environment.ts';

const nameFor = (url: string, env: Record<string, string>): string | undefined =>
  proxyVariable(new URL(url), env)?.name;

test('the scheme selects the variable, lower case first, then ALL_PROXY', () => {
  const env = { HTTP_PROXY: 'http://a', HTTPS_PROXY: 'http://b', ALL_PROXY: 'http://c' };
  expect(nameFor('http://mcp.example/', env)).toBe('HTTP_PROXY');
  expect(nameFor('ws://mcp.example/', env)).toBe('HTTP_PROXY');
  expect(nameFor('https://mcp.example/', env)).toBe('HTTPS_PROXY');
  expect(nameFor('wss://mcp.example/', { ...env, https_proxy: 'http://d' })).toBe('https_proxy');
  expect(nameFor('https://mcp.example/', { HTTPS_PROXY: '', all_proxy: 'http://c' })).toBe('all_proxy');
  expect(nameFor('https://mcp.example/', { HTTP_PROXY: 'http://a' })).toBeUndefined();
});

test('a CGI program does not take the proxy from the header of its client', () => {
  expect(nameFor('http://mcp.example/', { HTTP_PROXY: 'http://a', REQUEST_METHOD: 'GET' })).toBeUndefined();
});

test.each([
  ['https://mcp.example/', 'mcp.example', true],
  ['https://eu.mcp.example/', 'mcp.example', true],
  ['https://eu.mcp.example/', '.mcp.example', true],
  ['https://mcp.example/', '.mcp.example', true],
  ['https://notmcp.example/', 'mcp.example', false],
  ['https://MCP.example/', 'other, mcp.EXAMPLE', true],
  ['https://mcp.example/', 'other mcp.example.', true],
  ['https://mcp.example/', '*', true],
  ['https://mcp.example/', '', false],
  ['https://mcp.example/', 'mcp.example:443', true],
  ['https://mcp.example:8443/', 'mcp.example:443', false],
  ['http://10.1.2.3/', '10.1.2.3', true],
  ['http://10.1.2.3/', '10.0.0.0/8', true],
  ['http://11.1.2.3/', '10.0.0.0/8', false],
  ['http://10.1.2.3/', '2.3', false],
  ['http://[fd00::1]:8000/', 'fd00::1', true],
  ['http://[fd00::1]:8000/', '[fd00::1]:8000', true],
  ['http://[fd00::1]:8000/', '[fd00::1]:9000', false],
  ['http://[fd00::1]/', 'fd00::/8', true],
  ['http://[fe00::1]/', 'fd00::/8', false],
])('%s with NO_PROXY=%s: %s', (url, list, excluded) => {
  expect(isExcluded(new URL(url), list)).toBe(excluded);
});

test.each(['localhost', 'app.localhost', '127.0.0.1', '[::1]'])('%s is reached directly', (host) => {
  expect(findProxy(new URL(`http://${host}:8000/mcp`), { http_proxy: 'http://10.0.0.1:3128' })).toBeUndefined();
});

test('credentials are decoded, and not part of the URL', () => {
  const proxy = findProxy(new URL('https://mcp.example/'), { https_proxy: 'http://ada:p%40ss@10.0.0.1:3128' });
  expect(proxy?.url.href).toBe('http://10.0.0.1:3128/');
  expect(Buffer.from(proxy?.authorization?.slice('Basic '.length) ?? '', 'base64').toString()).toBe('ada:p@ss');
  expect(findProxy(new URL('https://mcp.example/'), { https_proxy: '10.0.0.1:3128' })?.url.port).toBe('3128');
});

test.each(['http://user:secret@', 'socks5://user:secret@10.0.0.1'])('%s is rejected without its password', (value) => {
  const find = (): unknown => findProxy(new URL('https://mcp.example/'), { all_proxy: value });
  expect(find).toThrow(ProxyError);
  expect(find).toThrow(/^all_proxy (?!.*secret)/);
});
