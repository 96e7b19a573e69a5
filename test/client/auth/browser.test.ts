import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openerFor, openInBrowser } from '../../../src/client/auth/grants/browser.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

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

test.runIf(process.platform === 'linux')(
  'the address is printed, and reaches the opener as one argument without a shell',
  async () => {
    const folder = temporaryFolder();
    try {
      const script = '#!/bin/sh\nprintf "%s\\n" "$#" "$@" > "$0.tmp"\nmv "$0.tmp" "$0.seen"\n';
      await writeFile(join(folder, 'xdg-open'), script, { mode: 0o755 });
      vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`);
      const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      openInBrowser(new URL(`https://as.example.com/a?x=$(touch ${folder}/canary)&y=;touch ${folder}/canary`));
      await expect
        .poll(() => readFile(join(folder, 'xdg-open.seen'), 'utf8').catch(() => ''))
        .toMatch(/^1\nhttps:.*\n$/);
      expect(await readdir(folder)).not.toContain('canary');
      expect(printed.mock.calls.join()).toContain('https://as.example.com/a?x=%24%28touch');
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test('without a desktop the printed address is what remains', async () => {
  vi.stubEnv('PATH', '/nowhere');
  const printed = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  openInBrowser(new URL('https://as.example.com/a'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(printed.mock.calls.join()).toContain('https://as.example.com/a');
});
