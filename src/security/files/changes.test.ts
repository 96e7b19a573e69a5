// What a tree can find and change: lines, searches, edits, directories, moves and removals, and what all of it leaves alone.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { checkedPathAccess, procPathAccess } from './path-access.ts';
import { type FileError, OwnFiles, openRoots, type TreeOptions } from './tree.ts';

let base: string;
let root: string;

beforeEach(() => {
  base = temporaryFolder();
  root = join(base, 'root');
  mkdirSync(join(root, 'sub/deep'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(root, 'sub/b.md'), '# Two\n');
  writeFileSync(join(base, 'outside/secret.txt'), 'SECRET');
});

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => expect.fail(`expected an error, got ${JSON.stringify(value)}`),
    (error: FileError) => error.code ?? error,
  );

describe.each([
  ['proc', procPathAccess],
  ['checked', checkedPathAccess],
] as const)('with %s path access', (_name, access) => {
  const open = (options: TreeOptions = {}) => openRoots([root], { access, writable: true, ...options });

  test('lines are read from the start, from a line on, and from the end', async () => {
    const read = async (options: object) => (await open().readLines('a.txt', options)).toString();
    expect(await read({ head: 2 })).toBe('one\ntwo');
    expect(await read({ head: 9 })).toBe('one\ntwo\nthree');
    expect(await read({ from: 2 })).toBe('two\nthree');
    expect(await read({ from: 2, head: 1 })).toBe('two');
    expect(await read({ from: 9 })).toBe('');
    expect(await read({ tail: 1 })).toBe('three');
    expect(await read({ tail: 2 })).toBe('two\nthree');
    expect(await read({ tail: 9 })).toBe('one\ntwo\nthree');
    writeFileSync(join(root, 'empty'), '');
    expect((await open().readLines('empty', { tail: 2 })).toString()).toBe('');
  });

  test('lines of a file that is longer than a chunk are exact at its borders', async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index} ${'ä'.repeat(index % 7)}`);
    writeFileSync(join(root, 'long'), lines.join('\n'));
    const read = async (options: object) => (await open().readLines('long', options)).toString();
    for (const count of [1, 4_000, 12_345, 29_999]) {
      expect(await read({ head: count })).toBe(lines.slice(0, count).join('\n'));
      expect(await read({ tail: count })).toBe(lines.slice(-count).join('\n'));
      expect(await read({ from: count, head: 3 })).toBe(lines.slice(count - 1, count + 2).join('\n'));
    }
  });

  test('a huge file is not read whole: its first and last lines are, within the limit', async () => {
    writeFileSync(join(root, 'huge'), 'first\nsecond\n');
    truncateSync(join(root, 'huge'), 64 * 1024 ** 3); // Sparse: takes no space on the disk.
    expect((await open().readLines('huge', { head: 1 })).toString()).toBe('first');
    expect(await code(open().readFile('huge'))).toBe('FILE_TOO_LARGE');
    expect(await code(open().readLines('huge', { tail: 1 }))).toBe('FILE_TOO_LARGE');
    expect(await code(open().readLines('huge', { from: 4 }))).toBe('FILE_TOO_LARGE');
    expect(await open().searchText('.', 'one')).toMatchObject({
      matches: [{ line: 1 }],
      filesRead: 2,
      filesSkipped: 1,
      truncated: false,
    });
  });

  test('files are found by name, at any depth', async () => {
    const find = async (pattern: string, options = {}) =>
      (await open().findFiles('.', pattern, options)).entries.map(({ path }) => path.slice(root.length + 1));
    expect(await find('*')).toEqual(['a.txt', 'sub']);
    expect(await find('**/*.{md,txt}')).toEqual(['a.txt', 'sub/b.md']);
    expect(await find('**/*', { exclude: ['deep'] })).toEqual(['a.txt', 'sub', 'sub/b.md']);
    expect(await find('**/*', { exclude: ['sub'] })).toEqual(['a.txt']);
    expect(await code(open().findFiles('.', ''))).toBe('FILE_BAD_PATTERN');
    expect(await code(open().findFiles('a.txt', '*'))).toBe('FILE_WRONG_KIND');
  });

  test('text is found in files, with line numbers; binary files and links that lead out are not read', async () => {
    writeFileSync(join(root, 'binary'), Buffer.from('two\0two'));
    symlinkSync(join(base, 'outside'), join(root, 'out'));
    symlinkSync(join(base, 'outside/secret.txt'), join(root, 'link.txt'));
    const search = async (text: string, options = {}) => {
      const { matches } = await open().searchText('.', text, options);
      return matches.map(({ path, line, text: found }) => `${path.slice(root.length + 1)}:${line}: ${found}`);
    };
    expect(await search('two')).toEqual(['a.txt:2: two']);
    expect(await search('two', { ignoreCase: true })).toEqual(['a.txt:2: two', 'sub/b.md:1: # Two']);
    expect(await search('two', { ignoreCase: true, include: '**/*.md' })).toEqual(['sub/b.md:1: # Two']);
    expect(await search('SECRET')).toEqual([]);
    expect(await open().searchText('a.txt', 'e', { maxMatches: 1 })).toMatchObject({
      matches: [{ line: 1 }],
      truncated: true,
    });
    expect(await code(open().searchText('.', ''))).toBe('FILE_BAD_PATTERN');
  });

  test('a match in a very long line is shown with what is around it', async () => {
    writeFileSync(join(root, 'minified'), `${'x'.repeat(100_000)}needle${'y'.repeat(100_000)}`);
    const [match] = (await open().searchText('minified', 'needle')).matches;
    expect(match?.text).toMatch(/^…x{60}needley{234}…$/);
  });

  test('a search ends at its limits and says so, and stops when it is aborted', async () => {
    for (let index = 0; index < 20; index++) writeFileSync(join(root, `${index}.txt`), 'x');
    expect(await open({ maxSearchEntries: 5 }).findFiles('.', '**/*')).toMatchObject({ truncated: true });
    expect(await open({ maxSearchBytes: 5 }).searchText('.', 'x')).toMatchObject({ truncated: true });
    const reason = new Error('stopped');
    await expect(open().findFiles('.', '*', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test('an edit changes the file and returns the diff; a dry run only returns it', async () => {
    const edits = [{ oldText: 'two', newText: '2' }];
    const dry = await open().editFile('a.txt', edits, { dryRun: true });
    expect(dry.diff).toContain('-two\n+2\n');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(await open().editFile('a.txt', edits)).toEqual(dry);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n2\nthree\n');
    expect(await open().editFile('a.txt', (text) => text)).toEqual({ diff: '', changed: false });
  });

  test('of two edits at the same time none is lost: one of them fails', async () => {
    const tree = open();
    const results = await Promise.allSettled(
      ['one', 'three'].map((word) => tree.editFile('a.txt', [{ oldText: word, newText: word.toUpperCase() }])),
    );
    const done = results.filter(({ status }) => status === 'fulfilled').length;
    const text = readFileSync(join(root, 'a.txt'), 'utf8');
    expect(['ONE', 'THREE'].filter((word) => text.includes(word))).toHaveLength(done);
    expect(done).toBeGreaterThan(0);
    for (const each of results) if (each.status === 'rejected') expect(each.reason.code).toBe('FILE_CHANGED');
  });

  test('directories are made with those above them', async () => {
    expect(await open().makeDirectory('x/y/z')).toEqual({ created: true });
    expect(statSync(join(root, 'x/y/z')).isDirectory()).toBe(true);
    expect(await open().makeDirectory('x/y')).toEqual({ created: false });
    expect(await open().makeDirectory('.')).toEqual({ created: false });
    expect(await code(open().makeDirectory('a.txt/x'))).toBe('FILE_WRONG_KIND');
    expect(await code(open().makeDirectory('../outside/x'))).toBe('FILE_NOT_FOUND');
  });

  test('files and directories are moved, and nothing is replaced', async () => {
    const tree = open();
    await tree.move('a.txt', 'sub/deep/c.txt');
    await tree.move('sub', 'moved');
    expect(readFileSync(join(root, 'moved/deep/c.txt'), 'utf8')).toContain('one');
    writeFileSync(join(root, 'd'), 'd');
    expect(await code(tree.move('d', 'moved/b.md'))).toBe('FILE_EXISTS');
    expect(await code(tree.move('moved/deep', 'moved/deep/inner'))).toBe('FILE_BAD_MOVE');
    expect(await code(tree.move('nothing', 'x'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move('d', 'nowhere/d'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move('d', join(base, 'outside/d')))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move(join(base, 'outside/secret.txt'), 'stolen'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move('.', 'x'))).toBe('FILE_IS_ROOT');
  });

  test('files and empty directories are removed', async () => {
    const tree = open();
    expect(await tree.remove('a.txt')).toEqual({ kind: 'file' });
    expect(await tree.remove('sub/deep')).toEqual({ kind: 'directory' });
    expect(await code(tree.remove('sub'))).toBe('FILE_NOT_EMPTY');
    expect(await code(tree.remove('.'))).toBe('FILE_IS_ROOT');
    expect(readdirSync(root)).toEqual(['sub']);
  });

  test('links and hard links are not changed, moved, removed or followed', async () => {
    symlinkSync(join(base, 'outside'), join(root, 'out'));
    symlinkSync('sub', join(root, 'inside'));
    symlinkSync(join(base, 'outside/secret.txt'), join(root, 'link.txt'));
    linkSync(join(base, 'outside/secret.txt'), join(root, 'hard.txt'));
    const tree = open();
    const edits = [{ oldText: 'SECRET', newText: 'x' }];
    expect(await code(tree.editFile('link.txt', edits))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.editFile('hard.txt', edits))).toBe('FILE_SPECIAL');
    expect(await code(tree.writeFile('link.txt', 'x'))).toBe('FILE_SPECIAL');
    expect(await code(tree.writeFile('out/x', 'x'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.writeFile('inside/x', 'x'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.makeDirectory('out/x'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move('out/secret.txt', 'x'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move('a.txt', 'out/a.txt'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.move('a.txt', 'link.txt'))).toBe('FILE_EXISTS');
    for (const name of ['out', 'inside', 'link.txt', 'hard.txt']) {
      expect(await code(tree.move(name, 'x'))).toBe('FILE_SPECIAL');
      expect(await code(tree.remove(name))).toBe('FILE_SPECIAL');
    }
    // A write replaces a hard link by a file of its own; the other name keeps its content.
    await tree.writeFile('hard.txt', 'x');
    expect(readdirSync(join(base, 'outside'))).toEqual(['secret.txt']);
    expect(readFileSync(join(base, 'outside/secret.txt'), 'utf8')).toBe('SECRET');
  });

  test('a tree that is not writable changes nothing, and one with writable folders only there', async () => {
    const changes = (tree: ReturnType<typeof open>, at: string) => [
      tree.writeFile(`${at}/new`, 'x'),
      tree.editFile(`${at}/b.md`, [{ oldText: 'Two', newText: 'x' }]),
      tree.makeDirectory(`${at}/made`),
      tree.move(`${at}/b.md`, `${at}/c.md`),
      tree.remove(`${at}/deep`),
    ];
    for (const writable of [false, [], [join(root, 'a.txt')]])
      for (const change of changes(open({ writable }), 'sub')) expect(await code(change)).toBe('FILE_READ_ONLY');
    const tree = open({ writable: [join(root, 'sub')] });
    expect(await code(tree.writeFile('a.txt', 'x'))).toBe('FILE_READ_ONLY');
    expect(await code(tree.move('sub/b.md', 'b.md'))).toBe('FILE_READ_ONLY');
    expect(await code(tree.move('a.txt', 'sub/a.txt'))).toBe('FILE_READ_ONLY');
    await tree.writeFile('sub/new', 'x');
    await tree.move('sub/new', 'sub/deep/new');
    expect(existsSync(join(root, 'sub/deep/new'))).toBe(true);
  });

  test('own files are not found by a search, and neither they nor what they are in is changed', async () => {
    mkdirSync(join(root, 'state/data'), { recursive: true });
    writeFileSync(join(root, 'state/data/db'), 'OWN');
    writeFileSync(join(root, 'state/policy.yaml'), 'OWN');
    const own = new OwnFiles({
      folders: [join(root, 'state/data'), join(root, 'later/data')],
      files: [join(root, 'state/policy.yaml')],
    });
    const tree = open({ own });
    expect((await tree.findFiles('.', '**/{db,data,policy.yaml}')).entries).toEqual([]);
    expect((await tree.searchText('.', 'OWN')).matches).toEqual([]);
    for (const name of ['state/data', 'state/data/db', 'state/policy.yaml', 'state/policy.yaml.bak', 'state']) {
      expect(await code(tree.move(name, 'x'))).toBe('FILE_NOT_FOUND');
    }
    for (const name of ['state/data', 'state/data/db', 'state/policy.yaml', 'state/policy.yaml.bak', 'state']) {
      expect(await code(tree.remove(name))).toBe('FILE_NOT_FOUND');
    }
    for (const name of ['state/policy.yaml', 'state/policy.yaml.bak', 'state/data', 'state/data/new', 'later']) {
      expect(await code(tree.move('a.txt', name))).toBe('FILE_NOT_FOUND');
      expect(await code(tree.makeDirectory(`${name}/x`))).toMatch(/FILE_NOT_FOUND|FILE_WRONG_KIND/);
    }
    expect(await code(tree.editFile('state/policy.yaml', () => 'x'))).toBe('FILE_NOT_FOUND');
    expect(await code(tree.readLines('state/policy.yaml', { head: 1 }))).toBe('FILE_NOT_FOUND');
    expect(readdirSync(join(root, 'state'))).toEqual(['data', 'policy.yaml']);
    expect(readdirSync(root).sort()).toEqual(['a.txt', 'state', 'sub']);
  });
});

test.runIf(process.platform === 'linux')(
  'the pseudo files of the kernel are not read, searched or changed',
  async () => {
    const tree = openRoots(['/'], { writable: true });
    expect(await code(tree.readLines('/proc/self/environ', { head: 1 }))).toBe('FILE_SPECIAL');
    expect(await code(tree.findFiles('/proc', '*'))).toBe('FILE_SPECIAL');
    expect((await tree.searchText('/proc/self/status', 'Name').catch((error) => error)).code).toBe('FILE_SPECIAL');
    expect(await code(tree.makeDirectory('/proc/x'))).toBe('FILE_SPECIAL');
    expect(await code(tree.move('/proc/self/status', '/proc/self/x'))).toMatch(/FILE_NOT_FOUND|FILE_SPECIAL/);
    expect(await code(tree.editFile('/proc/self/comm', () => 'x'))).toMatch(/FILE_NOT_FOUND|FILE_SPECIAL/);
  },
);
