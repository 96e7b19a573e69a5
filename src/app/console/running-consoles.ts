// The running consoles of this user. Each writes its link to a file in the runtime folder that only the user can read.
// Clients hide the output of a server, so "mooring console" finds the console of a server on stdio.

import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning } from '../../transports/is-running.ts';
import { controlFolder, makePrivate } from '../gateway/control-socket.ts';

/** A console that was announced. */
export interface RunningConsole {
  readonly pid: number;
  /** What it shows: the name of a server, or a command. */
  readonly title: string;
  readonly link: string;
  readonly startedAt: string;
}

const fileOf = (pid: number): string => join(controlFolder(), `console-${pid}.json`);

/** Writes the link of a console of this process. It is removed when the process ends. */
function announceRunning(title: string, link: string): void {
  const folder = controlFolder();
  if (process.platform === 'win32') mkdirSync(folder, { recursive: true });
  else makePrivate(folder);
  const file = fileOf(process.pid);
  rmSync(file, { force: true });
  const running: RunningConsole = { pid: process.pid, title, link, startedAt: new Date().toISOString() };
  writeFileSync(file, JSON.stringify(running), { mode: 0o600, flag: 'wx' });
  process.once('exit', () => removeQuietly(file));
}

/** The same, but a failure is ignored. */
export function tryAnnounceRunning(title: string, link: string): void {
  try {
    announceRunning(title, link);
  } catch {
    // The link has been printed; only "mooring console" cannot find it.
  }
}

/** Those whose processes run. Files of others are removed. */
export function runningConsoles(): readonly RunningConsole[] {
  let names: string[];
  try {
    names = readdirSync(controlFolder());
  } catch {
    return []; // There is no such folder yet.
  }
  return names.flatMap((name) => {
    const pid = Number(/^console-(\d+)\.json$/.exec(name)?.[1]);
    if (Number.isNaN(pid)) return [];
    if (!isRunning(pid)) {
      removeQuietly(fileOf(pid));
      return [];
    }
    try {
      // A file of another user could contain any link.
      if (process.getuid !== undefined && lstatSync(fileOf(pid)).uid !== process.getuid()) return [];
      return [JSON.parse(readFileSync(fileOf(pid), 'utf8')) as RunningConsole];
    } catch {
      return []; // It ended meanwhile, or is being written.
    }
  });
}

/** A file of another user cannot be removed, and is never used. */
function removeQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The file stays.
  }
}

/** A link with a code that works once: the arguments of a browser are visible to other users. Throws if it does not respond. */
export async function oneTimeLink({ pid, link }: RunningConsole): Promise<string> {
  const { origin, pathname, hash } = new URL(link);
  const headers = { Authorization: `Bearer ${hash.slice('#t='.length)}` };
  const signal = AbortSignal.timeout(5_000);
  const response = await fetch(`${origin}${pathname}api/codes`, { method: 'POST', headers, signal }).catch(
    (error: Error) => {
      const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
      const why = code ?? error.message;
      throw new Error(
        `The console of process ${pid} does not respond at ${origin} (${why}). Restart the server that it belongs to`,
        { cause: error },
      );
    },
  );
  if (!response.ok) throw new Error(`The console responded with status ${response.status}`);
  const { code } = (await response.json()) as { readonly code: string };
  return `${origin}${pathname}#c=${code}`;
}
