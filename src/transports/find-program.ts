// Where the program of a command is found, as the system would find it.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { meantUrl } from '../common/meant-url.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The full path of a program, or why there is none. */
export function findProgram(
  program: string,
  env: Variables,
  cwd: string,
): { readonly path: string } | { readonly why: string } {
  if (!isFolder(cwd)) return { why: `its working folder ${cwd} does not exist, or you may not use it` };
  const places = programPlaces(program, env, cwd);
  const path = places.find(isProgram);
  if (path !== undefined) return { path };
  if (isPath(program, process.platform)) {
    const [path = program] = places;
    return {
      why: existsSync(path)
        ? `${path} is not an executable file; start a script with its interpreter, as in "node ${program}"`
        : `there is no program at ${path}${urlHint(program)}`,
    };
  }
  const advice = /\s/.test(program)
    ? 'if it has arguments, give them separately ("args" in a file)'
    : 'install it or give the full path';
  return { why: `${program} was not found in PATH; ${advice}${urlHint(program)}` };
}

/** What Windows can start, in the order in which its shell tries the extensions. */
const windowsExtensions = ['.com', '.exe', '.bat', '.cmd'];

/** The files that a program may be, in the order of preference. */
export function programPlaces(
  program: string,
  env: Variables,
  cwd: string,
  platform = process.platform,
): readonly string[] {
  const isWindows = platform === 'win32';
  const { delimiter, join, resolve } = isWindows ? win32 : posix;
  // A file without one of the extensions cannot be started there: npx is a script for other shells beside npx.cmd.
  const isComplete = !isWindows || windowsExtensions.includes(win32.extname(program).toLowerCase());
  const files = isComplete ? [program] : windowsExtensions.map((extension) => program + extension);
  if (isPath(program, platform)) return files.map((file) => resolve(cwd, file));
  const name = Object.keys(env).find((each) => (isWindows ? each.toUpperCase() : each) === 'PATH') ?? 'PATH';
  const folders = (env[name] ?? '').split(delimiter).map((folder) => resolve(cwd, folder === '' ? '.' : folder));
  return folders.flatMap((folder) => files.map((file) => join(folder, file)));
}

function isPath(program: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? /[/\\]|^[a-z]:/i.test(program) : program.includes('/');
}

function urlHint(program: string): string {
  const meant = meantUrl(program);
  return meant === undefined ? '' : `. A URL needs its scheme: ${JSON.stringify(meant)}`;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Not there, or not for us: either way nothing can be started in it.
  }
}

/** Whether there is a file that may be started. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Not there, or not for us: either way not a program we could start.
  }
}
