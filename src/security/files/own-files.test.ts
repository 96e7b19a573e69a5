import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { checkedPathAccess, procPathAccess } from './path-access.ts';
import { hiddenReason, OwnFiles, openRoots } from './tree.ts';

let root = '';
beforeEach(() => {
  root = temporaryFolder();
  for (const name of ['data', 'conf', 'docs']) mkdirSync(join(root, name));
  for (const name of ['data/db', 'conf/policy.yaml', 'conf/other.yaml', 'docs/a'])
    writeFileSync(join(root, name), name);
});

const at = (name: string): string => join(root, name);
const reasonOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => 'done',
    (error: unknown) => hiddenReason(error),
  );

const accesses =
  process.platform === 'linux' ? { proc: procPathAccess, checked: checkedPathAccess } : { checked: checkedPathAccess };

describe.each(Object.entries(accesses))('with %s path access', (_name, access) => {
  const tree = (own: OwnFiles) => openRoots([root], { own, access, writable: true, allowHardLinks: true });

  test('folders and files of the server are hidden from every operation, also by links and second names', async () => {
    symlinkSync('data', at('docs-data'));
    symlinkSync('../data/db', at('docs/link'));
    linkSync(at('data/db'), at('docs/hard'));
    linkSync(at('conf/policy.yaml'), at('docs/hard.yaml'));
    const files = tree(new OwnFiles({ folders: [at('data')], files: [at('conf/policy.yaml')] }));
    for (const name of ['data', 'data/db', 'data/new', 'docs/hard', 'docs/hard.yaml', 'conf/policy.yaml']) {
      expect(await reasonOf(files.readFile(name)), name).toBe('own');
      expect(await reasonOf(files.stat(name)), name).toBe('own');
      expect(await reasonOf(files.writeFile(name, 'changed')), name).toBe('own');
    }
    for (const name of ['docs/link', 'docs-data/db']) expect(await reasonOf(files.readFile(name)), name).toBe('own');
    expect(await reasonOf(files.list('data'))).toBe('own');
    const { entries } = await files.list('.', { recursive: true });
    expect(entries.map(({ path }) => path.slice(root.length + 1))).toEqual([
      'conf',
      'conf/other.yaml',
      'docs',
      'docs/a',
    ]);
    expect(readFileSync(at('conf/policy.yaml'), 'utf8')).toBe('conf/policy.yaml');
  });

  test('a file takes its copies, locks and numbered successors with it, in any case, and nothing else', async () => {
    const names = ['audit.000001.jsonl', 'audit-2.jsonl', 'audit.lock', 'audit~', 'AUDIT.jsonl', 'audit'];
    for (const name of [...names, 'auditor.txt', 'my-audit.jsonl']) writeFileSync(at(`conf/${name}`), '');
    mkdirSync(at('conf/audit-reports'));
    const files = tree(new OwnFiles({ files: [at('conf/audit')] }));
    for (const name of names) expect(await reasonOf(files.readFile(`conf/${name}`)), name).toBe('own');
    const { entries } = await files.list('conf');
    expect(entries.map(({ name }) => name)).toEqual([
      'audit-reports',
      'auditor.txt',
      'my-audit.jsonl',
      'other.yaml',
      'policy.yaml',
    ]);
  });

  test('what does not exist yet cannot be made by a write and is hidden from its first moment', async () => {
    const files = tree(new OwnFiles({ folders: [at('later/data')], files: [at('conf/new.json')] }));
    expect(await reasonOf(files.writeFile('conf/new.json', 'x'))).toBe('own');
    expect(await reasonOf(files.writeFile('docs/b', 'x'))).toBe('done');
    mkdirSync(at('later/data'), { recursive: true });
    writeFileSync(at('later/data/db'), 'x');
    expect(await reasonOf(files.readFile('later/data/db'))).toBe('own');
  });

  test('a folder that was replaced by another one is still the own one', async () => {
    const files = tree(new OwnFiles({ folders: [at('data')] }));
    expect(await reasonOf(files.readFile('data/db'))).toBe('own');
    renameSync(at('data'), at('away'));
    mkdirSync(at('data'));
    writeFileSync(at('data/db'), 'x');
    expect(await reasonOf(files.readFile('data/db'))).toBe('own');
  });

  test('a link to a directory inside an own folder does not hide that directory elsewhere', async () => {
    symlinkSync('../docs', at('data/docs'));
    const files = tree(new OwnFiles({ folders: [at('data')] }));
    expect(await reasonOf(files.readFile('docs/a'))).toBe('done');
  });

  test('a root in an own folder, or an own file as root, is rejected', () => {
    const own = new OwnFiles({ folders: [at('data')], files: [at('conf/policy.yaml')] });
    mkdirSync(at('data/deep/er'), { recursive: true });
    for (const path of ['data', 'data/deep/er', 'data/db', 'conf/policy.yaml']) {
      expect(() => openRoots([at(path)], { own, access }), path).toThrow('it belongs to this server');
    }
    expect(openRoots([root, at('conf'), at('docs/a')], { own, access }).roots).toHaveLength(3);
  });
});

test('a descriptor of an own file that a swap of names has opened is not closed, so that no lock is dropped', () => {
  const own = new OwnFiles({ folders: [at('data')] });
  const place = checkedPathAccess.step(
    { path: at('docs'), stats: statSync(at('docs'), { bigint: true }), close() {} },
    'a',
  );
  renameSync(at('docs/a'), at('docs/kept'));
  linkSync(at('data/db'), at('docs/a'));
  const opened = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);
  const before = opened();
  expect(checkedPathAccess.openFile(place, own)).toBeUndefined();
  if (process.platform === 'linux') expect(opened()).toBe(before + 1);
  writeFileSync(at('docs/another'), '');
  renameSync(at('docs/another'), at('docs/a'));
  expect(checkedPathAccess.openFile(place, own)).toBeUndefined();
  if (process.platform === 'linux') expect(opened()).toBe(before + 1);
});

test('paths() names the folders, and the files that exist with what belongs to them', () => {
  writeFileSync(at('conf/policy.yaml.bak'), '');
  const own = new OwnFiles({ folders: [at('data'), at('later')], files: [at('conf/policy.yaml'), at('conf/missing')] });
  const { folders, files } = own.paths();
  expect(folders).toEqual([at('data'), at('later')]);
  expect([...files].sort()).toEqual([at('conf/policy.yaml'), at('conf/policy.yaml.bak')]);
});
