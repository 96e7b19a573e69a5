// Work that one of several test processes does for all.

import { mkdirSync, rmSync, statSync } from 'node:fs';

/**
 * Does the work in one process, while the others wait and look again whether it is done. `lock`: a folder; one that is older
 * than `staleMs` belongs to a dead process.
 */
export function inOneProcess<T>(lock: string, staleMs: number, done: () => T | undefined, work: () => T): T {
  for (;;) {
    const result = done();
    if (result !== undefined) return result;
    if (takeLock(lock, staleMs)) {
      try {
        return done() ?? work();
      } finally {
        rmSync(lock, { recursive: true, force: true });
      }
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
}

function takeLock(lock: string, staleMs: number): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleMs) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
