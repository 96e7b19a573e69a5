import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { rejectionOf } from '../../../test/support/rejection.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { bestPathAccess, checkedPathAccess, procPathAccess } from './path-access.ts';
import { FileError, hiddenReason, openRoots, type TreeOptions } from './tree.ts';

const bases: string[] = [];
let base: string;
let root: string;

beforeEach(() => {
  base = temporaryFolder();
  bases.push(base);
  root = join(base, 'root');
  mkdirSync(join(root, 'sub', 'deep'), { recursive: true });
  mkdirSync(join(base, 'root-evil'));
  writeFileSync(join(root, 'a.txt'), 'inside');
  writeFileSync(join(root, 'sub', 'b.txt'), 'inside sub');
  writeFileSync(join(base, 'secret.txt'), 'SECRET');
  writeFileSync(join(base, 'root-evil', 'secret.txt'), 'SECRET');
});
afterAll(() => {
  for (const path of bases) rmSync(path, { recursive: true, force: true });
});

const openDescriptors = () => readdirSync('/proc/self/fd').length;

test('Linux with /proc gets the footing that is free of races', () => {
  expect(bestPathAccess()).toBe(process.platform === 'linux' ? procPathAccess : checkedPathAccess);
  expect(openRoots([root], { access: procPathAccess }).raceFree).toBe(true);
  expect(openRoots([root], { access: checkedPathAccess }).raceFree).toBe(false);
});

describe.each([
  ['proc', procPathAccess],
  ['checked', checkedPathAccess],
] as const)('with %s path access', (_name, access) => {
  const open = (options: TreeOptions = {}, ...paths: string[]) =>
    openRoots(paths.length > 0 ? paths : [root], { access, ...options });
  const text = async (target: string, options: TreeOptions = {}) => (await open(options).readFile(target)).toString();

  test('a file is read by URI, by absolute path and by path in the root', async () => {
    expect(await text(`file://${root}/sub/b.txt`)).toBe('inside sub');
    expect(await text(join(root, 'a.txt'))).toBe('inside');
    expect(await text('sub/b.txt')).toBe('inside sub');
  });

  test('an empty file reads as nothing', async () => {
    writeFileSync(join(root, 'empty'), '');
    expect(await text('empty')).toBe('');
  });

  test('missing, outside, malformed and forbidden look exactly the same', async () => {
    symlinkSync(join(base, 'secret.txt'), join(root, 'out'));
    symlinkSync(join(base, 'nowhere'), join(root, 'out-missing'));
    const asked = [
      ['missing', `file://${root}/nothing`],
      ['missing', `file://${root}/a.txt/below`],
      ['outside', `file://${base}/secret.txt`],
      ['outside', `file://${base}/nowhere`],
      ['outside', `file://${base}/root-evil/secret.txt`],
      ['outside', `file://${root}-evil/secret.txt`],
      ['outside', `file://${base}`],
      ['outside', 'file:///etc/passwd'],
      ['outside', root.toUpperCase()],
      ['outside', join(base, 'ROOT', 'a.txt')],
      ['malformed', `file://${root}/../secret.txt`],
      ['malformed', `file://${root}/%2e%2e/secret.txt`],
      ['malformed', `file://${root}/a.txt%00`],
      ['malformed', '../secret.txt'],
      ['outside', `file://${root}/out`],
      ['outside', `file://${root}/out-missing`],
    ] as const;
    const tree = open();
    for (const [reason, target] of asked) {
      const error = await rejectionOf(tree.readFile(target), FileError);
      expect({ ...error, message: error.message, cause: error.cause }).toEqual({
        name: 'FileError',
        code: 'FILE_NOT_FOUND',
        message: `File not found: ${target}`,
        cause: undefined,
      });
      expect(hiddenReason(error), target).toBe(reason);
      expect((await rejectionOf(tree.stat(target), FileError)).code).toBe('FILE_NOT_FOUND');
      expect((await rejectionOf(tree.list(target), FileError)).code).toMatch(/^FILE_NOT_FOUND$/);
    }
  });

  test('a link that stays inside is followed, by relative and by absolute target', async () => {
    symlinkSync('sub/b.txt', join(root, 'near'));
    symlinkSync('../a.txt', join(root, 'sub', 'up'));
    symlinkSync(join(root, 'sub'), join(root, 'absolute'));
    symlinkSync('near', join(root, 'chain'));
    symlinkSync('./absolute/../sub/./deep/..//b.txt', join(root, 'winding'));
    expect(await text('near')).toBe('inside sub');
    expect(await text('sub/up')).toBe('inside');
    expect(await text('absolute/b.txt')).toBe('inside sub');
    expect(await text('absolute/up')).toBe('inside');
    expect(await text('chain')).toBe('inside sub');
    expect(await text('winding')).toBe('inside sub');
  });

  test.each([
    ['to a file outside', '../secret.txt'],
    ['to a look-alike root', '../root-evil/secret.txt'],
    ['out and back in', '../root/a.txt'],
    ['to the root of the disk', '/'],
    ['to itself', 'link'],
    ['to a pseudo file', '/proc/self/environ'],
    ['to an absolute path with dots', '/etc/../etc/passwd'],
  ])('a link %s is not found', async (_what, target) => {
    symlinkSync(target, join(root, 'link'));
    const tree = open({ writable: true });
    expect((await rejectionOf(tree.readFile('link'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(tree.readFile('link/etc/passwd'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(tree.stat('link'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(tree.writeFile('link/new', 'x'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await tree.list('.')).entries.map((entry) => entry.name)).not.toContain('link');
  });

  test('a linked directory that leads out hides everything below it', async () => {
    symlinkSync(base, join(root, 'sub', 'out'));
    expect((await rejectionOf(open().readFile('sub/out/secret.txt'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(open().list('sub/out'), FileError)).code).toBe('FILE_NOT_FOUND');
  });

  test('a long chain of links ends', async () => {
    symlinkSync('a.txt', join(root, 'l0'));
    for (let index = 1; index <= 20; index++) symlinkSync(`l${index - 1}`, join(root, `l${index}`));
    expect(await text('l15')).toBe('inside');
    expect((await rejectionOf(open().readFile('l16'), FileError)).code).toBe('FILE_NOT_FOUND');
  });

  test('a link that blows up the path is not found', async () => {
    symlinkSync(`${'sub/../'.repeat(500)}a.txt`, join(root, 'winding'));
    expect((await rejectionOf(open().readFile('winding'), FileError)).code).toBe('FILE_NOT_FOUND');
  });

  test('links may lead from one root into another', async () => {
    const other = join(base, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'c.txt'), 'other');
    symlinkSync(join(other, 'c.txt'), join(root, 'c'));
    expect((await rejectionOf(open().readFile('c'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await open({}, root, other).readFile('c')).toString()).toBe('other');
  });

  test('a root that is itself a link is used under its configured name and under its real one', async () => {
    symlinkSync(root, join(base, 'alias'));
    const tree = open({}, join(base, 'alias'));
    expect((await tree.readFile(join(base, 'alias', 'a.txt'))).toString()).toBe('inside');
    expect((await tree.readFile(join(root, 'a.txt'))).toString()).toBe('inside');
    expect(tree.resolve(join(root, 'a.txt')).path).toBe(join(base, 'alias', 'a.txt'));
    expect(tree.roots).toEqual([{ kind: 'directory', path: join(base, 'alias'), uri: `file://${base}/alias` }]);
  });

  test('a root swapped for a link after opening shows nothing', async () => {
    const tree = open({ writable: true });
    renameSync(root, join(base, 'moved'));
    symlinkSync(join(base, 'root-evil'), root);
    expect((await rejectionOf(tree.readFile('secret.txt'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(tree.list('.'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(tree.writeFile('new', 'x'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect(existsSync(join(base, 'root-evil', 'new'))).toBe(false);
  });

  test('a parent of the root swapped for a link shows nothing', async () => {
    const tree = open({}, join(root, 'sub', 'deep'));
    mkdirSync(join(base, 'trap', 'deep'), { recursive: true });
    writeFileSync(join(base, 'trap', 'deep', 'secret.txt'), 'SECRET');
    renameSync(join(root, 'sub'), join(root, 'gone'));
    symlinkSync(join(base, 'trap'), join(root, 'sub'));
    expect((await rejectionOf(tree.readFile('secret.txt'), FileError)).code).toBe('FILE_NOT_FOUND');
  });

  test('a root that was removed and made again is found again', async () => {
    const tree = open();
    rmSync(root, { recursive: true });
    expect((await rejectionOf(tree.readFile('a.txt'), FileError)).code).toBe('FILE_NOT_FOUND');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'again');
    expect((await tree.readFile('a.txt')).toString()).toBe('again');
  });

  test('a single file can be a root, and nothing beside it is shown', async () => {
    const tree = open({ writable: true }, join(root, 'a.txt'));
    expect((await tree.readFile(`file://${root}/a.txt`)).toString()).toBe('inside');
    expect(tree.roots[0]?.kind).toBe('file');
    for (const target of [`file://${root}/sub/b.txt`, `file://${root}`, 'a.txt', `file://${root}/a.txt/x`]) {
      expect((await rejectionOf(tree.readFile(target), FileError)).code).toBe('FILE_NOT_FOUND');
    }
    await tree.writeFile(`file://${root}/a.txt`, 'new');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new');
    // Even a link to a neighbour does not show the neighbour.
    rmSync(join(root, 'a.txt'));
    symlinkSync('sub/b.txt', join(root, 'a.txt'));
    expect((await rejectionOf(tree.readFile(`file://${root}/a.txt`), FileError)).code).toBe('FILE_NOT_FOUND');
  });

  test('devices are rejected', async () => {
    const tree = open({}, '/dev');
    for (const name of ['null', 'zero', 'random', 'tty', 'full']) {
      expect((await rejectionOf(tree.readFile(name), FileError)).code, name).toBe('FILE_SPECIAL');
    }
  });

  test('the pseudo files of the system are rejected even where the whole disk is the root', async () => {
    const tree = open({}, '/');
    expect((await rejectionOf(tree.readFile('/proc/self/environ'), FileError)).code).toMatch(
      /^FILE_(SPECIAL|NOT_FOUND)$/,
    );
    expect((await rejectionOf(tree.readFile(`/proc/${process.pid}/environ`), FileError)).code).toBe('FILE_SPECIAL');
    expect((await rejectionOf(tree.readFile('/proc/version'), FileError)).code).toBe('FILE_SPECIAL');
    expect((await rejectionOf(tree.readFile('/sys/kernel/uevent_seqnum'), FileError)).code).toMatch(
      /^FILE_(SPECIAL|NOT_FOUND)$/,
    );
    // The kernel's own magic links are links like any other: they name a path, and we walk it ourselves.
    const below = open({}, root);
    expect((await rejectionOf(below.readFile('/proc/self/root/etc/passwd'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(tree.list('/proc'), FileError)).code).toBe('FILE_SPECIAL');
    expect(() => open({}, '/proc')).toThrow(/pseudo file system of the kernel/);
  });

  test('a file of size 0 that has content is read up to the cap and no further', async () => {
    const tree = open({ allowPseudoFiles: true }, '/proc');
    expect(statSync(`/proc/${process.pid}/status`).size).toBe(0);
    const status = await tree.readFile(`${process.pid}/status`);
    expect(status.toString()).toContain('Pid:');
    expect((await rejectionOf(tree.readFile(`${process.pid}/status`, { maxBytes: 100 }), FileError)).code).toBe(
      'FILE_TOO_LARGE',
    );
  });

  test('a file larger than the cap is rejected, one at the cap is read', async () => {
    writeFileSync(join(root, 'ten'), '0123456789');
    const tree = open({ maxFileBytes: 10 });
    expect((await tree.readFile('ten')).toString()).toBe('0123456789');
    expect((await tree.readFile('ten', { maxBytes: 1000 })).length).toBe(10);
    expect((await rejectionOf(tree.readFile('ten', { maxBytes: 9 }), FileError)).code).toBe('FILE_TOO_LARGE');
    writeFileSync(join(root, 'sparse'), '');
    truncateSync(join(root, 'sparse'), 2 ** 40);
    expect((await rejectionOf(tree.readFile('sparse'), FileError)).code).toBe('FILE_TOO_LARGE');
  });

  test('an absent limit is the default, and a limit of another type is rejected', async () => {
    writeFileSync(join(root, 'sparse'), '');
    truncateSync(join(root, 'sparse'), 2 ** 40);
    const absent = { maxFileBytes: undefined } as unknown as TreeOptions;
    expect((await rejectionOf(open(absent).readFile('sparse'), FileError)).code).toBe('FILE_TOO_LARGE');
    expect(() => open({ maxFileBytes: '10' } as unknown as TreeOptions)).toThrow(
      'maxFileBytes must be a number above 0',
    );
  });

  test('a hard link is rejected unless allowed, and writing one leaves the other name alone', async () => {
    linkSync(join(base, 'secret.txt'), join(root, 'twin'));
    const tree = open({ writable: true });
    expect((await rejectionOf(tree.readFile('twin'), FileError)).code).toBe('FILE_SPECIAL');
    expect((await tree.list('.')).entries.map((entry) => entry.name)).not.toContain('twin');
    expect(await text('twin', { allowHardLinks: true })).toBe('SECRET');
    await tree.writeFile('twin', 'mine');
    expect(readFileSync(join(base, 'secret.txt'), 'utf8')).toBe('SECRET');
  });

  test('a directory is not read and a file is not listed', async () => {
    expect((await rejectionOf(open().readFile('sub'), FileError)).code).toBe('FILE_WRONG_KIND');
    expect((await rejectionOf(open().list('a.txt'), FileError)).code).toBe('FILE_WRONG_KIND');
    expect((await rejectionOf(open({ writable: true }).writeFile('sub', 'x'), FileError)).code).toBe('FILE_WRONG_KIND');
    expect((await rejectionOf(open({ writable: true }).writeFile('.', 'x'), FileError)).code).toBe('FILE_WRONG_KIND');
  });

  test('facts are told about files and directories', async () => {
    const facts = await open().stat('sub/b.txt');
    expect(facts).toMatchObject({ kind: 'file', size: 10, path: join(root, 'sub/b.txt') });
    expect(facts.modifiedMs).toBeGreaterThan(Date.UTC(2020));
    expect(await open().stat(root)).toMatchObject({ kind: 'directory', size: 0, uri: `file://${root}` });
  });

  test('names that are too long or too deep are not found', async () => {
    const tree = open({ maxDepth: 4 });
    mkdirSync(join(root, 'd1/d2/d3/d4/d5'), { recursive: true });
    expect((await tree.stat('d1/d2/d3/d4')).kind).toBe('directory');
    expect((await rejectionOf(tree.stat('d1/d2/d3/d4/d5'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(open().readFile('x'.repeat(300)), FileError)).code).toBe('FILE_NOT_FOUND');
    expect((await rejectionOf(open().readFile('x/'.repeat(70)), FileError)).code).toBe('FILE_NOT_FOUND');
  });

  test('a listing shows what can be read, sorted, and marks what it had to cut', async () => {
    symlinkSync('../a.txt', join(root, 'sub', 'link'));
    symlinkSync('..', join(root, 'sub', 'circle'));
    writeFileSync(join(root, 'sub', 'back\\slash'), '');
    writeFileSync(join(root, 'sub', 'new\nline'), '');
    writeFileSync(Buffer.from(`${root}/sub/\xff\xfe`, 'latin1'), '');
    const tree = open();
    const listed = await tree.list('.', { recursive: true });
    expect(listed.truncated).toBe(false);
    expect(listed.entries.map((entry) => entry.path.slice(root.length + 1))).toEqual([
      'a.txt',
      'sub',
      'sub/b.txt',
      'sub/circle',
      'sub/deep',
      'sub/link',
    ]);
    for (const entry of listed.entries) expect((await tree.stat(entry.uri)).kind).toBe(entry.kind);
    const cut = await tree.list('.', { recursive: true, maxEntries: 3 });
    expect(cut.entries).toHaveLength(3);
    expect(cut.truncated).toBe(true);
  });

  test('a folder of very many names costs no more than the limit', async () => {
    const many = join(root, 'many');
    mkdirSync(many);
    for (let index = 0; index < 500; index++) symlinkSync('/outside', join(many, `l${index}`));
    const listed = await open({ maxEntries: 20 }).list('many');
    expect(listed).toEqual({ entries: [], truncated: true });
  });

  test('a write replaces the file whole, keeps its mode and leaves nothing behind', async () => {
    const tree = open({ writable: true });
    chmodSync(join(root, 'a.txt'), 0o640);
    await tree.writeFile('a.txt', 'changed');
    await tree.writeFile(`file://${root}/sub/deep/new.bin`, new Uint8Array([1, 2, 3]), { mode: 0o600 });
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('changed');
    expect(statSync(join(root, 'a.txt')).mode & 0o777).toBe(0o640);
    expect([...readFileSync(join(root, 'sub/deep/new.bin'))]).toEqual([1, 2, 3]);
    expect(statSync(join(root, 'sub/deep/new.bin')).mode & 0o777).toBe(0o600);
    expect(readdirSync(root)).toEqual(['a.txt', 'sub']);
    expect(readdirSync(join(root, 'sub/deep'))).toEqual(['new.bin']);
  });

  test('a write never goes through a link, neither at the end nor on the way', async () => {
    symlinkSync(join(base, 'secret.txt'), join(root, 'end'));
    symlinkSync('sub', join(root, 'way'));
    const tree = open({ writable: true });
    expect((await rejectionOf(tree.writeFile('end', 'x'), FileError)).code).toBe('FILE_SPECIAL');
    expect((await rejectionOf(tree.writeFile('way/new', 'x'), FileError)).code).toBe('FILE_NOT_FOUND');
    expect(readFileSync(join(base, 'secret.txt'), 'utf8')).toBe('SECRET');
    expect(lstatSync(join(root, 'end')).isSymbolicLink()).toBe(true);
    expect(existsSync(join(root, 'sub', 'new'))).toBe(false);
  });

  test('writing needs permission and space', async () => {
    expect((await rejectionOf(open().writeFile('a.txt', 'x'), FileError)).code).toBe('FILE_READ_ONLY');
    expect((await rejectionOf(open().writeFile('/etc/passwd', 'x'), FileError)).code).toBe('FILE_NOT_FOUND');
    const small = open({ writable: true, maxWriteBytes: 3 });
    expect((await rejectionOf(small.writeFile('a.txt', 'four'), FileError)).code).toBe('FILE_TOO_LARGE');
    expect((await rejectionOf(open({ writable: true }).writeFile('no/such/dir', 'x'), FileError)).code).toBe(
      'FILE_NOT_FOUND',
    );
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('inside');
  });

  test('an abort ends reading, listing and writing with the reason given, and nothing changes', async () => {
    const reason = new Error('changed my mind');
    const tree = open({ writable: true });
    const options = { signal: AbortSignal.abort(reason) };
    await expect(tree.readFile('a.txt', options)).rejects.toBe(reason);
    await expect(tree.list('.', options)).rejects.toBe(reason);
    await expect(tree.writeFile('a.txt', 'x', options)).rejects.toBe(reason);
    expect(readdirSync(root)).toEqual(['a.txt', 'sub']);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('inside');
  });

  test('no descriptor stays open, whatever the outcome', async () => {
    symlinkSync('../secret.txt', join(root, 'out'));
    symlinkSync('loop', join(root, 'loop'));
    const tree = open({ writable: true });
    const attempt = async () => {
      for (const target of ['a.txt', 'out', 'loop', 'sub', 'none', 'sub/b.txt/x', '../x', '/etc/passwd']) {
        await tree.readFile(target).catch(() => {});
        await tree.list(target).catch(() => {});
        await tree.stat(target).catch(() => {});
        await tree.writeFile(`${target}/new`, 'x').catch(() => {});
      }
      await tree.list('.', { recursive: true });
    };
    await attempt();
    const before = openDescriptors();
    for (let round = 0; round < 20; round++) await attempt();
    expect(openDescriptors()).toBeLessThanOrEqual(before);
  });
});

test('a root must exist and be a directory or an ordinary file', () => {
  expect(() => openRoots([join(base, 'nowhere')])).toThrow(expect.objectContaining({ code: 'FILE_BAD_ROOT' }));
  expect(() => openRoots(['/dev/null'])).toThrow(expect.objectContaining({ code: 'FILE_BAD_ROOT' }));
  expect(() => openRoots([''])).toThrow(expect.objectContaining({ code: 'FILE_BAD_ROOT' }));
});

test('the innermost of nested roots decides', () => {
  const tree = openRoots([base, root]);
  expect(tree.resolve(join(root, 'a.txt'))).toEqual({ path: join(root, 'a.txt'), uri: `file://${root}/a.txt` });
  expect(tree.fromUri(tree.toUri(join(root, 'a b')))).toBe(join(root, 'a b'));
});

test('a tree without roots shows nothing', async () => {
  const tree = openRoots([]);
  for (const target of ['/', 'a', 'file:///etc/passwd']) {
    expect((await rejectionOf(tree.readFile(target), FileError)).code).toBe('FILE_NOT_FOUND');
  }
});

test('a message never carries control characters of the asked name', async () => {
  const error = await rejectionOf(openRoots([root]).readFile('/x\u001B[2J\u202E\n'), FileError);
  expect(error.message).toBe('File not found: /x\uFFFD[2J\uFFFD\uFFFD');
});
