// The documentation site as `npm run docs:site` builds it, and llms.txt: complete, without dead links and without requests
// to other hosts.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const work = join(root, `.tmp/site-${process.pid}`);
const site = join(work, 'site');
let pages: ReadonlyMap<string, string>;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/docs-site.mjs'), '--outdir', site], { stdio: 'pipe' });
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.html'));
  pages = new Map(files.map((file) => [file, readFileSync(join(site, file), 'utf8')]));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const attributes = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, value = '']) => value);

test('every page of docs is on the site', () => {
  const sources = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((each) =>
    /\.md$/.test(each),
  );
  for (const source of sources.filter((each) => each !== 'README.md')) {
    const page = source.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
    expect([...pages.keys()], source).toContain(page);
  }
});

test('no two pages have the same name where case does not count', () => {
  expect(new Set([...pages.keys()].map((name) => name.toLowerCase())).size).toBe(pages.size);
});

test('every link leads to a file, and every anchor to an id', () => {
  const dead: string[] = [];
  for (const [file, html] of pages) {
    for (const link of attributes(html, /\s(?:href|src)="([^"]*)"/g)) {
      if (/^(?:https?:|mailto:|data:)/.test(link)) continue;
      const [path = '', id] = link.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      const isThere = existsSync(join(site, target));
      const hasId = id === undefined || pages.get(target)?.includes(`id="${id}"`) === true;
      if (!isThere || !hasId) dead.push(`${file}: ${link}`);
    }
  }
  expect(dead).toEqual([]);
});

test('pages load nothing from other hosts', () => {
  for (const [file, html] of pages) {
    const loaded = [...attributes(html, /\ssrc="([^"]*)"/g), ...attributes(html, /<link[^>]*\shref="([^"]*)"/g)];
    expect(
      loaded.filter((each) => /^(?:https?:)?\/\//.test(each)),
      file,
    ).toEqual([]);
  }
  expect(readFileSync(join(site, 'site.css'), 'utf8')).not.toMatch(/url\(|@import/);
});

test('the search index has every page, and its addresses exist', () => {
  const text = readFileSync(join(site, 'search-index.js'), 'utf8');
  const entries = JSON.parse(text.replace(/^globalThis\.searchIndex = /, '').replace(/;\n$/, '')) as { url: string }[];
  const found = new Set<string>();
  for (const { url } of entries) {
    const [file = '', id] = url.split('#');
    found.add(file);
    if (id !== undefined) expect(pages.get(file), url).toContain(`id="${id}"`);
  }
  expect([...pages.keys()].filter((file) => !found.has(file))).toEqual([]);
});

test('llms.txt and llms-full.txt are current; `npm run docs:llms` writes them', () => {
  const fresh = join(work, 'llms');
  execFileSync(process.execPath, [join(root, 'scripts/docs-llms.mjs'), '--outdir', fresh]);
  for (const file of ['llms.txt', 'llms-full.txt']) {
    expect(readFileSync(join(fresh, file), 'utf8') === readFileSync(join(root, 'docs', file), 'utf8'), file).toBe(true);
  }
});

test('the pages that llms.txt links to exist', () => {
  const links = [...readFileSync(join(site, 'llms.txt'), 'utf8').matchAll(/\]\(([^)]+)\)/g)].map(
    ([, link = '']) => link,
  );
  expect(links.length).toBeGreaterThan(30);
  expect(links.filter((link) => !existsSync(join(site, link)))).toEqual([]);
});
