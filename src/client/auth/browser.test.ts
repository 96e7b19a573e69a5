import { expect, test } from 'vitest';
import { openerFor } from './browser.ts';

test('each platform gets its opener and the address as one argument', () => {
  const url = new URL('https://as.example.com/authorize?a=1&b=2');
  expect(openerFor(url, 'linux')).toEqual({ command: 'xdg-open', args: [url.href] });
  expect(openerFor(url, 'darwin')).toEqual({ command: '/usr/bin/open', args: [url.href] });
  expect(openerFor(url, 'win32')).toEqual({ command: 'rundll32', args: ['url.dll,FileProtocolHandler', url.href] });
});

test('only http and https are opened', () => {
  for (const hostile of [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'vscode://x',
    'smb://host/share',
  ]) {
    expect(() => openerFor(new URL(hostile), 'linux'), hostile).toThrow(
      expect.objectContaining({ code: 'insecure-url' }),
    );
  }
});

test('characters that mean something to a shell arrive encoded', () => {
  const hostile = new URL('https://as.example.com/$(touch x)`id`?q=\'"|;<>^{}()$&x=\\y\u202e#!');
  const [address] = openerFor(hostile, 'linux').args;
  expect(address).toMatch(/^https:\/\/as\.example\.com\/[\w\-.~:/?#[\]@!&*+,=%]*$/);
  expect(address).toContain('%24%28touch%20x%29%60id%60');
});

test('no address can be taken for an option', () => {
  expect(openerFor(new URL('https://-o.example/--help'), 'linux').args).toEqual(['https://-o.example/--help']);
});
