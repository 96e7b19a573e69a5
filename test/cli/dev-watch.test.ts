// The files that mooring dev watches: one report per change, and none of a file that is being written.
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { FileWatcher } from '../../src/app/dev/watch-files.ts';
import { useClosers } from '../support/closers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const closers = useClosers();
const timeout = 60_000;

function watched(): { readonly file: string; readonly reported: string[] } {
  const file = join(temporaryFolder(), 'tools.ts');
  writeFileSync(file, 'first');
  return { file, reported: watch(file) };
}

/** What is in the file whenever it is reported. */
function watch(file: string): string[] {
  const reported: string[] = [];
  const watcher = new FileWatcher(() => reported.push(readFileSync(file, 'utf8')));
  closers.push(async () => watcher.close());
  watcher.add(file);
  return reported;
}

test('a file that is empty while it is written is reported when it has been written', { timeout }, async () => {
  const { file, reported } = watched();
  writeFileSync(file, '');
  // Several times as long as events of one write are waited for.
  await new Promise((resolve) => setTimeout(resolve, 500));
  writeFileSync(file, 'second');
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['second']);
});

test('an event without a change is not reported', { timeout }, async () => {
  const { file, reported } = watched();
  const { atime, mtime } = statSync(file);
  // A time that the file system stores exactly.
  const whole = new Date(Math.floor(mtime.getTime() / 1_000) * 1_000);
  utimesSync(file, atime, whole);
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['first']);
  utimesSync(file, atime, whole);
  await new Promise((resolve) => setTimeout(resolve, 500));
  writeFileSync(file, 'second');
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['first', 'second']);
});

test('a file in a folder that does not exist is reported when it is created', { timeout }, async () => {
  const file = join(temporaryFolder(), 'later/tools.ts');
  const reported = watch(file);
  mkdirSync(dirname(file));
  writeFileSync(file, 'first');
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['first']);
  writeFileSync(file, 'second');
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['first', 'second']);
});

test('files are watched when their folder was removed and created again', { timeout }, async () => {
  const file = join(temporaryFolder(), 'sources/tools.ts');
  mkdirSync(dirname(file));
  writeFileSync(file, 'first');
  const reported = watch(file);
  rmSync(dirname(file), { recursive: true });
  mkdirSync(dirname(file));
  writeFileSync(file, 'second');
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['second']);
  writeFileSync(file, 'third');
  await expect.poll(() => reported, { timeout: 30_000 }).toEqual(['second', 'third']);
});
