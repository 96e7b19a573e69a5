// The standard folders of this platform for data and configuration.

import { basename, dirname, join, posix, win32 } from 'node:path';
import { UsageError } from '../usage-error.ts';

/** The inputs; tests pass their own. */
export interface Platform {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** The platform this process runs on. */
export function thisPlatform(env: Readonly<Record<string, string | undefined>> = process.env): Platform {
  return { platform: process.platform, env, home: homeFolder() };
}

/**
 * Same as `os.homedir()`, which reads the environment first; `node:os` is loaded only if that is not set. With an empty `HOME`
 * that returns an empty text, and files would be stored in the working folder.
 */
function homeFolder(): string {
  const named = set(process.env[process.platform === 'win32' ? 'USERPROFILE' : 'HOME']);
  if (named !== undefined) return named;
  const { homedir, userInfo } = process.getBuiltinModule('node:os');
  try {
    return homedir() || userInfo().homedir;
  } catch {
    // A user id without an account, as in a container.
    throw new UsageError('The home folder is not known: this user has no account here. Set HOME');
  }
}

/** `~/.local/share/mooring`, `~/Library/Application Support/mooring` or `%LOCALAPPDATA%\mooring`. */
export function dataFolder(at: Platform): string {
  if (at.platform === 'win32') {
    return win32.join(set(at.env['LOCALAPPDATA']) ?? win32.join(at.home, 'AppData', 'Local'), 'mooring');
  }
  if (at.platform === 'darwin') return posix.join(at.home, 'Library', 'Application Support', 'mooring');
  return posix.join(absolute(at.env['XDG_DATA_HOME']) ?? posix.join(at.home, '.local', 'share'), 'mooring');
}

/** The user configuration: `~/.config/mooring/mooring.json` on Linux. */
export function userConfigFile(at: Platform): string {
  if (at.platform === 'win32') {
    return win32.join(set(at.env['APPDATA']) ?? win32.join(at.home, 'AppData', 'Roaming'), 'mooring', 'mooring.json');
  }
  if (at.platform === 'darwin') {
    return posix.join(at.home, 'Library', 'Application Support', 'mooring', 'mooring.json');
  }
  return posix.join(absolute(at.env['XDG_CONFIG_HOME']) ?? posix.join(at.home, '.config'), 'mooring', 'mooring.json');
}

/** Folder and base name of an audit log such as `audit.jsonl`. */
export function auditLocation(file: string): { readonly directory: string; readonly name: string } {
  return { directory: dirname(file), name: basename(file).replace(/\.jsonl?$/, '') };
}

/** The log of a server whose settings name no other file. */
export const defaultAuditFile = (dataDir: string): string => join(dataDir, 'audit.jsonl');

/** The file that is written to: its name always ends in `.jsonl`, so that the full files of a log can be told by their names. */
export function auditFile(file: string): string {
  const { directory, name } = auditLocation(file);
  return join(directory, `${name}.jsonl`);
}

/** Where the client stores sign-ins. The same path as in `client/auth`, which is not imported because it loads all of OAuth. */
export function credentialFile(at: Platform): string {
  if (at.platform === 'win32') {
    return win32.join(set(at.env['LOCALAPPDATA']) ?? win32.join(at.home, 'AppData', 'Local'), 'mooring', credentials);
  }
  if (at.platform === 'darwin') return posix.join(at.home, 'Library', 'Application Support', 'mooring', credentials);
  const state = set(at.env['XDG_STATE_HOME']) ?? posix.join(at.home, '.local', 'state');
  return posix.join(state, 'mooring', credentials);
}
const credentials = 'credentials.json';

/** The XDG rules: a value that is not absolute is ignored. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && posix.isAbsolute(path) ? path : undefined;
}

function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** A path for output, with `~` for the home folder. */
export function shortened(file: string): string {
  const home = homeFolder();
  return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}
