// What the page weighs, and that the built files are what the policy of the console allows.

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const folder = resolve(import.meta.dirname, '../../dist/console');
const { files } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
  files: Record<string, { bytes: number; gzipBytes: number; brotliBytes: number; immutable: boolean }>;
};
const names = Object.keys(files);
const sum = (chosen: readonly string[], key: 'bytes' | 'gzipBytes' | 'brotliBytes'): number =>
  chosen.reduce((total, name) => total + (files[name]?.[key] ?? 0), 0);

test('the whole page is at most 120 KB compressed, the first screen at most 60 KB', () => {
  expect(sum(names, 'gzipBytes')).toBeLessThanOrEqual(120_000);
  const first = names.filter((name) => !name.startsWith('metrics-'));
  expect(first.length).toBe(names.length - 1);
  expect(sum(first, 'gzipBytes')).toBeLessThanOrEqual(60_000);
});

test('the page adds at most 400 KB to the package', () => {
  expect(sum(names, 'bytes') + sum(names, 'gzipBytes') + sum(names, 'brotliBytes')).toBeLessThanOrEqual(400_000);
});

test('every file is listed with its compressed copies, and its name changes with its contents', () => {
  const present = readdirSync(folder).filter((name) => /\.(html|js|css)$/.test(name));
  expect(present.sort()).toEqual([...names].sort());
  for (const name of names) {
    for (const extension of ['.gz', '.br'])
      expect(readFileSync(join(folder, name + extension)).length).toBeGreaterThan(0);
    expect(files[name]?.immutable).toBe(name !== 'index.html');
  }
});

test('the document has no inline script or style and loads nothing from elsewhere', () => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*\bsrc=)|\bon[a-z]+=/);
  const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map((match) => match[1] as string);
  expect(addresses.filter((address) => address !== 'data:,' && !names.includes(address))).toEqual([]);
});
