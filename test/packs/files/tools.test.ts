// The pack `files` over every transport and in both eras, and what its tools do.

import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../../src/engine/server.ts';
import { type FilesOptions, files } from '../../../src/packs/files/index.ts';
import { OwnFiles } from '../../../src/security/files/tree.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Message, TestClient } from '../../support/test-client.ts';
import { serveWires, statelessKinds, wireKinds } from '../../support/wires.ts';

let base = '';
let root = '';
const servers: Server[] = [];

beforeEach(() => {
  base = temporaryFolder();
  root = join(base, 'root');
  mkdirSync(join(root, 'docs/deep'), { recursive: true });
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'docs/b.md'), '# Title\n');
  writeFileSync(join(root, 'docs/deep/c.ts'), 'export const title = 1;\n');
  writeFileSync(join(base, 'secret.txt'), 'SECRET');
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(options: Partial<FilesOptions> = {}): Promise<Server> {
  const server = createServer({ name: 'files', version: '1.0.0' });
  servers.push(server);
  await server.use(files({ roots: [root], write: true, ...options }));
  return server;
}
const open = async (options: Partial<FilesOptions> = {}) => TestClient.open(await serve(options));

const text = ({ result }: Message): string => result.content[0].text;
const at = (name: string): string => join(root, name);
const reading = [
  ...['read_text_file', 'read_media_file', 'read_multiple_files', 'list_directory', 'list_directory_with_sizes'],
  ...['directory_tree', 'get_file_info', 'list_allowed_directories', 'search_files', 'search_text'],
];
const writing = ['write_file', 'edit_file', 'create_directory', 'move_file', 'delete_file'];

describe.each(wireKinds)('over %s', (kind) => {
  const eras = statelessKinds.includes(kind) ? (['session', 'stateless'] as const) : (['session'] as const);
  test.each(eras)('files are read, searched, edited and deleted by a %s request', async (era) => {
    const wires = await serveWires(await serve());
    try {
      const wire = await wires.connect(kind);
      const call = async (name: string, args: object) => {
        const params = { name, arguments: args };
        const { result } = await (era === 'session'
          ? wire.request('tools/call', params)
          : wire.stateless('tools/call', params));
        expect(result?.isError, result?.content?.[0]?.text).not.toBe(true);
        return result;
      };
      expect((await call('read_text_file', { path: at('a.txt'), tail: 1 })).content).toEqual([
        { type: 'text', text: 'three' },
      ]);
      expect((await call('search_text', { path: root, text: 'title' })).content[0].text).toContain('c.ts:1:');
      await call('write_file', { path: at('new.txt'), content: 'old line\n' });
      const edits = [{ oldText: 'old', newText: 'new' }];
      expect((await call('edit_file', { path: at('new.txt'), edits })).content[0].text).toContain(
        '-old line\n+new line',
      );
      await call('move_file', { source: at('new.txt'), destination: at('docs/moved.txt') });
      expect(readFileSync(at('docs/moved.txt'), 'utf8')).toBe('new line\n');
      await call('delete_file', { path: at('docs/moved.txt') });
      expect(existsSync(at('docs/moved.txt'))).toBe(false);
    } finally {
      await wires.close();
    }
  });
});

test('tools that change files exist only where writing is allowed; hints and schemas say what each does', async () => {
  const list = async (options: Partial<FilesOptions>) => {
    const { result } = await (await open(options)).request('tools/list');
    return result.tools as { name: string; annotations: object; outputSchema?: object }[];
  };
  expect((await list({ write: false })).map(({ name }) => name)).toEqual(reading);
  expect((await list({ write: [] })).map(({ name }) => name)).toEqual(reading);
  const all = await list({ write: [root] });
  expect(all.map(({ name }) => name)).toEqual([...reading, ...writing]);
  for (const { name, annotations, outputSchema } of all) {
    expect(annotations).toMatchObject({ readOnlyHint: reading.includes(name), openWorldHint: false });
    if (name !== 'read_media_file') expect(outputSchema).toBeDefined();
  }
  const destructive = all.filter(({ annotations }) => 'destructiveHint' in annotations && annotations.destructiveHint);
  expect(destructive.map(({ name }) => name)).toEqual(['write_file', 'edit_file', 'move_file', 'delete_file']);
});

test('text is read whole or by lines, and binary files are left to read_media_file', async () => {
  const client = await open();
  const read = async (args: object) => text(await client.call('read_text_file', args));
  expect(await read({ path: 'a.txt' })).toBe('one\ntwo\nthree\n');
  expect(await read({ path: pathToFileURL(at('a.txt')).href, head: 1 })).toBe('one');
  expect(await read({ path: at('a.txt'), from: 2, head: 1 })).toBe('two');
  expect(await read({ path: at('a.txt'), tail: 2 })).toBe('two\nthree');
  expect(await read({ path: at('a.txt'), head: 1, tail: 1 })).toBe('Give either tail, or head and from.');
  writeFileSync(at('latin1.txt'), Buffer.from('Gr\xfc\xdfe', 'latin1'));
  expect(await read({ path: at('latin1.txt') })).toBe('Gr\uFFFD\uFFFDe');
  writeFileSync(at('x.png'), Buffer.from([0x89, 0x50, 0, 1]));
  expect(await read({ path: at('x.png') })).toBe(`Not a text file: ${at('x.png')}. Read it with read_media_file.`);
});

test('images and audio are content of their kind, other files are resources', async () => {
  const client = await open();
  const bytes = Buffer.from([0, 1, 2, 255]);
  const data = bytes.toString('base64');
  for (const name of ['i.png', 's.wav', 'b.bin', 'd.pdf']) writeFileSync(at(name), bytes);
  const media = async (name: string) => (await client.call('read_media_file', { path: at(name) })).result.content[0];
  expect(await media('i.png')).toEqual({ type: 'image', data, mimeType: 'image/png' });
  expect(await media('s.wav')).toEqual({ type: 'audio', data, mimeType: 'audio/wav' });
  const resource = (name: string, mimeType: string) => ({
    type: 'resource',
    resource: { uri: pathToFileURL(at(name)).href, mimeType, blob: data },
  });
  expect(await media('b.bin')).toEqual(resource('b.bin', 'application/octet-stream'));
  expect(await media('d.pdf')).toEqual(resource('d.pdf', 'application/pdf'));
});

test('several files are read together, within one limit; what fails is reported', async () => {
  const client = await open({ maxReadBytes: 20 });
  const { result } = await client.call('read_multiple_files', {
    paths: [at('a.txt'), at('nothing'), at('docs/b.md'), at('docs/deep/c.ts')],
  });
  expect(result.structuredContent.files).toEqual([
    { path: at('a.txt'), content: 'one\ntwo\nthree\n' },
    { path: at('nothing'), error: `File not found: ${at('nothing')}` },
    { path: at('docs/b.md'), error: 'The response would be too large. Read this file separately.' },
    { path: at('docs/deep/c.ts'), error: 'The response would be too large. Read this file separately.' },
  ]);
  expect(result.content[0].text).toContain(`${at('a.txt')}:\none\ntwo\nthree\n\n\n---\n${at('nothing')}: Error - `);
});

test('directories are listed with sizes, and as a tree', async () => {
  const client = await open();
  const listed = await client.call('list_directory', { path: root });
  expect(text(listed)).toBe('[FILE] a.txt\n[DIR] docs');
  expect(listed.result.structuredContent).toEqual({
    entries: [
      { name: 'a.txt', type: 'file' },
      { name: 'docs', type: 'directory' },
    ],
    truncated: false,
  });
  writeFileSync(at('big.txt'), 'x'.repeat(1536));
  const sized = await client.call('list_directory_with_sizes', { path: root, sortBy: 'size' });
  expect(text(sized).split('\n')).toEqual([
    `[FILE] big.txt${' '.repeat(27)}1.50 KB`,
    `[FILE] a.txt${' '.repeat(32)}14 B`,
    '[DIR] docs',
    '',
    'Total: 2 files, 1 directories',
    'Combined size: 1.51 KB',
  ]);
  const tree = await client.call('directory_tree', { path: root, excludePatterns: ['deep', '*.txt'] });
  const expected = [{ name: 'docs', type: 'directory', children: [{ name: 'b.md', type: 'file' }] }];
  expect(JSON.parse(text(tree))).toEqual(expected);
  expect(tree.result.structuredContent).toEqual({ tree: expected, truncated: false });
  const cut = await (await open({ maxEntries: 1 })).call('list_directory', { path: root });
  expect(cut.result.structuredContent.truncated).toBe(true);
  expect(text(cut)).toContain('the limit was reached');
});

test('files are found by name and by content', async () => {
  const client = await open();
  const found = await client.call('search_files', { path: root, pattern: '**/*.{md,ts}' });
  expect(text(found)).toBe(`${at('docs/b.md')}\n${at('docs/deep/c.ts')}`);
  expect(text(await client.call('search_files', { path: root, pattern: '*.md' }))).toBe('No matches found');
  const lines = await client.call('search_text', { path: root, text: 'title', ignoreCase: true });
  expect(lines.result.structuredContent).toEqual({
    matches: [
      { path: at('docs/b.md'), line: 1, text: '# Title' },
      { path: at('docs/deep/c.ts'), line: 1, text: 'export const title = 1;' },
    ],
    filesRead: 3,
    filesSkipped: 0,
    truncated: false,
  });
  expect(text(await client.call('search_text', { path: root, text: 'nowhere' }))).toBe('No matches found');
});

test('facts of a file, and the directories that can be used', async () => {
  const client = await open({ write: [at('docs')] });
  const { result } = await client.call('get_file_info', { path: at('a.txt') });
  expect(result.structuredContent).toMatchObject({ path: at('a.txt'), type: 'file', size: 14 });
  expect(Date.now() - Date.parse(result.structuredContent.modified)).toBeLessThan(600_000);
  const allowed = await client.call('list_allowed_directories');
  expect(text(allowed)).toBe(`Allowed directories:\n${root}`);
  expect(allowed.result.structuredContent).toEqual({ directories: [root], writable: [at('docs')] });
});

test('a dry run changes nothing, and an edit that does not fit says what to do', async () => {
  const client = await open();
  const edit = (edits: object[], dryRun = false) => client.call('edit_file', { path: at('a.txt'), edits, dryRun });
  const dry = await edit([{ oldText: 'two', newText: '2' }], true);
  expect(dry.result.structuredContent).toMatchObject({ changed: false, diff: expect.stringContaining('-two\n+2') });
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  const failed = await edit([
    { oldText: 'one', newText: '1' },
    { oldText: 'four', newText: '4' },
  ]);
  expect(failed.result.isError).toBe(true);
  expect(text(failed)).toContain('Edit 2: oldText was not found. Read the file again');
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  await edit([{ oldText: 'e', newText: 'E', replaceAll: true }]);
  expect(readFileSync(at('a.txt'), 'utf8')).toBe('onE\ntwo\nthrEE\n');
});

test('errors of file tools are results that say what to do', async () => {
  const client = await open({ maxReadBytes: 5, write: [at('docs')] });
  const error = async (name: string, args: object) => {
    const { result } = await client.call(name, args);
    expect(result.isError).toBe(true);
    return result.content[0].text as string;
  };
  expect(await error('read_text_file', { path: at('nothing') })).toContain('see list_allowed_directories');
  expect(await error('read_text_file', { path: at('a.txt') })).toContain('Read a part of it: head, tail');
  expect(await error('read_text_file', { path: at('docs') })).toBe(`Not a file: ${at('docs')}`);
  expect(await error('write_file', { path: at('docs/x/y'), content: '' })).toContain('use create_directory first');
  expect(await error('write_file', { path: at('x'), content: '' })).toContain('Read-only');
  expect(await error('move_file', { source: at('docs/b.md'), destination: at('docs/deep') })).toContain(
    'Already exists',
  );
  expect(await error('delete_file', { path: at('docs') })).toContain('not empty');
  expect(await error('search_files', { path: root, pattern: '{a,b}'.repeat(9) })).toContain('more than 64');
});

test('no argument of a file tool leads out of the folders: .., links, hard links, own files, /proc', async () => {
  symlinkSync(join(base, 'secret.txt'), at('link.txt'));
  symlinkSync(base, at('up'));
  linkSync(join(base, 'secret.txt'), at('hard.txt'));
  mkdirSync(at('data'));
  writeFileSync(at('data/mooring.db'), 'SECRET');
  const client = await open({ own: new OwnFiles({ folders: [at('data')] }) });
  const paths = [
    ...[join(base, 'secret.txt'), `${root}/../secret.txt`, '../secret.txt', at('link.txt'), at('up/secret.txt')],
    ...[at('hard.txt'), at('data/mooring.db'), at('data'), '/proc/self/environ', '/etc/passwd', '~/.ssh/id_rsa'],
    ...[`file://${root}/%2e%2e/secret.txt`, `${root}/docs\0/../../secret.txt`, '/'],
  ];
  const edits = [{ oldText: 'SECRET', newText: 'changed' }];
  for (const path of paths) {
    const calls: Record<string, object> = {
      ...Object.fromEntries(reading.map((name) => [name, { path }])),
      read_multiple_files: { paths: [path] },
      search_files: { path, pattern: '**/*' },
      search_text: { path, text: 'SECRET' },
      edit_file: { path, edits },
      create_directory: { path: `${path}/made` },
      move_file: { source: path, destination: at('moved') },
      delete_file: { path },
    };
    delete calls['list_allowed_directories'];
    for (const [name, args] of Object.entries(calls)) {
      const { result } = await client.call(name, args);
      if (name !== 'read_multiple_files') expect(result.isError, `${name} ${path}`).toBe(true);
      expect(JSON.stringify(result)).not.toContain('"SECRET');
    }
    if (path === at('hard.txt')) continue;
    const { result } = await client.call('move_file', { source: at('a.txt'), destination: path });
    expect(result.isError, `move to ${path}`).toBe(true);
    const written = await client.call('write_file', { path, content: 'changed' });
    expect(written.result.isError, `write ${path}`).toBe(true);
  }
  expect(readFileSync(join(base, 'secret.txt'), 'utf8')).toBe('SECRET');
  expect(readFileSync(at('data/mooring.db'), 'utf8')).toBe('SECRET');
  expect(readFileSync(at('a.txt'), 'utf8')).toContain('one');
  const everything = text(await client.call('directory_tree', { path: root }));
  for (const name of ['secret', 'data', 'hard.txt', 'link.txt']) expect(everything).not.toContain(name);
});

test('a huge file does not fill the memory: it is not read whole by any tool', async () => {
  truncateSync(at('a.txt'), 8 * 1024 ** 3);
  const client = await open();
  const before = process.memoryUsage().rss;
  for (const [name, args] of Object.entries({
    read_text_file: { path: at('a.txt') },
    read_media_file: { path: at('a.txt') },
    edit_file: { path: at('a.txt'), edits: [{ oldText: 'one', newText: '1' }] },
  })) {
    const { result } = await client.call(name, args);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain('larger than the limit');
  }
  expect(text(await client.call('read_text_file', { path: at('a.txt'), head: 2 }))).toBe('one\ntwo');
  expect((await client.call('search_text', { path: root, text: 'one' })).result.structuredContent).toMatchObject({
    filesSkipped: 1,
    truncated: false,
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

test("access is narrowed to the client's roots, or not, as configured", async () => {
  const inside = { roots: [{ uri: pathToFileURL(at('docs')).href }] };
  const openWithRoots = async (options: Partial<FilesOptions>) => {
    const client = await TestClient.open(await serve(options), '2025-11-25', { roots: { listChanged: true } });
    const read = client.call('read_text_file', { path: at('a.txt') });
    if (options.clientRoots !== 'ignore') {
      const request = await client.next((each) => each.method === 'roots/list');
      client.send({ jsonrpc: '2.0', id: request.id, result: inside });
    }
    return { client, read: await read };
  };
  const bound = await openWithRoots({});
  expect(bound.read.result.isError).toBe(true);
  expect(text(await bound.client.call('list_allowed_directories'))).toBe(`Allowed directories:\n${at('docs')}`);
  expect((await openWithRoots({ clientRoots: 'ignore' })).read.result.isError).toBeUndefined();
});

test('a folder that does not exist is an error at registration', async () => {
  const server = createServer({ name: 'files', version: '1.0.0' });
  await expect(async () => server.use(files({ roots: [join(base, 'missing')] }))).rejects.toThrow('Cannot use root');
});
