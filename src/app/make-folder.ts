// Makes a folder with what is missing above it. Node's own way to do that never returns below /proc before Node 22: it
// makes the parents, finds them still missing, and begins again.

import { systemReason } from '../protocol/system-reasons.ts';
import { Mistake } from './mistake.ts';
import { dirname, existsSync, mkdirSync, statSync } from './node-modules.ts';

/** Throws what the operating system says where it can not be made; a folder that is there stays as it is. */
export function makeFolder(path: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = path; !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at);
  for (const each of missing.reverse()) makeOne(each, mode);
  // What is there may be a file, or a link that leads nowhere.
  if (!statSync(path).isDirectory()) {
    throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${path}'`), { code: 'ENOTDIR' });
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The same for a folder that somebody named: `where` says how. */
export function requireFolder(path: string, where: string): void {
  try {
    makeFolder(path);
  } catch (error) {
    const reason = isMissing(error) ? 'no folder can be made there' : systemReason(error, 'folder');
    throw new Mistake(`${where}: ${path} can not be made: ${reason ?? (error as Error).message}`);
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
