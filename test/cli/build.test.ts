// What scripts/build.mjs makes of the sources, built anew.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
// Within the package, so that what is built finds the libraries it depends on.
const folder = mkdtempSync(join(root, 'node_modules/.build-test-'));
const dist = join(folder, 'dist');

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), '--outdir', dist, '--no-types']);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a build may be read by others than its maker', () => {
  expect(statSync(dist).mode & 0o777).toBe(0o755);
});

test('every file has one byte per character', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  expect(files.length).toBeGreaterThan(10);
  const wide = files.filter((file) => readFileSync(join(dist, file)).some((byte) => byte > 0x7f));
  expect(wide).toEqual([]);
});

test('public names are what they are in the sources, beside whatever short ones our own files use', async () => {
  const doors = { 'index.js': 'index.ts', 'client.js': 'client/index.ts', 'security.js': 'security/index.ts' };
  for (const [built, source] of Object.entries(doors)) {
    const { href } = pathToFileURL(join(dist, built));
    const names = Object.keys(await import(join(root, 'src', source)));
    const script = `import * as all from ${JSON.stringify(href)}; process.stdout.write(JSON.stringify(Object.keys(all)))`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    const found: string[] = JSON.parse(text);
    expect(found.filter((name) => name.length > 2).sort()).toEqual(names.sort());
  }
}, 60_000);

type Plugin = { transform(code: string, id: string): { code: string } };
const { plainNames }: { plainNames(covers: () => boolean): Plugin } = await import(
  join(root, 'scripts/plain-names.mjs')
);
const makePlain = (code: string): string => plainNames(() => true).transform(code, 'sample.ts').code;

test('private names made plain are those of their own class', () => {
  const code = `class Outer {
    #kept: number = 1; // …
    #both = '#kept';
    inner() {
      const outer = this;
      return new (class {
        #both = 2;
        get #sum(): number { return outer.#kept + this.#both; }
        sum() { return this.#sum; }
      })();
    }
    both() { return this.#both; }
  }`;
  const plain = makePlain(code);
  expect(plain.replaceAll("'#kept'", '')).not.toContain('#');
  const { outer, inner } = new Function(
    `${plain.replaceAll(': number', '')}; const outer = new Outer(); return { outer, inner: outer.inner() }`,
  )() as { outer: { both(): unknown }; inner: { sum(): unknown } };
  expect([outer.both(), inner.sum()]).toEqual(['#kept', 3]);
});

test('private names stay where plain ones would mean something else', () => {
  expect(() => makePlain('class A extends B { #a = 1 }')).toThrow('extends');
  expect(() => makePlain('class A { #a = 1; static is(it: object) { return #a in it } }')).toThrow('asked');
  expect(() => makePlain('class A { #a = ')).toThrow('sample.ts');
});

test('guards have plain names, what people hold has not', () => {
  const chunks = readdirSync(join(dist, 'chunks')).map((file) => readFileSync(join(dist, 'chunks', file), 'utf8'));
  const isPrivate = /[.\s]#[a-z]/i;
  const guards = chunks.find((text) => /\bKeptCalls = class\b|\bclass KeptCalls\b/.test(text));
  expect(guards).toBeDefined();
  expect(isPrivate.test(guards as string)).toBe(false);
  expect(isPrivate.test(readFileSync(join(dist, 'index.js'), 'utf8'))).toBe(true);
});

test('code of bundled packages comes with its licence', () => {
  expect(readFileSync(join(dist, 'third-party-licenses.txt'), 'utf8')).toMatch(
    /^entities \S+ \(BSD-2-Clause\)\n\nCopyright/m,
  );
});
