// Writes docs/reference/api/ from the types: one page per entry point, every export with its comment and declaration.
// TypeDoc would be the usual tool; it needs the JavaScript API of TypeScript 6 and older, which TypeScript 7 does not have.
// Declarations come from tsc, and are parsed by the parser of the bundler.
//
//   node scripts/api-docs.mjs [--outdir DIR] [--types DIR]
//
// --types: declarations that tsc has written already, such as those of a build.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseSync } from 'rolldown/utils';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const { values } = parseArgs({ options: { outdir: { type: 'string' }, types: { type: 'string' } } });
const outdir = resolve(values.outdir ?? join(root, 'docs/reference/api'));
const types = values.types ?? mkdtempSync(join(tmpdir(), 'mooring-types-'));

/** Entry points by page; `module` is what a user imports. */
const packs = readdirSync(join(root, 'src/packs')).filter((name) =>
  existsSync(join(root, `src/packs/${name}/index.ts`)),
);
const pages = [
  { file: 'mooring.md', module: 'mooring', entry: 'index', about: 'servers, transports, the protocol model' },
  { file: 'client.md', module: 'mooring/client', entry: 'client/index', about: 'the client, signing in' },
  { file: 'gateway.md', module: 'mooring/gateway', entry: 'gateway/index', about: 'many servers behind one' },
  { file: 'console.md', module: 'mooring/console', entry: 'console/index', about: 'the page that shows traffic' },
  {
    file: 'security.md',
    module: 'mooring/security',
    entry: 'security/index',
    about: 'authentication, policy, limits, audit, sandbox, files, network',
  },
  {
    file: 'telemetry.md',
    module: 'mooring/telemetry',
    entry: 'telemetry/index',
    about: 'OpenTelemetry for servers and clients',
  },
  {
    file: 'stores-redis.md',
    module: 'mooring/stores/redis',
    entry: 'stores/redis/index',
    about: 'what processes on several machines share, in Redis or Valkey',
  },
  {
    file: 'stores-sqlite.md',
    module: 'mooring/stores/sqlite',
    entry: 'stores/sqlite/index',
    about: 'the data folder in SQLite',
  },
  ...packs.map((name) => ({
    file: `packs-${name}.md`,
    module: `mooring/packs/${name}`,
    entry: `packs/${name}/index`,
    about: `the pack \`${name}\``,
  })),
];

/** @typedef {{ name: string, kind: string, doc: string | undefined, texts: string[], refs: Set<string>, file: string }} Item */

/** @type {Map<string, ReturnType<typeof readModule>>} */
const modules = new Map();

/** What a declaration file declares, imports and exports. */
function readModule(file) {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(file, 'utf8');
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  /** @type {Map<string, Item>} */
  const declared = new Map();
  /** Local name to where it comes from. */
  const imported = new Map();
  /** Exported name to a local name, or to a name of another file. */
  const exported = new Map();
  const stars = [];
  const module = { declared, imported, exported, stars };
  modules.set(file, module);

  const declare = (node, start) => {
    const names =
      node.type === 'VariableDeclaration'
        ? node.declarations.map(({ id }) => id.name)
        : [node.id?.name].filter(Boolean);
    const doc = comments.findLast(
      (each) => each.end <= start && each.value.startsWith('*') && source.slice(each.end, start).trim() === '',
    )?.value;
    for (const name of names) {
      const item = declared.get(name) ?? { name, kind: node.type, doc: undefined, texts: [], refs: new Set(), file };
      item.doc ??= doc;
      item.texts.push(source.slice(node.start, node.end));
      collectReferences(node, item.refs);
      declared.set(name, item);
    }
    return names;
  };

  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      for (const { local, imported: original } of node.specifiers) {
        imported.set(local.name, { from: node.source.value, name: original?.name ?? 'default' });
      }
    } else if (node.type === 'ExportAllDeclaration') {
      stars.push({ from: node.source.value, typeOnly: node.exportKind === 'type' });
    } else if (node.type === 'ExportNamedDeclaration') {
      const wholeTypeOnly = node.exportKind === 'type' && node.declaration === null;
      if (node.declaration !== null) {
        for (const name of declare(node.declaration, node.start)) exported.set(name, { name });
      }
      for (const { local, exported: name, exportKind } of node.specifiers) {
        const typeOnly = wholeTypeOnly || exportKind === 'type';
        exported.set(name.name, { from: node.source?.value, name: local.name, typeOnly });
      }
    } else if ('id' in node || node.type === 'VariableDeclaration') declare(node, node.start);
  }
  return module;
}

/** Names of types that a declaration mentions. */
function collectReferences(node, into) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'TSTypeReference' && node.typeName.type === 'Identifier') into.add(node.typeName.name);
  if (node.type === 'TSInterfaceHeritage' || node.type === 'TSClassImplements') into.add(node.expression?.name);
  if (node.type === 'ClassDeclaration' && node.superClass?.type === 'Identifier') into.add(node.superClass.name);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const each of value) collectReferences(each, into);
    else if (typeof value === 'object') collectReferences(value, into);
  }
}

const fileOf = (specifier, from) => resolve(dirname(from), specifier.replace(/\.ts$/, '.d.ts'));

/** The declaration behind a name of a file, through re-exports and imports; undefined for names of other packages. */
function find(name, file) {
  const { declared, imported, exported, stars } = readModule(file);
  const own = declared.get(name);
  if (own !== undefined) return own;
  const link = exported.get(name);
  const source = link?.from === undefined ? imported.get(link?.name ?? name) : link;
  if (source !== undefined)
    return source.from.startsWith('.') ? find(source.name, fileOf(source.from, file)) : undefined;
  if (link !== undefined && link.name !== name) return find(link.name, file);
  for (const { from } of stars) {
    const found = find(name, fileOf(from, file));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Everything a file exports: public name to declaration, and whether only its type is exported. */
function exportsOf(file) {
  const { exported, stars, imported } = readModule(file);
  const all = new Map();
  for (const { from, typeOnly } of stars) {
    for (const [name, { item, isType }] of exportsOf(fileOf(from, file))) {
      // The type of a constant is not exported by `export type *` in a way that anyone could use.
      if (!typeOnly || isType || item.kind === 'ClassDeclaration') all.set(name, { item, isType: isType || typeOnly });
    }
  }
  for (const [name, { from, name: local, typeOnly = false }] of exported) {
    const item = from === undefined ? find(local, file) : find(local, fileOf(from, file));
    if (item === undefined) throw new Error(`${file}: ${name} comes from ${imported.get(local)?.from ?? from}`);
    all.set(name, { item, isType: typeOnly || isTypeDeclaration(item) });
  }
  return all;
}

const isTypeDeclaration = ({ kind }) => kind === 'TSInterfaceDeclaration' || kind === 'TSTypeAliasDeclaration';

/**
 * Types that no page exports, but that exported declarations mention: a reader wants to see them. What those mention in
 * turn is left out; it soon leads into the inside of the engine.
 */
function hiddenTypes(items, isShown) {
  const found = new Set();
  for (const { item } of items.values()) {
    for (const name of item.refs) {
      const other = find(name, item.file);
      if (other !== undefined && isTypeDeclaration(other) && !isShown(other)) found.add(other);
    }
  }
  return [...found].map((item) => ({ name: item.name, item }));
}

/** A comment without its stars: paragraphs, then what `@example` shows. */
function describe(doc) {
  if (doc === undefined) return { text: '', example: '' };
  const lines = doc
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd());
  const [text = '', example = ''] = lines.join('\n').split(/^\s*@example\s*$/m);
  return { text: text.trim(), example: example.trim() };
}

/** A declaration as a user would read it: no `declare`, no private members, two spaces. */
function print(text) {
  return text
    .replace(/^declare /, '')
    .replace(/^ {4}(?:#private|private [^;{]*);\n/gm, '')
    .replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
}

function section(name, item, links) {
  const { text, example } = describe(item.doc);
  const seen = [...item.refs]
    .map((each) => [each, links(each, item)])
    .filter(([each, link]) => link !== undefined && each !== name)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([each, link]) => `[\`${each}\`](${link})`);
  return [
    `### ${name}`,
    text,
    `\`\`\`typescript\n${item.texts.map(print).join('\n')}\n\`\`\``,
    example === '' ? '' : `Example:\n\n\`\`\`typescript\n${example}\n\`\`\``,
    seen.length === 0 ? '' : `See ${seen.join(', ')}.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

try {
  if (values.types === undefined) {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', types], {
      stdio: 'inherit',
    });
  }
  const entries = pages.map((page) => ({ ...page, items: exportsOf(join(types, `${page.entry}.d.ts`)) }));
  const sorted = (members) => members.sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
  const exportedItems = new Set(entries.flatMap(({ items }) => [...items.values()].map(({ item }) => item)));
  for (const entry of entries) {
    const all = [...entry.items].map(([name, each]) => ({ name, ...each }));
    entry.groups = [
      ['Functions, classes and values', sorted(all.filter(({ isType }) => !isType))],
      ['Types', sorted(all.filter(({ isType }) => isType))],
      ['Types that are not exported', sorted(hiddenTypes(entry.items, (item) => exportedItems.has(item)))],
    ].filter(([, members]) => members.length > 0);
    // Two headings that differ in case alone get the same anchor; the second one is counted, as web pages do.
    const used = new Map();
    entry.anchors = new Map();
    for (const { name, item } of entry.groups.flatMap(([, members]) => members)) {
      const count = used.get(name.toLowerCase()) ?? 0;
      used.set(name.toLowerCase(), count + 1);
      entry.anchors.set(item, `#${name.toLowerCase()}${count === 0 ? '' : `-${count}`}`);
    }
  }

  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  for (const { file, module, groups, anchors } of entries) {
    const links = (name, from) => {
      const item = find(name, from.file);
      const other = entries.find((each) => each.anchors.has(item));
      return anchors.get(item) ?? (other === undefined ? undefined : `${other.file}${other.anchors.get(item)}`);
    };
    const contents = ([title, members]) =>
      `**${title}:** ${members.map(({ name, item }) => `[${name}](${anchors.get(item)})`).join(', ')}`;
    const parts = [
      `# \`${module}\``,
      '<!-- Written by `npm run docs:api` from the types. Change the comments in src/ instead. -->',
      ...groups.map(contents),
      ...groups.flatMap(([title, members]) => [
        `## ${title}`,
        ...members.map(({ name, item }) => section(name, item, links)),
      ]),
    ];
    writeFileSync(join(outdir, file), `${parts.join('\n\n')}\n`);
  }
  const rows = pages.map(({ file, module, about }) => `| [\`${module}\`](${file}) | ${about} |`);
  const index = [
    '# API reference',
    '<!-- Written by `npm run docs:api`. -->',
    'What each entry point of the package exports, with its types. How to use it: the [guides](../../README.md#guides).',
    ['| import from | what |', '| --- | --- |', ...rows].join('\n'),
  ];
  writeFileSync(join(outdir, 'README.md'), `${index.join('\n\n')}\n`);
} finally {
  if (values.types === undefined) rmSync(types, { recursive: true, force: true });
}
