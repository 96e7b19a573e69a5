// System programs that some tests need. Where we may (root, apt), a missing one is installed, once for all test
// processes; elsewhere the tests that need it are skipped and said so. With CI=true all of them are installed before the
// first test, and one that is still missing is a failure.

import { spawnSync } from 'node:child_process';
import { accessSync, appendFileSync, constants, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOneProcess } from './one-process.ts';

const searched = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];
const lockDirectory = join(tmpdir(), 'mooring-test-apt.lock');
const missingFile = join(tmpdir(), 'mooring-test-missing-programs.txt');

/** An installation takes some minutes on a slow line; a lock older than this belongs to a dead process. */
const staleLockMs = 300_000;

/** Debian's package for each program. */
const packages = {
  busybox: 'busybox',
  bwrap: 'bubblewrap',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  'dbus-daemon': 'dbus',
  perl: 'perl-base',
  prlimit: 'util-linux',
  python3: 'python3',
  'redis-server': 'redis-server',
  script: 'bsdutils',
  sway: 'sway',
  'wl-copy': 'wl-clipboard',
  xclip: 'xclip',
  xsel: 'xsel',
  Xvfb: 'xvfb',
} as const;

export type Program = keyof typeof packages;

/** Absolute path of a program in the system directories. */
export function findProgram(name: string): string | undefined {
  return searched.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * True when the program is there, installing it first if that is possible. False is recorded for the closing summary;
 * with CI=true it throws instead.
 *
 * @example
 * const available = ensureProgram('bwrap');
 * describe.skipIf(!available)('…', …);
 */
export function ensureProgram(name: Program): boolean {
  if (findProgram(name) !== undefined || (mayInstall() && installPrograms([name]))) return true;
  return reportMissing(`${name} is missing (Debian: apt-get install ${packages[name]})`);
}

/** Installs everything tests may need at once, which is much faster than one by one, and no test waits for it. */
export function ensureAllPrograms(): void {
  if (mayInstall()) installPrograms(Object.keys(packages) as Program[]);
}

/** Notes for the closing summary what cannot be tested here, and why; with CI=true it throws instead. */
export function reportMissing(message: string): false {
  if (process.env['CI'] === 'true') throw new Error(`${message}; with CI=true that is a failure`);
  appendFileSync(missingFile, `${message}\n`);
  console.warn(`skipped: ${message}`);
  return false;
}

/** What `ensureProgram` could not provide since the last call, for a closing summary. */
export function takeMissingPrograms(): string[] {
  if (!existsSync(missingFile)) return [];
  const lines = readFileSync(missingFile, 'utf8').trim().split('\n');
  rmSync(missingFile, { force: true });
  return [...new Set(lines)];
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined;
}

/** Tests run in several processes; apt has one lock. */
function installPrograms(names: readonly Program[]): boolean {
  const missing = (): Program[] => names.filter((name) => findProgram(name) === undefined);
  return inOneProcess<boolean>(
    lockDirectory,
    staleLockMs,
    () => missing().length === 0 || undefined,
    () => install(missing()),
  );
}

function install(names: readonly Program[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) => spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: staleLockMs / 2 });
  const command = ['install', '-y', '-qq', '--no-install-recommends', ...names.map((name) => packages[name])];
  // The package lists of a fresh machine are empty; fetching them is slow, so it is the second try.
  if (apt(...command).status !== 0) {
    apt('update', '-qq');
    apt(...command);
  }
  return names.every((name) => findProgram(name) !== undefined);
}
