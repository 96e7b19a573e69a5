// The files of the page: types, compression, headers, and nothing outside their folder.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createConsole } from '../../src/console/index.ts';
import { createServer } from '../../src/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rawRequest } from './console-client.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function page(prepare: (folder: string) => void): Promise<string> {
  const folder = join(temporaryFolder(), 'page');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  prepare(folder);
  writeFileSync(join(folder, '..', 'secret.txt'), 'secret');
  const console = createConsole(createServer({ name: 'x', version: '1', logger: false }), { folder });
  open.push(console);
  const { origin } = await console.listen();
  return `${origin}/console`;
}

const built = (folder: string): void => {
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
  writeFileSync(join(folder, 'assets/main.js'), 'export {};');
  writeFileSync(join(folder, 'assets/main.js.gz'), gzipSync('export {};'));
  writeFileSync(join(folder, 'index.d.ts'), 'export {};');
};

test('the page is served with a policy that allows nothing of other origins', async () => {
  const base = await page(built);
  const { status, text, headers } = await rawRequest(`${base}/`);
  expect(status).toBe(200);
  expect(text).toContain('<title>Console</title>');
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
  // Apps are shown on an origin of their own.
  const [sandbox] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(headers['content-security-policy'])) ?? [];
  expect(sandbox).not.toBe(new URL(base).origin);
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      `frame-src ${sandbox}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`,
  );
  expect((await rawRequest(base)).headers['location']).toBe('console/');
  expect((await rawRequest(base.replace('/console', '/'))).headers['location']).toBe('/console/');
});

test('compressed copies and unchanged files are used', async () => {
  const base = await page(built);
  const response = await fetch(`${base}/assets/main.js`, { headers: { 'Accept-Encoding': 'br, gzip' } });
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(response.headers.get('content-type')).toContain('text/javascript');
  expect(await response.text()).toBe(gunzipSync(gzipSync('export {};')).toString());
  const etag = response.headers.get('etag') as string;
  const again = await rawRequest(`${base}/assets/main.js`, {
    headers: { 'Accept-Encoding': 'gzip', 'If-None-Match': etag },
  });
  expect(again).toMatchObject({ status: 304, text: '' });
  const plain = await rawRequest(`${base}/assets/main.js`, { headers: { 'Accept-Encoding': 'gzip;q=0' } });
  expect(plain.text).toBe('export {};');
});

test.for([
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/index.d.ts',
  '/assets',
  '/nothing',
])('%s is not served', async (path) => {
  const base = await page(built);
  expect((await rawRequest(`${base}${path}`)).status).toBe(404);
});

test('a package without the page says so', async () => {
  const base = await page(() => {});
  const { status, text } = await rawRequest(`${base}/`);
  expect(status).toBe(503);
  expect(text).toContain('files of the console are missing');
});
