import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createCatalogCache } from './catalog-cache.ts';

const lists = { tools: [], prompts: [], resources: [{ name: 'a', uri: 'mem://a' }], resourceTemplates: [] };

test('lists are read back by the digest of their entry', () => {
  const folder = join(temporaryFolder(), 'catalog');
  createCatalogCache(folder).write('digest', lists);
  const cache = createCatalogCache(folder);
  expect(cache.read('digest')?.lists).toEqual(lists);
  expect(cache.read('other')).toBeUndefined();
});

test('what was computed from lists is stored with them', () => {
  const cache = createCatalogCache(join(temporaryFolder(), 'catalog'));
  const cleaned = { ...lists, resources: [{ name: 'b', uri: 'mem://a' }] };
  cache.write('other', lists, { cleaned, fingerprints: ['1'] });
  cache.write('same', lists, { cleaned: { ...lists } });
  cache.write('none', lists);
  expect(cache.read('other')).toMatchObject({ lists, prepared: { cleaned, fingerprints: ['1'] } });
  expect(cache.read('same')).toMatchObject({ lists, prepared: { cleaned: lists } });
  expect(cache.read('none')).toEqual({ lists, atMs: expect.any(Number) });
});

test('a damaged file is as if there were none', () => {
  const folder = join(temporaryFolder(), 'catalog');
  const cache = createCatalogCache(folder);
  cache.write('digest', lists, { cleaned: lists, fingerprints: ['1'] });
  const file = join(folder, readdirSync(folder)[0] ?? '');
  const stored = readFileSync(file, 'utf8');
  for (const text of [
    ...['', '{', '{"version":2}', '[]', 'null', 'null\nnull', '{"version":2,"atMs":1}\n{}'],
    ...[stored.replace('mem://a', 'mem://b'), stored.replace('["1"]', '["2"]'), stored.slice(0, -1), `${stored}\n`],
  ]) {
    writeFileSync(file, text);
    expect(cache.read('digest')).toBeUndefined();
  }
});

test.skipIf(process.platform === 'win32')('only this user can read the files', () => {
  const folder = join(temporaryFolder(), 'catalog');
  createCatalogCache(folder).write('digest', lists);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, readdirSync(folder)[0] ?? '')).mode & 0o777).toBe(0o600);
});

test('a folder that cannot be written is reported and changes nothing', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => createCatalogCache(join(file, 'catalog')).write('digest', lists)).not.toThrow();
});
