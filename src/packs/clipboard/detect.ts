// Finds the clipboard of this machine. Checks the system, the display and the installed programs, and reports what is
// missing if there is none.

import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { type BackendName, type ClipboardBackend, ClipboardError, noDisplay } from './backend.ts';
import { macosBackend } from './macos.ts';
import { memoryBackend } from './memory.ts';
import { waylandBackend } from './wayland.ts';
import { windowsBackend } from './windows.ts';
import { xclipBackend, xselBackend } from './x11.ts';

/** What detection depends on. */
export interface Machine {
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The absolute path of an installed program. */
  find(program: string): string | undefined;
  isWsl(): boolean;
}

/** The clipboard by name. Throws a `ClipboardError` that says what to do. */
export function pickBackend(name: BackendName, around: Machine = thisMachine): ClipboardBackend {
  switch (name) {
    case 'auto':
      return detect(around);
    case 'memory':
      return memoryBackend();
    case 'macos':
      return macosBackend();
    case 'wayland':
      return waylandBackend(need(around, 'wl-copy', 'wl-clipboard'), need(around, 'wl-paste', 'wl-clipboard'));
    case 'xclip':
      return xclipBackend(need(around, 'xclip', 'xclip'));
    case 'xsel':
      return xselBackend(need(around, 'xsel', 'xsel'));
    case 'windows':
    case 'wsl':
      return windowsBackend(needPowershell(around), name);
  }
}

function detect(around: Machine): ClipboardBackend {
  const { platform, env } = around;
  if (platform === 'win32') return pickBackend('windows', around);
  if (platform === 'darwin') return pickBackend('macos', around);
  if (around.isWsl() && findPowershell(around) !== undefined) return pickBackend('wsl', around);
  const wayland = isSet(env['WAYLAND_DISPLAY']);
  const x11 = isSet(env['DISPLAY']);
  if (wayland && around.find('wl-copy') !== undefined) return pickBackend('wayland', around);
  if (x11 && around.find('xclip') !== undefined) return pickBackend('xclip', around);
  if (x11 && around.find('xsel') !== undefined) return pickBackend('xsel', around);
  if (wayland) throw missing('wl-copy', 'wl-clipboard');
  if (x11) throw missing('xclip or xsel', 'xclip');
  throw noDisplay();
}

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

function missing(program: string, debianPackage: string): ClipboardError {
  return new ClipboardError(
    `${program} is not installed`,
    `Install it with your package manager, on Debian and Ubuntu: apt install ${debianPackage}`,
  );
}

function need(around: Machine, program: string, debianPackage: string): string {
  const path = around.find(program);
  if (path === undefined) throw missing(program, debianPackage);
  return path;
}

function needPowershell(around: Machine): string {
  const path = findPowershell(around);
  if (path === undefined) {
    throw new ClipboardError('powershell.exe was not found', 'It is part of Windows; add its folder to PATH');
  }
  return path;
}

/** Its location in Windows first, then PATH, where other programs may have put anything. */
function findPowershell({ platform, env, find }: Machine): string | undefined {
  const inSystem = 'System32/WindowsPowerShell/v1.0/powershell.exe';
  const usual =
    platform === 'win32' ? join(env['SystemRoot'] ?? 'C:/Windows', inSystem) : join('/mnt/c/Windows', inSystem);
  return statSync(usual, { throwIfNoEntry: false })?.isFile() === true ? usual : find('powershell.exe');
}

const thisMachine: Machine = {
  platform: process.platform,
  env: process.env,
  find: (program) =>
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .filter(isAbsolute) // A relative entry would run any file of that name in the current folder.
      .map((folder) => join(folder, program))
      .find(isProgram),
  isWsl() {
    if (process.platform !== 'linux') return false;
    if (isSet(process.env['WSL_DISTRO_NAME'])) return true;
    try {
      return /microsoft/i.test(readFileSync('/proc/sys/kernel/osrelease', 'utf8'));
    } catch {
      return false; // No /proc: certainly not WSL.
    }
  },
};

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
