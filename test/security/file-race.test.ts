// A second thread swaps a directory, and a file, for links that lead out, as fast as it can, while we read and write.
// One byte from outside, or one byte written there, fails. Needs the race-free footing, so it runs where that exists.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bestPathAccess, procPathAccess } from '../../src/security/files/path-access.ts';
import { FileError, type FileTree, openRoots } from '../../src/security/files/tree.ts';
import { isFullRun } from '../support/full.ts';

const rounds = isFullRun ? 100_000 : 8_000;
const writeRounds = isFullRun ? 5_000 : 2_000;
const atOnce = 8;

/** Swaps `<name>` with `<name>.spare` by renames, for every name, until told to stop. */
const swapper = `
const { renameSync, rmSync } = require('node:fs');
const { workerData: { names, shared } } = require('node:worker_threads');
const state = new Int32Array(shared);
// While a name is away, the server may make a directory of that name.
const put = (from, to) => {
  const occupied = ['EEXIST', 'EISDIR', 'ENOTEMPTY'];
  for (;;) {
    try {
      return renameSync(from, to);
    } catch (error) {
      if (!occupied.includes(error.code)) throw error;
    }
    try {
      rmSync(to, { recursive: true, force: true });
    } catch (error) {
      // The server goes on making directories in it meanwhile.
      if (!occupied.includes(error.code)) throw error;
    }
  }
};
while (Atomics.load(state, 0) === 0) {
  for (const name of names) {
    renameSync(name, name + '.away');
    put(name + '.spare', name);
    renameSync(name, name + '.spare');
    put(name + '.away', name);
    Atomics.add(state, 1, 2);
  }
}`;

let base: string;
let tree: FileTree;
let state: Int32Array;
let worker: Worker;

beforeEach(async () => {
  // Memory-backed where possible: the race is about names, not about how fast a disk flushes.
  base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'race-'));
  for (const folder of ['root/folder-link', 'root/real', 'outside']) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, 'root/folder-link/x'), 'inside');
  writeFileSync(join(base, 'root/file'), 'inside');
  writeFileSync(join(base, 'root/real/x'), 'inside');
  writeFileSync(join(base, 'outside/x'), 'SECRET');
  symlinkSync(join(base, 'outside'), join(base, 'root/folder-link.spare'));
  symlinkSync('../outside/x', join(base, 'root/file.spare'));
  symlinkSync('real', join(base, 'root/hop'));
  symlinkSync('../outside', join(base, 'root/hop.spare'));
  tree = openRoots([join(base, 'root')], { writable: true });

  const shared = new SharedArrayBuffer(8);
  state = new Int32Array(shared);
  const names = ['folder-link', 'file', 'hop'].map((name) => join(base, 'root', name));
  worker = new Worker(swapper, { eval: true, workerData: { names, shared } });
  await new Promise((resolve) => worker.once('online', resolve));
});

afterEach(async () => {
  Atomics.store(state, 0, 1);
  await new Promise((resolve) => worker.once('exit', resolve));
  rmSync(base, { recursive: true, force: true });
});

/** Runs `total` rounds, a few at a time, and counts how they end. */
async function race(total: number, round: (index: number) => Promise<string>): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  let started = 0;
  const runNext = async () => {
    while (started < total) {
      const outcome = await round(started++).catch((error: unknown) => {
        if (error instanceof FileError && error.code !== 'FILE_IO') return error.code;
        throw error;
      });
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return outcomes;
}

const raceFree = bestPathAccess() === procPathAccess;

test.runIf(raceFree)(
  `${rounds} reads against a swap loop never show a byte from outside`,
  { timeout: 120_000 },
  async () => {
    const targets = ['folder-link/x', 'file', 'hop/x'];
    const outcomes = await race(rounds, async (index) =>
      (await tree.readFile(targets[index % 3] as string)).toString(),
    );
    expect([...outcomes.keys()].sort()).toEqual(['FILE_NOT_FOUND', 'inside']);
    expect(Atomics.load(state, 1)).toBeGreaterThan(200);
  },
);

test.runIf(raceFree)(
  `${writeRounds} writes against a swap loop never leave the root`,
  { timeout: 120_000 },
  async () => {
    const targets = ['folder-link/w', 'hop/w', 'folder-link/x'];
    const outcomes = await race(writeRounds, async (index) => {
      await tree.writeFile(targets[index % 3] as string, 'inside');
      return 'written';
    });
    expect([...outcomes.keys()].sort()).toEqual(['FILE_NOT_FOUND', 'written']);
    expect(readdirSync(join(base, 'outside'))).toEqual(['x']);
    expect(readFileSync(join(base, 'outside/x'), 'utf8')).toBe('SECRET');
    expect(Atomics.load(state, 1)).toBeGreaterThan(200);
  },
);

test.runIf(raceFree)(
  'directories, moves, edits and removals against a swap loop never leave the root',
  { timeout: 120_000 },
  async () => {
    let count = 0;
    const changes = [
      () => tree.makeDirectory(`folder-link/made-${count++}/x`),
      () => tree.makeDirectory('hop/made'),
      () => tree.editFile('folder-link/x', (text) => (text === 'inside' ? 'INSIDE' : 'inside')),
      () => tree.writeFile('folder-link/w', 'inside'),
      () => tree.move('folder-link/w', `folder-link/w-${count++}`),
      () => tree.remove('folder-link/w'),
      () => tree.move('real/x', 'folder-link/moved').then(() => tree.move('folder-link/moved', 'real/x')),
    ];
    const outcomes = await race(isFullRun ? 3_500 : 1_400, async (index) => {
      await (changes[index % changes.length] as () => Promise<unknown>)();
      return 'done';
    });
    expect(outcomes.get('done')).toBeGreaterThan(0);
    expect(readdirSync(join(base, 'outside'))).toEqual(['x']);
    expect(readFileSync(join(base, 'outside/x'), 'utf8')).toBe('SECRET');
  },
);

test.runIf(raceFree)('listing against a swap loop never names what lies outside', { timeout: 120_000 }, async () => {
  writeFileSync(join(base, 'outside/only-outside'), '');
  for (let round = 0; round < (isFullRun ? 500 : 200); round++) {
    const { entries } = await tree.list('.', { recursive: true });
    expect(entries.map((entry) => entry.name)).not.toContain('only-outside');
  }
});
