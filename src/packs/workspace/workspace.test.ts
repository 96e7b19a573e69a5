import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { Workspace } from './workspace.ts';

const folder = temporaryFolder();
for (const name of ['one/deep', 'two', 'one-evil']) mkdirSync(join(folder, name), { recursive: true });
writeFileSync(join(folder, 'one/deep/file'), 'x');
writeFileSync(join(folder, 'single'), 's');
symlinkSync(join(folder, 'two'), join(folder, 'one/out'));

const workspace = new Workspace({ roots: [join(folder, 'one'), join(folder, 'two'), join(folder, 'single')] });
const uri = (path: string) => ({ uri: pathToFileURL(join(folder, path)).href });
const paths = async (...roots: { uri: string }[]) =>
  ((await workspace.within(roots)).tree?.roots ?? []).map(({ path }) => path.slice(folder.length + 1)).sort();

test('a root inside ours narrows it, one around ours keeps ours, an unrelated one opens nothing', async () => {
  expect(await paths(uri('one/deep'))).toEqual(['one/deep']);
  expect(await paths(uri('.'))).toEqual(['one', 'single', 'two']);
  expect(await paths(uri('one-evil'))).toEqual([]);
  expect(await paths({ uri: 'file:///' })).toEqual(['one', 'single', 'two']);
  expect(await paths({ uri: 'https://example.org' }, { uri: 'file://elsewhere/x' }, { uri: 'nonsense' })).toEqual([]);
});

test('several roots add up, single files included; an empty list opens nothing', async () => {
  expect(await paths(uri('one/deep'), uri('two'), uri('single'))).toEqual(['one/deep', 'single', 'two']);
  expect(await paths()).toEqual([]);
  expect((await workspace.within([])).folders).toEqual([]);
});

test('a link to another of our folders is followed to its target, and does not lead back', async () => {
  const { tree } = await workspace.within([uri('one/out')]);
  await expect(tree?.readFile(join(folder, 'one/deep/file'))).rejects.toThrow('File not found');
});

test('the same folders are opened once', async () => {
  expect(await workspace.within([uri('one/deep')])).toBe(await workspace.within([uri('one/deep')]));
  expect(await workspace.within([uri('.')])).toBe(workspace.all);
});

test('programs can access folders, but not single files', () => {
  expect(workspace.all.folders).toEqual([join(folder, 'one'), join(folder, 'two')]);
});
