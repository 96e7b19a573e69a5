// The package as npm publishes it: its exports and types work for users, and the pages that the README links to are in it.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { beforeAll, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { packPackage } from '../support/packed-package.ts';

const root = resolve(import.meta.dirname, '../..');

let tarball: string;
let files: ReadonlySet<string>;

beforeAll(() => {
  const packed = packPackage();
  tarball = packed.tarball;
  files = new Set(packed.files);
});

test('publint finds nothing', async () => {
  const bytes = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('every entry point has types, for Node and for bundlers', () => {
  const packs = readdirSync(join(root, 'src/packs')).filter((name) =>
    existsSync(join(root, 'src/packs', name, 'index.ts')),
  );
  const all = [
    '.',
    'web',
    'client',
    'console',
    'security',
    'stores/redis',
    'stores/sqlite',
    ...packs.map((name) => `packs/${name}`),
  ];
  // By default one of each folder; package-types.test.ts compiles all of them.
  const entries = isFullRun ? all : ['.', 'stores/redis', `packs/${packs[0]}`];
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  // The package is ESM only: `require` needs no separate types.
  const options = ['--profile', 'esm-only', '--no-definitely-typed', '--no-color', '--entrypoints', ...entries];
  const { stdout, status } = spawnSync(process.execPath, [attw, tarball, ...options], { encoding: 'utf8' });
  expect(status, stdout).toBe(0);
  for (const entry of entries) expect(stdout).toContain(entry === '.' ? '"mooring"' : `"mooring/${entry}"`);
}, 120_000);

test('every page that README, CONTRIBUTING and the pages themselves link to is in the package', () => {
  const seen = new Set(['README.md']);
  for (const page of seen) {
    expect([...files], `linked, but not published: ${page}`).toContain(page);
    if (!page.endsWith('.md')) continue;
    for (const [, link = ''] of readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
      const path = join(dirname(page), link).replaceAll('\\', '/').replace(/\/$/, '');
      if (!statSync(join(root, path)).isDirectory()) seen.add(path);
    }
  }
  expect(seen.size).toBeGreaterThan(30);
});

test('source maps and licences of bundled packages are published, tests are not', () => {
  expect([...files].filter((file) => file.endsWith('.js.map')).length).toBeGreaterThan(50);
  expect(files).toContain('dist/third-party-licenses.txt');
  expect([...files].filter((file) => /\.test\.|\/testing\/|\/fixtures\//.test(file))).toEqual([]);
});
