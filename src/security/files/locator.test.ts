import { expect, test, vi } from 'vitest';
import { defaultFileLimits } from './limits.ts';
import { isPlainName, parseLocator, pathOf, toUri } from './locator.ts';

const parse = (text: string) => parseLocator(text, defaultFileLimits);

test.each([
  ['file:///srv/a.txt', '/srv/a.txt'],
  ['FILE:///srv/a.txt', '/srv/a.txt'],
  ['file:///srv/a%20b/%C3%A4.txt', '/srv/a b/ä.txt'],
  ['file:///srv/ä.txt', '/srv/ä.txt'],
  ['file:///srv/dir/', '/srv/dir'],
  ['file:///', '/'],
  ['/srv/a.txt', '/srv/a.txt'],
  ['/srv//./a.txt', '/srv/a.txt'],
  ['/srv/...', '/srv/...'],
  ['/srv/..a', '/srv/..a'],
  ['/srv/100%', '/srv/100%'],
])('%j is read as %s', (text, path) => {
  const locator = parse(text);
  expect(locator?.relative).toBe(false);
  expect(pathOf(locator?.segments ?? [])).toBe(path);
});

test('a path without a leading slash is relative', () => {
  expect(parse('./src/a.ts')).toEqual({ segments: ['src', 'a.ts'], relative: true });
});

/** Every variant here is rejected before the disk is read. */
const rejected = [
  '',
  '..',
  '../a',
  '/srv/../etc/passwd',
  '/srv/..',
  '/srv/a\0.txt',
  '/srv/a\n.txt',
  '/srv/\u0085',
  '/srv\\..\\etc',
  '/srv/a\\b',
  '/srv/\uD800',
  '/srv/%2e%2e/etc',
  '/srv/%2E%2e',
  '/srv/..%2fetc',
  '/srv/a%00',
  'file:///srv/../etc/passwd',
  'file:///srv/%2e%2e/etc/passwd',
  'file:///srv/%2E./etc/passwd',
  'file:///srv/.%2e/etc/passwd',
  'file:///srv/%252e%252e/etc/passwd',
  'file:///srv/%25252e%25252e/etc/passwd',
  'file:///srv/..%2fetc%2fpasswd',
  'file:///srv/a%2fb',
  'file:///srv/a%252fb',
  'file:///srv/a%5cb',
  'file:///srv/a%255cb',
  'file:///srv/a\\..\\b',
  'file:///srv/a%00.txt',
  'file:///srv/a%2500.txt',
  'file:///srv/a%0a.txt',
  'file:///srv/a%',
  'file:///srv/a%2',
  'file:///srv/a%zz',
  'file:///srv/%u002e%u002e/x',
  'file:///srv/%c0%ae%c0%ae/etc',
  'file:///srv/%ff%fe',
  'file:///srv/%ed%a0%80',
  'file:///srv//a',
  'file:////srv/a',
  'file:///srv/./a',
  'file:///srv/a?x=1',
  'file:///srv/a#top',
  'file:///srv/a?',
  'file:///srv/a#',
  'file://srv/a',
  'file://localhost/srv/a',
  'file://evil.test/srv/a',
  'file://user@/srv/a',
  'file://user:pass@host/srv/a',
  'file://127.0.0.1/srv/a',
  'file://:80/srv/a',
  'file:/srv/a',
  'file:srv/a',
  'file:',
  'file://',
  'http://localhost/srv/a',
  'https://evil.test/',
  'data:text/plain,x',
  'javascript:alert(1)',
  'view-source:file:///srv/a',
  'jar:file:///srv/a!/b',
  'vbscript:x',
  `/${'a'.repeat(256)}`,
  `/${'ä'.repeat(128)}`,
  `/${'a/'.repeat(5000)}`,
  `file:///${'a/'.repeat(200)}`,
  `/${'x'.repeat(9000)}`,
];
test.each(rejected)('%j is rejected', (text) => {
  expect(parse(text)).toBeUndefined();
});

test.each(['a b', 'ä', '100%', 'a+b=c;d,e:f@g&h$', "it's (1)!*", '#1?', '.hidden', '日本', '🙂', 'a%b', '~'])(
  'the URI of a file named %j leads back to it',
  (name) => {
    expect(isPlainName(name, defaultFileLimits)).toBe(true);
    const locator = parse(toUri(`/srv/${name}`));
    expect(pathOf(locator?.segments ?? [])).toBe(`/srv/${name}`);
  },
);

test('a megabyte of slashes or percent signs is rejected at once', () => {
  for (const filler of ['/', '%', '%2e', '../', '\\', 'file:///']) {
    expect(parse(`file:///${filler.repeat(1_000_000)}`)).toBeUndefined();
  }
});

test('the letter of a drive is upper case on Windows, however a client writes it', async () => {
  vi.stubGlobal('process', Object.create(process, { platform: { value: 'win32' } }));
  vi.resetModules();
  const onWindows = await import('./locator.ts');
  vi.unstubAllGlobals();
  const segments = ['C:', 'Users', 'me', 'a.txt'];
  for (const text of [
    'file:///c%3A/Users/me/a.txt',
    'file:///C:/Users/me/a.txt',
    'c:\\Users\\me\\a.txt',
    'C:/Users/me/a.txt',
  ]) {
    expect(onWindows.parseLocator(text, defaultFileLimits)).toEqual({ segments, relative: false });
  }
  expect(onWindows.segmentsOf('c:\\Users\\me\\a.txt')).toEqual(segments);
  expect(onWindows.parseLocator('c\\a.txt', defaultFileLimits)).toEqual({ segments: ['c', 'a.txt'], relative: true });
  for (const text of ['file:///Users/me', '\\\\server\\share', 'C:\\a\\..\\b', 'C:\\a.txt:stream', 'C:\\CON']) {
    expect(onWindows.parseLocator(text, defaultFileLimits)).toBeUndefined();
  }
});
