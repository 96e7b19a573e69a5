// The table of docs/security.md names tests; each of them must exist, and every requirement has a row.

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

/** Threat, switch, default, test, asked by. */
const rows = readFileSync(join(root, 'docs/security.md'), 'utf8')
  // The figures of the soak are tables of another kind.
  .replace(/<!-- soak -->[\s\S]*<!-- \/soak -->/, '')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (threat|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

test('every row of docs/security.md has a threat, a switch, a default, a test and who asked', () => {
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => row.length !== 5 || row.some((cell) => cell.trim() === ''))).toEqual([]);
});

test('every test named in docs/security.md exists', () => {
  const all = sources();
  const missing = rows
    .map(([, , , named = '']) => /^`([^`]+)`$/.exec(named)?.[1] ?? `no test: ${named}`)
    // As the title of a test, which may be one of several made from a pattern.
    .filter((name) => !["'", '`', '"'].some((quote) => all.includes(`${quote}${name}${quote}`)));
  expect(missing).toEqual([]);
});

test('no threat is named twice', () => {
  const threats = rows.map(([threat]) => threat);
  expect(threats.filter((threat, index) => threats.indexOf(threat) !== index)).toEqual([]);
});

test('the documents, the specification and each of the OWASP MCP Top 10 are answered', () => {
  const asked = new Set(rows.flatMap(([, , , , by = '']) => by.split(', ')));
  const expected = [
    'profiles',
    'spec',
    ...Array.from({ length: 10 }, (_, n) => `MCP${String(n + 1).padStart(2, '0')}`),
  ];
  expect([...asked].filter((each) => each !== '–').sort()).toEqual(expected.sort());
});
