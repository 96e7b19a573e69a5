// Stores the compiled code of the program between starts, so that the next start does not have to parse its files again.
// Node.js 22.1 and later. Imports nothing of the program: what is loaded before is not stored.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { Platform } from './config/folders.ts';

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
    const home = env[platform === 'win32' ? 'USERPROFILE' : 'HOME'] || process.getBuiltinModule('node:os').homedir();
    const folder = cacheFolder({ platform, env, home });
    // Not `recursive`, which never returns below /proc.
    for (const each of [dirname(folder), folder]) if (!existsSync(each)) mkdirSync(each, { mode: 0o700 });
    if (isPrivate(folder)) enableCompileCache(folder);
  } catch {
    // A home folder that cannot be written.
  }
}

/** Whether no other user can write there: this process executes what is stored in the folder. */
function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
