// The published types compile in a user's project: every entry without DOM types, in each module mode, with library checks
// on; mooring/web also without @types/node; and the main entry without them with library checks off (the types of stdio and
// files name Node's).

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { unpackPackage } from '../support/packed-package.ts';

const root = resolve(import.meta.dirname, '../..');
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
const folder = mkdtempSync(join(tmpdir(), 'mooring-types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const packs = readdirSync(join(root, 'src/packs')).filter((name) =>
  existsSync(join(root, 'src/packs', name, 'index.ts')),
);
const entries = ['web', 'client', 'security', 'stores/redis', 'stores/sqlite', ...packs.map((name) => `packs/${name}`)];

const main = `
import { connectInMemory, createServer, toFetch } from 'mooring';
const server = createServer({ name: 'small', version: '1.0.0' });
server.tool('greet', {
  input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: ({ name }) => name.toUpperCase(),
});
// @ts-expect-error: the types of arguments are inferred, also here
server.tool('wrong', { input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }, run: ({ n }) => n.trim() });
export const handler = toFetch(server);
export const connection = connectInMemory(server);
`;

beforeAll(() => {
  // What the types of the package import: its dependencies, and Node's types where a project has them.
  unpackPackage(folder, ['@types', 'undici-types', 'jose', 'oauth4webapi', 'yaml', 'ajv']);
  writeFileSync(join(folder, 'main.ts'), main);
  writeFileSync(join(folder, 'required.cts'), main);
  writeFileSync(join(folder, 'web.ts'), main.replace("'mooring'", "'mooring/web'"));
  const imports = entries.map((entry, i) => `import * as entry${i} from 'mooring/${entry}';`);
  writeFileSync(
    join(folder, 'entries.ts'),
    `${imports.join('\n')}\nexport const all = [${entries.map((_, i) => `entry${i}`)}];\n`,
  );
});

function compile(options: object, files: readonly string[]): string {
  const compilerOptions = { target: 'es2023', strict: true, noEmit: true, ...options };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout;
}

const webworker = ['es2023', 'webworker'];
const dom = ['es2023', 'dom'];

const modes: Readonly<Record<string, { readonly options: object; readonly files: readonly string[] }>> = {
  nodenext: { options: { module: 'nodenext' }, files: ['main.ts', 'entries.ts', 'required.cts'] },
  // A CommonJS file cannot import an ES module in this mode; TypeScript says so itself.
  node16: { options: { module: 'node16' }, files: ['main.ts', 'entries.ts'] },
  bundler: { options: { module: 'preserve', moduleResolution: 'bundler' }, files: ['main.ts', 'entries.ts'] },
};

/** By default the modes of Node and of bundlers, each with all entries. */
const tried = Object.entries(modes).filter(([mode]) => isFullRun || mode !== 'node16');

test.for(tried)(
  'every entry compiles without DOM types, module mode %s',
  { timeout: 120_000 },
  ([, { options, files }]) => {
    expect(compile({ ...options, lib: ['es2023'], types: ['node'], skipLibCheck: false }, files)).toBe('');
  },
);

test.for(isFullRun ? [webworker, dom] : [dom])(
  'the main entry compiles without @types/node, with %s and %s',
  { timeout: 120_000 },
  (lib) => {
    expect(compile({ module: 'nodenext', lib, types: [], skipLibCheck: true }, ['main.ts'])).toBe('');
  },
);

test.for(isFullRun ? [webworker, dom] : [webworker])(
  'mooring/web compiles without @types/node and with library checks, with %s and %s',
  { timeout: 120_000 },
  (lib) => {
    expect(compile({ module: 'nodenext', lib, types: [], skipLibCheck: false }, ['web.ts'])).toBe('');
  },
);
