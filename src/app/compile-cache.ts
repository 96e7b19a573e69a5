// Stores the compiled code of the program between starts, so that the next start does not have to parse its files again.
// Node.js 22.1 and later. Imports nothing of the program: what is loaded before is not stored.

import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join, posix, win32 } from 'node:path';
import type { Platform } from './config/folders.ts';

/** Inserted by the bundler. */
declare const __VERSION__: string | undefined;

/** Code of so many other builds is kept, for users who have more than one version. */
const maxOthers = 2;
/** The names of builds, and what Node.js itself creates in a cache. */
const ours = /^(\d+\.\d+\.\d+\S*-[0-9a-z]+|v\d+\.\d+\.\d+-\S+)$/;

/** `~/.cache/mooring`, `~/Library/Caches/mooring` or `%LOCALAPPDATA%\mooring\cache`. */
export function cacheFolder({ platform, env, home }: Platform): string {
  if (platform === 'win32') {
    return win32.join(env['LOCALAPPDATA'] || win32.join(home, 'AppData', 'Local'), 'mooring', 'cache');
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Caches', 'mooring');
  const { XDG_CACHE_HOME: named = '' } = env;
  return posix.join(posix.isAbsolute(named) ? named : posix.join(home, '.cache'), 'mooring');
}

/** Stores what is compiled from now on, and uses what was stored. Where that is impossible, nothing happens. */
export function useCompileCache(): void {
  const { enableCompileCache } = process.getBuiltinModule('node:module') as unknown as {
    enableCompileCache(folder: string): unknown;
  };
  try {
    const { platform, env } = process;
    const { homedir, userInfo } = process.getBuiltinModule('node:os');
    // With an empty `HOME`, `homedir()` is empty, too.
    const home = env[platform === 'win32' ? 'USERPROFILE' : 'HOME'] || homedir() || userInfo().homedir;
    const folder = cacheFolder({ platform, env, home });
    // Not `recursive`, which never returns below /proc.
    for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    if (!isPrivate(folder)) return;
    const build = join(folder, buildName());
    const isNew = !existsSync(build);
    enableCompileCache(build);
    // It is not created if the cache is disabled.
    if (isNew && existsSync(build)) removeOthers(build);
  } catch {
    // A home folder that cannot be written.
  }
}

/** Names this build: packages that npm unpacks all have the same time, and builds of a version have different ones. */
function buildName(): string {
  const version = typeof __VERSION__ === 'string' ? __VERSION__ : '0.0.0';
  return `${version}-${Math.trunc(statSync(new URL(import.meta.url)).mtimeMs).toString(36)}`;
}

/** Removes the code of other builds, except the newest: Node.js never does. */
function removeOthers(build: string): void {
  const folder = dirname(build);
  const found = readdirSync(folder).flatMap((name) => (ours.test(name) ? [join(folder, name)] : []));
  const others = found.filter((path) => path !== build).map((path) => ({ path, ms: statSync(path).mtimeMs }));
  for (const { path } of others.sort((a, b) => b.ms - a.ms).slice(maxOthers)) {
    // Not in the background: a short command would end before it is done.
    rmSync(path, { recursive: true, force: true });
  }
}

/** Whether no other user can write there: this process executes what is stored in the folder. */
function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
