import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { formatBytes, SavedFiles } from './saved-files.ts';

const folder = temporaryFolder();

test('files are numbered, named by their media type, and private to their owner', () => {
  const files = new SavedFiles(folder);
  const [image, unknown] = [
    files.save(Buffer.from('a'), 'image/png; q=1'),
    files.save(Buffer.from('b'), '../../etc/passwd'),
  ];
  expect([image, unknown]).toEqual([join(folder, '1.png'), join(folder, '2.bin')]);
  expect(readFileSync(image, 'utf8')).toBe('a');
  if (process.platform !== 'win32') expect(statSync(image).mode & 0o777).toBe(0o600);
});

test('a file that exists is not overwritten', () => {
  writeFileSync(join(folder, '1.txt'), 'old');
  writeFileSync(join(folder, '3.txt'), 'old');
  const files = new SavedFiles(folder);
  expect(files.save(Buffer.from('x'), 'text/plain')).toBe(join(folder, '2.txt'));
  expect(files.save(Buffer.from('y'), 'text/plain')).toBe(join(folder, '4.txt'));
  expect(readFileSync(join(folder, '1.txt'), 'utf8')).toBe('old');
});

test('without a folder a temporary one is made for the first file', () => {
  const path = new SavedFiles(undefined).save(Buffer.from('z'), undefined);
  expect(existsSync(path)).toBe(true);
  rmSync(dirname(path), { recursive: true });
});

test('sizes are rounded to a unit people read', () => {
  expect([formatBytes(7), formatBytes(12_345), formatBytes(3_200_000)]).toEqual(['7 bytes', '12.3 kB', '3.2 MB']);
});
