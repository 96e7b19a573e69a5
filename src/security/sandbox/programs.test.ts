import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import type { SandboxError } from './errors.ts';
import { admitCommand, resolvePrograms } from './programs.ts';

let directory: string;

beforeAll(() => {
  directory = temporaryFolder();
  writeFileSync(join(directory, 'tool'), '#!/bin/sh\n');
  chmodSync(join(directory, 'tool'), 0o755);
  writeFileSync(join(directory, 'text'), 'not a program');
  symlinkSync(join(directory, 'tool'), join(directory, 'link'));
});

const nowhere = { readOnly: [], writable: [] };

function errorOf(attempt: () => unknown): string {
  try {
    attempt();
    return 'admitted';
  } catch (cause) {
    return (cause as SandboxError).code;
  }
}

test('a name becomes an absolute path in a system directory', () => {
  const table = resolvePrograms(['ls'], nowhere);
  expect(table.get('ls')?.path).toMatch(/^\/(usr\/)?bin\/ls$/);
  expect(table.get(table.get('ls')!.path)).toBe(table.get('ls'));
});

test('a program outside the system directories must be in a read-only directory', () => {
  const path = join(directory, 'tool');
  expect(resolvePrograms([path], { readOnly: [directory], writable: [] }).get('tool')?.path).toBe(path);
  expect(errorOf(() => resolvePrograms([path], nowhere))).toBe('program-not-found');
  expect(errorOf(() => resolvePrograms([path], { readOnly: [directory], writable: [directory] }))).toBe(
    'program-not-found',
  );
});

test('files that are not programs are not found: text, directories, relative paths, links out', () => {
  const readOnly = [directory];
  for (const path of [join(directory, 'text'), directory, '/usr', './ls', 'usr/bin/ls', '/usr/bin/no-such', '']) {
    expect(errorOf(() => resolvePrograms([{ name: 'x', path }], { readOnly, writable: [] }))).toBe('program-not-found');
  }
  const outside = { readOnly: ['/usr/share'], writable: [] };
  expect(errorOf(() => resolvePrograms([join(directory, 'link')], outside))).toBe('program-not-found');
});

const table = resolvePrograms(
  [
    'ls',
    { name: 'find', options: ['-name', '-l', '-a', '--color'] },
    { name: 'cat', options: 'deny' },
    { name: 'echo', options: 'deny', fixedArgs: ['-n', '--'] },
  ],
  nowhere,
);
const admit = (program: string, ...args: string[]) => errorOf(() => admitCommand(table, program, args, 1_000));

test('only programs of the table are allowed, by exact name or path', () => {
  expect(admit('ls')).toBe('admitted');
  for (const name of ['LS', 'ls ', './ls', 'bin/ls', 'sh', '', '__proto__', 'toString']) {
    expect(admit(name)).toBe('program-not-allowed');
  }
});

test('options can be allowed, denied, or listed', () => {
  expect(admit('ls', '-la', '--all')).toBe('admitted');
  expect(admit('cat', 'file', '-')).toBe('admitted');
  expect(admit('cat', '-n')).toBe('argument-not-allowed');
  expect(admit('cat', '--', '-n')).toBe('admitted');
});

test('a listed option allows its joined form and its form with a value, and no other option with the same prefix', () => {
  for (const option of ['-name', '-l', '-la', '-al', '--color', '--color=always']) {
    expect(`${option} ${admit('find', option)}`).toBe(`${option} admitted`);
  }
  for (const option of ['-exec', '-names', '-lx', '-l=x', '--colors', '--col', '-n', '--exec=x', '---', '-–']) {
    expect(`${option} ${admit('find', option)}`).toBe(`${option} argument-not-allowed`);
  }
});

test('fixed arguments come first and are not checked like those of a request', () => {
  expect(admitCommand(table, 'echo', ['a'], 1_000).args).toEqual(['-n', '--', 'a']);
});

test('arguments are bounded strings without NUL', () => {
  expect(admit('ls', 'a\0b')).toBe('argument-not-allowed');
  expect(admit('ls', 'x'.repeat(1_001))).toBe('argument-not-allowed');
  expect(errorOf(() => admitCommand(table, 'ls', [{} as string], 1_000))).toBe('argument-not-allowed');
});
