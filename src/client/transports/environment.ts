// What a child process gets to see of our environment, and where its program is found.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { meantUrl } from '../../common/meant-url.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Enough to find programs, a home and a language. Tokens and keys of ours are none of a server's business. */
const allowed =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'COMSPEC',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'PROGRAMDATA',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'TMP',
        'USERNAME',
        'USERPROFILE',
        'WINDIR',
      ]
    : ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'];

/** The environment of a child: the allow-list, what is named besides, and what is given. */
export function childEnvironment(
  given: Readonly<Record<string, string>> = {},
  inherit: readonly string[] | true = [],
  own: Environment = process.env,
): Record<string, string> {
  const names = inherit === true ? Object.keys(own) : [...allowed, ...inherit];
  const env: Record<string, string> = {};
  for (const name of names) {
    const value = own[name];
    // A value that begins so is a function for some shells: code, not data.
    if (value !== undefined && !value.startsWith('()')) env[name] = value;
  }
  return { ...env, ...given };
}

/** The full path of a program, or why there is none. */
export function findProgram(
  program: string,
  { PATH = '' }: Environment,
  cwd: string,
): { readonly path: string } | { readonly why: string } {
  if (!isFolder(cwd)) return { why: `its working folder ${cwd} does not exist, or you may not use it` };
  if (program.includes('/') || isAbsolute(program)) {
    const path = resolve(cwd, program);
    if (isProgram(path)) return { path };
    return {
      why: existsSync(path)
        ? `${path} is not an executable file; start a script with its interpreter, as in "node ${program}"`
        : `there is no program at ${path}${urlHint(program)}`,
    };
  }
  for (const folder of PATH.split(delimiter)) {
    const path = join(resolve(cwd, folder === '' ? '.' : folder), program);
    if (isProgram(path)) return { path };
  }
  const advice = /\s/.test(program)
    ? 'if it has arguments, give them separately ("args" in a file)'
    : 'install it or give the full path';
  return { why: `${program} was not found in PATH; ${advice}${urlHint(program)}` };
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

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Not there, or not for us: either way not a program we could start.
  }
}
