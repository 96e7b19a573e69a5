// The files of one log: `audit.jsonl` is written to, `audit.000001.jsonl` and so on are finished. Knows names and ends,
// not lines.

import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** The file lines go to. */
export const currentFile = (directory: string, name: string): string => join(directory, `${name}.jsonl`);

export const finishedFile = (directory: string, name: string, number: number): string =>
  join(directory, `${name}.${String(number).padStart(6, '0')}.jsonl`);

/** Numbers of the finished files, oldest first. */
export const finishedNumbers = (directory: string, name: string): number[] => numbersIn(readdirSync(directory), name);

function numbersIn(all: readonly string[], name: string): number[] {
  const pattern = /^(.*)\.(\d{6,})\.jsonl$/;
  return all
    .flatMap((each) => {
      const found = pattern.exec(each);
      return found?.[1] === name ? [Number(found[2])] : [];
    })
    .sort((a, b) => a - b);
}

/** Every file of a log in the order of its chain. */
export function logFiles(directory: string, name: string): string[] {
  // One listing: if the current file were finished between two listings, both would miss it.
  const all = readdirSync(directory);
  const finished = numbersIn(all, name).map((number) => finishedFile(directory, name, number));
  const current = `${name}.jsonl`;
  return all.includes(current) ? [...finished, join(directory, current)] : finished;
}

/** The logs in a folder: one per writer that ran at the same time. */
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

/** The base names of all logs in a folder. */
export function logsIn(directory: string): string[] {
  const names = new Set(readdirSync(directory).flatMap((each) => /^(.+?)(?:\.\d{6,})?\.jsonl$/.exec(each)?.[1] ?? []));
  const isFurther = (name: string): boolean => {
    const base = /^(.+)-\d+$/.exec(name)?.[1];
    return base !== undefined && names.has(base);
  };
  return [...names].filter((name) => !isFurther(name)).sort();
}

/** How a file ends. */
export interface FileEnd {
  /** The last complete lines. */
  readonly lines: readonly Buffer[];
  /** Bytes after them: the beginning of a line whose writer was killed. */
  readonly torn: Buffer;
}

/** Groups are never longer. If no group begins within these bytes, the file is not one of ours. */
const maxLookBackBytes = 8 * 1024 * 1024;

/** A line is never longer than a group. */
export const maxLineBytes = maxLookBackBytes;

/** Reads the end of a file, only as far back as lines are needed. */
export function readEnd(path: string, isEnough: (lines: readonly Buffer[]) => boolean): FileEnd {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = fstatSync(descriptor).size;
    for (let span = 64 * 1024; ; span *= 4) {
      const from = Math.max(0, bytes - Math.min(span, maxLookBackBytes));
      const tail = Buffer.alloc(bytes - from);
      readFully(descriptor, tail, from);
      const pieces = splitLines(tail);
      const torn = pieces.pop() as Buffer;
      // The first piece may be the end of a line.
      if (from > 0) pieces.shift();
      if (from === 0 || span >= maxLookBackBytes || isEnough(pieces)) return { lines: pieces, torn };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The pieces before, between and after line breaks. */
function splitLines(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let begin = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, begin)) {
    pieces.push(bytes.subarray(begin, end));
    begin = end + 1;
  }
  pieces.push(bytes.subarray(begin));
  return pieces;
}

function readFully(descriptor: number, into: Buffer, position: number): void {
  let filled = 0;
  while (filled < into.length) {
    const count = readSync(descriptor, into, filled, into.length - filled, position + filled);
    if (count === 0) return;
    filled += count;
  }
}
