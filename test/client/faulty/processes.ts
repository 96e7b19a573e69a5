// Which processes carry a mark on their command line: how the tests see that no process is left behind.

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

/** A word no other process has. */
export const newMark = (): string => `mark-${randomUUID()}`;

/** Ids of living processes with the mark among their arguments. */
export function marked(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const state = /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
        return words.includes(mark) && state !== 'Z';
      } catch {
        return false; // It ended while we looked.
      }
    })
    .map(Number);
}

/** Resolves when a condition holds; the limit of the test ends a wait in vain. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((next) => setTimeout(next, 10));
}
