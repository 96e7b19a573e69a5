// Who may import whom: arrows point down, rooms on one floor do not know each other, and nothing goes in a circle.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../src');

/** Rooms and what each may use besides itself. Type imports count: a contract above is a wall with a hole. */
const mayUse: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  logging: ['protocol'],
  schema: [],
  engine: ['protocol', 'schema'],
  transports: ['logging', 'protocol', 'schema'],
  stores: ['engine', 'protocol', 'schema'],
  security: ['engine', 'protocol', 'schema'],
  client: ['transports', 'protocol', 'schema'],
  packs: ['engine', 'security', 'protocol', 'schema'],
  gateway: ['engine', 'client', 'protocol', 'schema'],
  console: ['gateway', 'engine', 'protocol', 'schema'],
  app: [
    'console',
    'packs',
    'gateway',
    'stores',
    'security',
    'client',
    'engine',
    'transports',
    'logging',
    'protocol',
    'schema',
  ],
  cli: ['app', 'client'],
};

/** Rooms that run anywhere: web standards only. */
const webOnly = ['protocol', 'schema', 'engine'];

/** Heavy libraries, each imported in exactly one file. */
const singleHomes = [
  'ajv',
  'ws',
  'jose',
  'oauth4webapi',
  'yaml',
  'redis',
  '@photostructure/sqlite',
  'entities',
  'toml-eslint-parser',
];

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile() && each.name.endsWith('.ts') && !each.name.endsWith('.test.ts'))
    .map((each) => join(each.parentPath, each.name));
}

const pattern =
  /(?:^|\n)\s*(import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

function importsOf(file: string): Import[] {
  const found: Import[] = [];
  for (const match of readFileSync(file, 'utf8').matchAll(pattern)) {
    const to = (match[3] ?? match[4]) as string;
    found.push({ from: file, to, typeOnly: match[2] !== undefined });
  }
  return found;
}

const files = sources(root);
const imports = files.flatMap(importsOf);
const local = imports
  .filter((each) => each.to.startsWith('.'))
  .map((each) => ({ ...each, to: resolve(dirname(each.from), each.to) }));
const name = (file: string): string => relative(root, file);
const room = (file: string): string => (name(file).includes('/') ? (name(file).split('/')[0] as string) : 'door');

test('every import of ours names a file that exists', () => {
  const known = new Set(files);
  expect(local.filter((each) => !known.has(each.to)).map((each) => `${name(each.from)} -> ${name(each.to)}`)).toEqual(
    [],
  );
});

test('arrows between rooms point down', () => {
  const wrong = local.filter(({ from, to }) => {
    const [above, below] = [room(from), room(to)];
    return above !== 'door' && above !== below && !mayUse[above]?.includes(below);
  });
  expect(wrong.map((each) => `${name(each.from)} -> ${name(each.to)}`)).toEqual([]);
});

test('no import runs in a circle', () => {
  const graph = new Map<string, string[]>();
  for (const { from, to, typeOnly } of local) {
    if (!typeOnly) graph.set(from, [...(graph.get(from) ?? []), to]);
  }
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].map(name).join(' -> '));
    if (done.has(file) || path.includes(file)) return;
    for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) walk(file, []);
  expect(circles).toEqual([]);
});

test('protocol, schema and engine use web standards only', () => {
  const wrong = imports.filter((each) => webOnly.includes(room(each.from)) && /^node:/.test(each.to));
  expect(wrong.map((each) => `${name(each.from)} imports ${each.to}`)).toEqual([]);
});

test('a heavy library is imported in one file', () => {
  for (const library of singleHomes) {
    const homes = new Set(
      imports
        .filter((each) => !each.typeOnly && (each.to === library || each.to.startsWith(`${library}/`)))
        .map((each) => name(each.from)),
    );
    expect([...homes].length, `${library} is imported by ${[...homes].join(', ')}`).toBeLessThanOrEqual(1);
  }
});

test('no revision date stands outside protocol/revisions, profiles and packs', () => {
  const date = /20(24-11-05|25-03-26|25-06-18|25-11-25|26-07-28)/;
  const wrong = files
    .filter((file) => !/^(protocol\/revisions|packs|app)\//.test(name(file)))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => date.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line))
        .map((line) => `${name(file)}: ${line.trim()}`),
    );
  expect(wrong).toEqual([]);
});

test('no source file grows beyond 400 lines', () => {
  const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 400);
  expect(long.map(name)).toEqual([]);
});
