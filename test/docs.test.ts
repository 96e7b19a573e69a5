// Every TypeScript snippet in README and docs compiles against the sources, as a user would write it; every page can be
// found, and every link leads somewhere.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const work = join(root, '.tmp/snippets');

function pages(): string[] {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((each) => each.endsWith('.md'))
    .map((each) => join('docs', each));
  return ['README.md', ...docs];
}

function snippets(page: string): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
    (match) => match[1] as string,
  );
}

beforeAll(() => {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const page of pages()) {
    snippets(page).forEach((code, i) => {
      writeFileSync(join(work, `${page.replaceAll(/\W/g, '-')}-${i + 1}.ts`), `${code}\nexport {};\n`);
    });
  }
  const paths = {
    mooring: [join(root, 'src/index.ts')],
    'mooring/web': [join(root, 'src/web.ts')],
    'mooring/client': [join(root, 'src/client/index.ts')],
    'mooring/gateway': [join(root, 'src/gateway/index.ts')],
    'mooring/console': [join(root, 'src/console/index.ts')],
    'mooring/packs/*': [join(root, 'src/packs/*/index.ts')],
    'mooring/security': [join(root, 'src/security/index.ts')],
    'mooring/telemetry': [join(root, 'src/telemetry/index.ts')],
    'mooring/stores/redis': [join(root, 'src/stores/redis/index.ts')],
    'mooring/stores/sqlite': [join(root, 'src/stores/sqlite/index.ts')],
  };
  const options = { rootDir: root, paths, noEmit: true };
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions: options, include: [join(work, '*.ts')] };
  writeFileSync(join(work, 'tsconfig.json'), JSON.stringify(config));
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

test('every snippet of the README and the docs compiles', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  let output = '';
  try {
    execFileSync(process.execPath, [tsc, '-p', work], { encoding: 'utf8' });
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  expect(output.replaceAll(relative(process.cwd(), work), '')).toBe('');
});

test('there is something to compile', () => {
  expect(pages().flatMap(snippets).length).toBeGreaterThan(4);
});

test('every page is in the README of its folder, or of the nearest folder above that has one', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  for (const page of pages().filter((each) => each !== 'README.md' && each !== 'docs/README.md')) {
    let folder = dirname(page.replace(/\/README\.md$/, ''));
    while (!existsSync(join(root, folder, 'README.md'))) folder = dirname(folder);
    const index = join(folder, 'README.md');
    const link = relative(dirname(index), page).replaceAll('\\', '/');
    expect(readFileSync(join(root, index), 'utf8'), `${page} in ${index}`).toContain(`](${link})`);
    if (page.startsWith('docs/guide/')) expect(readme, page).toContain(`](${page})`);
  }
});

test('every file that the page about the architecture names exists', () => {
  const text = readFileSync(join(root, 'docs/contributing/architecture.md'), 'utf8');
  const named = [...text.matchAll(/`([\w./-]+(?:\/|\.(?:ts|mjs|json)))`/g)].map((match) => match[1] as string);
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  // Names without a folder are neighbours of a file that was named with its folder.
  const exists = (name: string): boolean =>
    existsSync(join(root, name)) ||
    existsSync(join(root, 'src', name)) ||
    sources.some((each) => each.endsWith(`/${name}`));
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((name) => !exists(name) && name !== 'limits.test.ts')).toEqual([]);
});

test('the API reference is current; `npm run docs:api` writes it', { timeout: 120_000 }, () => {
  const fresh = join(root, '.tmp/api');
  execFileSync(process.execPath, [
    join(root, 'scripts/api-docs.mjs'),
    '--outdir',
    fresh,
    '--types',
    join(root, 'dist'),
  ]);
  const folder = join(root, 'docs/reference/api');
  expect(readdirSync(fresh).sort()).toEqual(readdirSync(folder).sort());
  for (const file of readdirSync(fresh)) {
    expect(readFileSync(join(fresh, file), 'utf8') === readFileSync(join(folder, file), 'utf8'), file).toBe(true);
  }
  rmSync(fresh, { recursive: true });
});

test.each([...pages(), 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'])('the links of %s lead somewhere', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  for (const [, path = '', anchor] of text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)) {
    const target = path === '' ? join(root, page) : join(root, dirname(page), path);
    expect(existsSync(target), `${path} of ${page}`).toBe(true);
    if (anchor !== undefined) expect(anchors(readFileSync(target, 'utf8')), `${path} of ${page}`).toContain(anchor);
  }
});

/** Headings as a web page names them; those that repeat are counted. */
function anchors(text: string): string[] {
  const seen = new Map<string, number>();
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => {
    const name = title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(/\s/g, '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
}
