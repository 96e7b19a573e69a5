// Who may import what: imports point down, folders of one layer do not import each other, there are no circles, and a
// folder is entered through its index.ts. Type imports count.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../src');

/** Folders of src/ and what each may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  common: [],
  protocol: ['common'],
  logging: ['common', 'protocol'],
  schema: [],
  engine: ['common', 'protocol', 'schema'],
  transports: ['common', 'logging', 'protocol', 'schema'],
  stores: ['common', 'engine', 'protocol', 'schema'],
  security: ['common', 'engine', 'protocol', 'schema'],
  client: ['common', 'transports', 'protocol', 'schema'],
  packs: ['common', 'engine', 'security', 'protocol', 'schema'],
  telemetry: ['common', 'engine', 'security', 'client', 'protocol'],
  gateway: ['common', 'engine', 'client', 'protocol', 'schema'],
  // It calls servers as a client, redacts what it stores, and checks Host and Origin on a port of its own.
  console: ['common', 'gateway', 'client', 'security', 'transports', 'engine', 'protocol', 'schema'],
  app: [
    'common',
    'console',
    'telemetry',
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

/** Folders that run anywhere: web standards only. */
const webOnly = ['common', 'protocol', 'schema', 'engine'];

/** Heavy libraries, each imported in exactly one file. */
const singleHomes = [
  'ajv',
  'ws',
  'jose',
  'oauth4webapi',
  'yaml',
  '@redis/client',
  '@photostructure/sqlite',
  'entities',
  'toml-eslint-parser',
  'diff',
  '@opentelemetry/api',
  'uplot',
];

/** Files and folders that are imported past the index.ts above them, each with the reason. One that is not needed must go. */
const directImports: Readonly<Record<string, string>> = {
  'protocol/revisions/client-revisions.ts':
    'the entry point for clients; a server does not load the codecs of a client',
  'protocol/revisions/client-tasks.ts': 'loaded with the first task of a client',
  'protocol/revisions/input-requests.ts': 'loaded with the first input request of a server',
  'protocol/revisions/tasks.ts': 'loaded with the first tool that runs as a task',
  'engine/features/tasks.ts': 'loaded with the first request about a task',
  'engine/features/tool-outcome.ts': 'tasks report failures of tools as calls do',
  'engine/features/tool-result.ts': 'the result of work in another system is that of a tool',
  'schema/eager.ts': 'policies cannot wait for the validator; a server loads it with the first call',
  'packs/dbus/address.ts': 'doctor checks whether a bus responds',
  'packs/dbus/connection.ts': 'doctor checks whether a bus responds',
  'security/files/': 'mooring/security is the package entry point and would load every guard',
  'security/network/': 'mooring/security is the package entry point and would load every guard',
  'security/redact.ts': 'mooring/security is the package entry point and would load every guard',
  'security/auth/scopes.ts': 'policies compare scopes without authentication',
  'security/auth/claims.ts': 'policies read claims without authentication',
  'security/limits/scope.ts': 'the audit log and policies name what a limit counts, without limits',
  'client/auth/authorizer.ts': 'transports use the interface; the OAuth client is loaded when a server asks for it',
  'client/auth/errors.ts': 'transports use the errors; the OAuth client is loaded when a server asks for it',
  'gateway/config/': 'client commands read entries of servers without loading the gateway',
  'gateway/catalog-cache.ts': 'commands show stored lists without loading the gateway',
  'gateway/clean-lists.ts': 'the same',
  'gateway/upstreams/isolation.ts': 'the same',
  'client/transports/orphan-guard.ts': 'a relay guards the command it starts as the client does',
  'client/auth/with-authorization.ts': 'transports retry with it; the OAuth client is loaded when a server asks for it',
};

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile() && /\.tsx?$/.test(each.name) && !each.name.endsWith('.test.ts'))
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
  .filter((each) => each.to.startsWith('.') && !each.to.includes('${'))
  .map((each) => ({ ...each, to: resolve(dirname(each.from), each.to) }));
const name = (file: string): string => relative(root, file);
const folder = (file: string): string =>
  name(file).includes('/') ? (name(file).split('/')[0] as string) : 'entry point';
const known = new Set(files);

test('every relative import names a file that exists', () => {
  expect(local.filter((each) => !known.has(each.to)).map((each) => `${name(each.from)} -> ${name(each.to)}`)).toEqual(
    [],
  );
});

test('imports between folders point down', () => {
  const wrong = local.filter(({ from, to }) => {
    const [above, below] = [folder(from), folder(to)];
    return above !== 'entry point' && above !== below && !mayImport[above]?.includes(below);
  });
  expect(wrong.map((each) => `${name(each.from)} -> ${name(each.to)}`)).toEqual([]);
});

test('the page of the console imports only its own files and the types of its contract with the server', () => {
  const page = join(root, 'console/page/');
  const wrong = local.filter(({ from, to, typeOnly }) => {
    const isContract = to === join(root, 'console/api.ts') && typeOnly;
    return from.startsWith(page) !== to.startsWith(page) && !(from.startsWith(page) && isContract);
  });
  expect(wrong.map((each) => `${name(each.from)} -> ${name(each.to)}`)).toEqual([]);
  const packages = new Set(
    imports.filter(({ from, to }) => from.startsWith(page) && !to.startsWith('.')).map(({ to }) => to),
  );
  expect([...packages].sort()).toEqual(['@preact/signals', 'preact', 'preact/hooks', 'uplot']);
});

/** Groups of files that import each other, directly or through others, each as sorted names (Tarjan's algorithm). */
function circles(): string[] {
  const graph = new Map<string, string[]>();
  for (const { from, to } of local) graph.set(from, [...(graph.get(from) ?? []), to]);
  const found: string[] = [];
  const indexes = new Map<string, number>();
  const stack: string[] = [];
  /** Returns the lowest index that can be reached from a file within its group. */
  const visit = (file: string): number => {
    const index = indexes.size;
    indexes.set(file, index);
    stack.push(file);
    let lowest = index;
    for (const next of graph.get(file) ?? []) {
      if (!indexes.has(next)) lowest = Math.min(lowest, visit(next));
      else if (stack.includes(next)) lowest = Math.min(lowest, indexes.get(next) as number);
    }
    if (lowest === index) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1) found.push(group.map(name).sort().join(', '));
    }
    return lowest;
  };
  for (const file of files) if (!indexes.has(file)) visit(file);
  return found.sort();
}

test('no imports form a circle', () => {
  expect(circles()).toEqual([]);
});

/** The innermost folder with an index.ts that contains `to` and not `from`. */
function enteredFolder({ from, to }: Import): string | undefined {
  for (let at = dirname(to); at !== root; at = dirname(at)) {
    if (known.has(join(at, 'index.ts')) && !from.startsWith(`${at}/`)) return at;
  }
  return undefined;
}

test('a folder with an index.ts is imported through it, or through its interfaces in contract.ts', () => {
  const past = local.filter((each) => {
    const entered = enteredFolder(each);
    return entered !== undefined && each.to !== join(entered, 'index.ts') && each.to !== join(entered, 'contract.ts');
  });
  const listed = (to: string): string | undefined =>
    Object.keys(directImports).find((each) => name(to) === each || (each.endsWith('/') && name(to).startsWith(each)));
  const wrong = past.filter(({ to }) => listed(to) === undefined);
  expect(wrong.map((each) => `${name(each.from)} -> ${name(each.to)}`)).toEqual([]);
  const needed = new Set(past.map(({ to }) => listed(to)));
  expect(Object.keys(directImports).filter((each) => !needed.has(each))).toEqual([]);
});

test('protocol, schema and engine use web standards only', () => {
  const wrong = imports.filter((each) => webOnly.includes(folder(each.from)) && /^node:/.test(each.to));
  expect(wrong.map((each) => `${name(each.from)} imports ${each.to}`)).toEqual([]);
});

test('modules of Node.js that take long to import are loaded by common/builtins.ts', () => {
  const wrong = imports.filter((each) => /^node:(http|util)$/.test(each.to) && !each.typeOnly);
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

test('no revision date appears outside protocol/revisions, profiles and packs', () => {
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
