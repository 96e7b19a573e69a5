// The output of scripts/build.mjs, from a new build.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
// Inside the package, so that the build finds its dependencies.
const folder = mkdtempSync(join(root, 'node_modules/.build-test-'));
const dist = join(folder, 'dist');

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--outdir', dist, '--no-types']);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a build is readable for all users', () => {
  expect(statSync(dist).mode & 0o777).toBe(0o755);
});

test('every file has one byte per character', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  expect(files.length).toBeGreaterThan(10);
  const wide = files.filter((file) => readFileSync(join(dist, file)).some((byte) => byte > 0x7f));
  expect(wide).toEqual([]);
});

test('entry points export exactly what their sources export', async () => {
  const entries = { 'index.js': 'index.ts', 'client.js': 'client/index.ts', 'security.js': 'security/index.ts' };
  for (const [built, source] of Object.entries(entries)) {
    const { href } = pathToFileURL(join(dist, built));
    const names = Object.keys(await import(join(root, 'src', source)));
    const script = `import * as all from ${JSON.stringify(href)}; process.stdout.write(JSON.stringify(Object.keys(all)))`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    const found: string[] = JSON.parse(text);
    expect(found.sort(), built).toEqual(names.sort());
  }
}, 60_000);

/** A file and those that it imports statically. */
function loadedFiles(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, from = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+)";/gm)) {
    loadedFiles(join(dirname(file), from), found);
  }
  return found;
}

test('a server loads two files at start, which have no patterns that take long to parse', () => {
  const files = [...loadedFiles(join(dist, 'index.js'))];
  // Every file that is opened takes a millisecond.
  expect(files).toHaveLength(2);
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  expect(Math.max(...texts.map((text) => text.length))).toBeGreaterThan(100_000);
  // In a string, the backslash is doubled.
  for (const text of texts) expect(text).not.toMatch(/(?<!\\)\\p\{/);
});

test('every source is found through the source maps', () => {
  const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js.map'));
  const mapped = new Set<string>();
  for (const map of maps) {
    expect(readFileSync(join(dist, map.slice(0, -4)), 'utf8'), map).toContain('//# sourceMappingURL=');
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(dist, map), 'utf8'));
    expect(sourcesContent, map).toHaveLength(sources.length);
    for (const source of sources) mapped.add(source.replace(/^(\.\.\/)+/, ''));
  }
  const written = [
    'src/engine/server.ts',
    'src/client/client.ts',
    'src/security/redact.ts',
    'src/engine/catalog/rank-tools.ts',
  ];
  expect(written.filter((source) => !mapped.has(source))).toEqual([]);
});

test('a stack names the line of the source', () => {
  const script = `import { createServer } from ${JSON.stringify(pathToFileURL(join(dist, 'index.js')).href)};
    try { createServer({ name: 'a', version: '1' }).tool('', {}) } catch (error) { process.stdout.write(error.stack) }`;
  const args = ['--enable-source-maps', '--input-type=module', '-e', script];
  const stack = execFileSync(process.execPath, args, { encoding: 'utf8' });
  const [, file = stack, line] = /\((?:file:\/\/)?\S*\/(src\/engine\/[\w/-]+\.ts):(\d+):\d+\)/.exec(stack) ?? [];
  expect(readFileSync(join(root, file), 'utf8').split('\n')[Number(line) - 1], file).toContain('throw');
});

test('code of bundled packages comes with its licence', () => {
  expect(readFileSync(join(dist, 'third-party-licenses.txt'), 'utf8')).toMatch(
    /^entities \S+ \(BSD-2-Clause\)\n\nCopyright/m,
  );
});
