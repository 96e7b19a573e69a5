// The table of docs/security.md names tests; each of them must exist.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

function sources(): string {
  return ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((each) => (folder === 'test' ? /\.ts$/ : /\.test\.ts$/).test(each))
        .map((each) => join(root, folder, each)),
    )
    .filter((file) => file !== import.meta.filename)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

test('every test named in docs/security.md exists', () => {
  const rows = readFileSync(join(root, 'docs/security.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (threat|---)/.test(line));
  expect(rows.length).toBeGreaterThan(30);
  const all = sources();
  const missing = rows
    .map((row) => /`([^`]+)` \|$/.exec(row)?.[1] ?? `no test in: ${row}`)
    .filter((name) => !all.includes(name));
  expect(missing).toEqual([]);
});
