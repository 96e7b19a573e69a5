// examples/filesystem.mjs and the official filesystem server side by side: the same tools, and the same results.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/index.ts';

const require = createRequire(import.meta.url);
const officialFolder = join(dirname(require.resolve('@modelcontextprotocol/server-filesystem/package.json')), 'dist');
const example = resolve(import.meta.dirname, '../../examples/filesystem.mjs');

/** The two servers, each with a copy of the same folder. */
const servers = ['official', 'example'] as const;
type Name = (typeof servers)[number];

let base = '';
const clients = {} as Record<Name, Client>;
const folder = (name: Name): string => join(base, name, 'files');

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'filesystem-'));
  const files = folder('official');
  mkdirSync(join(files, 'docs/deep'), { recursive: true });
  mkdirSync(join(files, 'empty'));
  writeFileSync(join(files, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(files, 'windows.txt'), 'one\r\ntwo\r\n');
  writeFileSync(join(files, 'code.js'), 'function f() {\n    if (x) {\n        return 1;\n    }\n}\n');
  writeFileSync(join(files, 'latin1.txt'), Buffer.from('Gr\xfc\xdfe', 'latin1'));
  writeFileSync(join(files, 'docs/b.md'), `# Title\n${'text '.repeat(500)}\n`);
  writeFileSync(join(files, 'docs/deep/c.ts'), 'export {};');
  for (const name of ['i.png', 's.WAV', 'x.bin']) writeFileSync(join(files, name), Buffer.from([0, 1, 2, 255]));
  cpSync(files, folder('example'), { recursive: true, preserveTimestamps: true });
  clients.official = await connect([process.execPath, join(officialFolder, 'index.js'), folder('official')]);
  clients.example = await connect([process.execPath, example, folder('example')]);
});
afterAll(async () => {
  for (const client of Object.values(clients)) await client.close();
  rmSync(base, { recursive: true, force: true });
});

test('the example has at most half the lines of the official sources', () => {
  const count = (file: string): number => readFileSync(file, 'utf8').trimEnd().split('\n').length;
  // What is published is compiled: it has fewer lines than the sources, without types and blank lines.
  const official = readdirSync(officialFolder).filter((file) => file.endsWith('.js'));
  const lines = official.reduce((sum, file) => sum + count(join(officialFolder, file)), 0);
  expect(count(example)).toBeLessThanOrEqual(lines / 2);
});

test('the tools have the same names, titles, arguments, results and hints', async () => {
  const listed = async (name: Name) => {
    const tools = await clients[name].listTools();
    return tools
      .map(({ name, title, annotations, inputSchema, outputSchema }) => ({
        ...{ name, title, annotations },
        input: shapeOf(inputSchema),
        output: shapeOf(outputSchema),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const example = await listed('example');
  expect(example).toHaveLength(14);
  expect(example).toEqual(await listed('official'));
});

/** A schema without descriptions, and without the names of its dialect. */
function shapeOf(schema: unknown): unknown {
  const dropped = ['description', '$schema', 'additionalProperties'];
  return JSON.parse(JSON.stringify(schema ?? null), (key, value) => (dropped.includes(key) ? undefined : value));
}

/** Calls a tool on both servers; `DIR` in arguments and results stands for the folder of each. */
async function callBoth(tool: string, args: object) {
  const [official, example] = await Promise.all(
    servers.map(async (name) => {
      const given = JSON.parse(JSON.stringify(args).replaceAll('DIR', folder(name)));
      const { content, structuredContent, isError } = await clients[name].callTool(tool, given);
      return JSON.parse(
        JSON.stringify({ content, structuredContent, isError: isError === true }).replaceAll(folder(name), 'DIR'),
      );
    }),
  );
  return { official, example };
}

test.each([
  ['read_file', { path: 'DIR/a.txt' }],
  ['read_text_file', { path: 'DIR/a.txt' }],
  ['read_text_file', { path: 'DIR/a.txt', head: 2 }],
  ['read_text_file', { path: 'DIR/a.txt', head: 20 }],
  ['read_text_file', { path: 'DIR/a.txt', tail: 2 }],
  ['read_text_file', { path: 'DIR/a.txt', tail: 20 }],
  ['read_text_file', { path: 'DIR/windows.txt', tail: 2 }],
  ['read_text_file', { path: 'DIR/windows.txt', head: 1 }],
  ['read_text_file', { path: 'DIR/latin1.txt' }],
  ['read_text_file', { path: 'a.txt' }],
  ['read_media_file', { path: 'DIR/i.png' }],
  ['read_media_file', { path: 'DIR/s.WAV' }],
  ['read_media_file', { path: 'DIR/x.bin' }],
  ['read_multiple_files', { paths: ['DIR/a.txt', 'DIR/docs/b.md'] }],
  ['list_directory_with_sizes', { path: 'DIR' }],
  ['list_directory_with_sizes', { path: 'DIR/docs/deep', sortBy: 'size' }],
  ['list_allowed_directories', {}],
  ['search_files', { path: 'DIR', pattern: '*.md' }],
  ['search_files', { path: 'DIR', pattern: '**/*.md' }],
  ['search_files', { path: 'DIR/docs', pattern: '**/*.ts', excludePatterns: ['b.md'] }],
  ['write_file', { path: 'DIR/new.txt', content: 'alpha\nbeta\n' }],
  ['write_file', { path: 'DIR/new.txt', content: 'alpha\nbeta\ngamma\n' }],
  ['edit_file', { path: 'DIR/new.txt', edits: [{ oldText: 'beta', newText: 'BETA' }], dryRun: true }],
  ['edit_file', { path: 'DIR/new.txt', edits: [{ oldText: 'beta', newText: '$& `````' }] }],
  [
    'edit_file',
    { path: 'DIR/code.js', edits: [{ oldText: 'if (x) {\n  return 1;\n}', newText: 'if (y) {\n    return 2;\n}' }] },
  ],
  ['edit_file', { path: 'DIR/windows.txt', edits: [{ oldText: 'one\ntwo', newText: '1\n2' }] }],
  ['read_text_file', { path: 'DIR/code.js' }],
  ['read_text_file', { path: 'DIR/windows.txt' }],
  ['create_directory', { path: 'DIR/made/below' }],
  ['create_directory', { path: 'DIR/made/below' }],
  ['move_file', { source: 'DIR/new.txt', destination: 'DIR/made/moved.txt' }],
  ['read_text_file', { path: 'DIR/made/moved.txt' }],
])('%s %j has the same result', async (tool, args) => {
  const { official, example } = await callBoth(tool, args);
  expect(official.isError).toBe(false);
  expect(example).toEqual(official);
});

test.each([
  ['list_directory', { path: 'DIR' }],
  ['search_files', { path: 'DIR', pattern: '**/*' }],
])('%s %j has the same lines; their order is that of the disk', async (tool, args) => {
  const { official, example } = await callBoth(tool, args);
  const lines = ({ structuredContent }: typeof official) => structuredContent.content.split('\n').sort();
  expect(lines(example)).toEqual(lines(official));
});

test.each([{ path: 'DIR' }, { path: 'DIR', excludePatterns: ['deep', '*.txt'] }])(
  'directory_tree %j has the same entries',
  async (args) => {
    const sorted = (text: string) =>
      JSON.parse(text, (_key, value) =>
        Array.isArray(value) ? value.sort((a, b) => (a.name < b.name ? -1 : 1)) : value,
      );
    const { official, example } = await callBoth('directory_tree', args);
    expect(sorted(example.content[0].text)).toEqual(sorted(official.content[0].text));
  },
);

test('get_file_info has the same facts', async () => {
  const { official, example } = await callBoth('get_file_info', { path: 'DIR/docs/b.md' });
  // Times of creation and access are those of each copy.
  const facts = ({ content }: typeof official) => content[0].text.replace(/(created|accessed): .*/g, '$1: TIME');
  expect(facts(example)).toBe(facts(official));
  expect(facts(example)).toMatch(/size: \d+\ncreated: TIME\nmodified: .*\naccessed: TIME\nisDirectory: false/);
});

test.each([
  ['read_text_file', { path: 'DIR/nothing' }],
  ['read_text_file', { path: 'DIR/a.txt', head: 1, tail: 1 }],
  ['read_text_file', { path: '/etc/passwd' }],
  ['read_text_file', { path: 'DIR/../../secret' }],
  ['list_directory', { path: 'DIR/a.txt' }],
  ['write_file', { path: 'DIR/no/such/folder.txt', content: '' }],
  ['write_file', { path: '/etc/new', content: '' }],
  ['edit_file', { path: 'DIR/a.txt', edits: [{ oldText: 'nowhere', newText: '' }] }],
  ['move_file', { source: 'DIR/a.txt', destination: 'DIR/docs/b.md' }],
  ['move_file', { source: 'DIR/nothing', destination: 'DIR/x' }],
])('%s %j fails on both', async (tool, args) => {
  const { official, example } = await callBoth(tool, args);
  expect([official.isError, example.isError]).toEqual([true, true]);
});

test('the roots of a client replace the folders of the command line', async () => {
  const commands = { official: join(officialFolder, 'index.js'), example };
  for (const name of servers) {
    const docs = join(folder(name), 'docs');
    const client = await connect([process.execPath, commands[name], folder(name)], {
      handlers: { roots: [{ uri: pathToFileURL(docs).href }] },
    });
    // The official server asks for the roots once it is connected, and uses them as soon as it has them.
    const allowed = async () => (await client.callTool('list_allowed_directories')).structuredContent;
    await expect.poll(allowed).toEqual({ content: `Allowed directories:\n${docs}` });
    expect((await client.callTool('read_text_file', { path: join(folder(name), 'a.txt') })).isError).toBe(true);
    expect((await client.callTool('read_text_file', { path: join(docs, 'b.md'), head: 1 })).isError).not.toBe(true);
    await client.close();
  }
});
