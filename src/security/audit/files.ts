// The files of one log: `audit.jsonl` is written to, `audit.000001.jsonl` and so on are finished. Knows names and ends,
// not lines.

import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** The file lines go to. */
export const currentFile = (directory: string, name: string): string => join(directory, `${name}.jsonl`);

export const finishedFile = (directory: string, name: string, number: number): string =>
  join(directory, `${name}.${String(number).padStart(6, '0')}.jsonl`);

/** Numbers of the finished files, oldest first. */
export function finishedNumbers(directory: string, name: string): number[] {
  const pattern = /^(.*)\.(\d{6,})\.jsonl$/;
  return readdirSync(directory)
    .flatMap((each) => {
      const found = pattern.exec(each);
      return found?.[1] === name ? [Number(found[2])] : [];
    })
    .sort((a, b) => a - b);
}

/** Every file of a log in the order of its chain. */
export function logFiles(directory: string, name: string): string[] {
  const finished = finishedNumbers(directory, name).map((number) => finishedFile(directory, name, number));
  const current = `${name}.jsonl`;
  return readdirSync(directory).includes(current) ? [...finished, join(directory, current)] : finished;
}

/** The logs in a directory: one per writer that was at work at the same time. */
export function logNames(directory: string, name: string): string[] {
  const names = new Set<string>();
  for (const each of readdirSync(directory)) {
    const found = /^(.*?)(?:\.\d{6,})?\.jsonl$/.exec(each)?.[1];
    if (found === name || (found?.startsWith(`${name}-`) && /^\d+$/.test(found.slice(name.length + 1)))) {
      names.add(found);
    }
  }
  return [...names].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** How a file ends. */
export interface FileEnd {
  readonly bytes: number;
  /** The last line that has its line break. */
  readonly lastLine: string | undefined;
  /** What stands behind it: the beginning of a line whose writer was killed. */
  readonly torn: Buffer;
}

/** No line of ours is longer, so whoever goes back this far without a line break has found something else. */
const maxLookBackBytes = 4 * 1024 * 1024;

/** Looks at the end of a file, without reading the rest. */
export function readEnd(path: string): FileEnd {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = fstatSync(descriptor).size;
    for (let span = 64 * 1024; ; span *= 4) {
      const from = Math.max(0, bytes - Math.min(span, maxLookBackBytes));
      const tail = Buffer.alloc(bytes - from);
      readFully(descriptor, tail, from);
      const end = tail.lastIndexOf(0x0a);
      const begin = end <= 0 ? -1 : tail.lastIndexOf(0x0a, end - 1);
      const whole = begin !== -1 || from === 0;
      if (!whole && span < maxLookBackBytes) continue;
      const lastLine = end === -1 || !whole ? undefined : tail.subarray(begin + 1, end).toString('utf8');
      return { bytes, lastLine, torn: tail.subarray(end + 1) };
    }
  } finally {
    closeSync(descriptor);
  }
}

function readFully(descriptor: number, into: Buffer, position: number): void {
  let filled = 0;
  while (filled < into.length) {
    const count = readSync(descriptor, into, filled, into.length - filled, position + filled);
    if (count === 0) return;
    filled += count;
  }
}
