import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { silentLogger } from '../../common/logger.ts';
import { openRoots } from '../../security/files/tree.ts';
import { FolderWatch } from './folder-watch.ts';

const undo: (() => void)[] = [];
afterEach(() => {
  for (const each of undo.splice(0).reverse()) each();
});

interface WatchOptions {
  readonly maxFolders?: number;
  readonly maxPending?: number;
}

function make(roots: (folder: string) => string[], options: WatchOptions = {}) {
  const folder = temporaryFolder();
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['a', 'b', 'c']) mkdirSync(join(folder, name));
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name, 'file'), '1');
  return { folder, ...watchFolder(folder, roots(folder), options) };
}

function watchFolder(folder: string, roots: string[], options: WatchOptions = {}) {
  const warn = vi.fn();
  const changed: string[] = [];
  let lists = 0;
  const watch = new FolderWatch(
    openRoots(roots),
    { fileChanged: (path) => changed.push(path.slice(folder.length + 1)), listChanged: () => void lists++ },
    { logger: { ...silentLogger, warn }, gatherMs: 10, ...options },
  );
  undo.push(() => watch.close());
  return { watch, warn, changed, lists: () => lists };
}

test('changes that happen together are reported together, and new content does not change the list', async () => {
  const { folder, watch, changed, lists } = make((root) => [root]);
  await watch.start();
  expect(watch.complete).toBe(true);
  for (let n = 0; n < 50; n++) writeFileSync(join(folder, 'a/file'), String(n));
  await expect.poll(() => changed).toContain('a/file');
  expect(changed.length).toBeLessThan(50);
  expect(lists()).toBe(0);
});

test('many changes are looked at in slices, with turns of the event loop in between, and no second round meanwhile', async () => {
  const { folder, watch, changed, lists } = make((root) => [root]);
  await watch.start();
  for (let n = 0; n < 1_000; n++) writeFileSync(join(folder, `new-${n}`), '');
  await expect.poll(() => changed.length, { interval: 1 }).toBeGreaterThan(0);
  let turns = 0;
  while (changed.length < 1_000) {
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(turns).toBeGreaterThan(2);
  await expect.poll(lists).toBe(1);
  expect(new Set(changed).size).toBe(1_000);
});

test('more changes than may be pending are not reported one by one, but as a change of the list', async () => {
  const { folder, watch, warn, changed, lists } = make((root) => [root], { maxPending: 10 });
  await watch.start();
  for (let n = 0; n < 50; n++) writeFileSync(join(folder, `new-${n}`), '');
  await expect.poll(lists).toBe(1);
  expect(changed).toHaveLength(10);
  expect(warn).toHaveBeenCalledTimes(1);
  writeFileSync(join(folder, 'new-49'), 'again');
  await expect.poll(() => changed).toContain('new-49');
});

test('folders beyond the limit are not watched, with one warning; one that is followed is', async () => {
  const { folder, watch, warn, changed } = make((root) => [root], { maxFolders: 2 });
  await watch.start();
  expect(watch.complete).toBe(false);
  expect(warn).toHaveBeenCalledTimes(1);
  await watch.follow(join(folder, 'c/file'));
  writeFileSync(join(folder, 'b/file'), '2');
  writeFileSync(join(folder, 'c/file'), '2');
  await expect.poll(() => changed).toContain('c/file');
  expect(changed).not.toContain('b/file');
});

test('of the folder of a single file only that file is reported', async () => {
  const { folder, watch, changed, lists } = make((root) => [join(root, 'a/file')]);
  await watch.start();
  writeFileSync(join(folder, 'a/secret'), 'x');
  writeFileSync(join(folder, 'a/file'), '2');
  await expect.poll(() => changed).toContain('a/file');
  rmSync(join(folder, 'a/file'));
  await expect.poll(lists).toBe(1);
  expect(changed.filter((path) => path !== 'a/file')).toEqual([]);
});

test('files outside the roots cannot be followed, and a closed watch reports nothing more', async () => {
  const { folder, watch, changed } = make((root) => [join(root, 'a')]);
  await watch.start();
  await watch.follow(join(folder, 'b/file'));
  writeFileSync(join(folder, 'b/file'), '2');
  writeFileSync(join(folder, 'a/file'), '2');
  await expect.poll(() => changed).toEqual(['a/file']);
  watch.close();
  const open = watchFolder(folder, [folder]);
  await open.watch.start();
  writeFileSync(join(folder, 'b/file'), '3');
  writeFileSync(join(folder, 'a/file'), '3');
  await expect.poll(() => open.changed).toContain('a/file');
  expect(changed).toEqual(['a/file']);
});
