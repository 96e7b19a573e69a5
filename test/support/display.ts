// A display without a screen: Xvfb for X11, sway without outputs for Wayland. Real servers, read and written by the
// real tools from the other side.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './programs.ts';

export interface Display {
  /** What programs need in their environment to find it. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts Xvfb on a free display. */
export async function startX11(): Promise<Display> {
  const child = spawn(
    findProgram('Xvfb') as string,
    ['-displayfd', '3', '-screen', '0', '64x64x24', '-nolisten', 'tcp', '-noreset'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  const number = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
    (child.stdio[3] as NodeJS.ReadableStream).once('data', (data: Buffer) => resolve(data.toString().trim()));
  });
  return { env: { DISPLAY: `:${number}` }, close: () => end(child) };
}

/** Starts sway without screens. */
export async function startWayland(): Promise<Display> {
  const runtime = mkdtempSync(join(tmpdir(), 'mooring-wayland-'));
  chmodSync(runtime, 0o700);
  const isRoot = process.getuid?.() === 0;
  const nobody = 65534;
  if (isRoot) chownSync(runtime, nobody, nobody);
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: runtime,
    XDG_RUNTIME_DIR: runtime,
    WLR_BACKENDS: 'headless',
    WLR_LIBINPUT_NO_DEVICES: '1',
    WLR_RENDERER: 'pixman',
  };
  // sway refuses to run as root.
  const child = spawn(findProgram('sway') as string, ['-c', '/dev/null'], {
    env,
    cwd: '/',
    stdio: 'ignore',
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  for (let tries = 0; tries < 800 && child.exitCode === null; tries++) {
    const socket = readdirSync(runtime).find((name) => /^wayland-\d+$/.test(name));
    const display = { WAYLAND_DISPLAY: socket ?? '', XDG_RUNTIME_DIR: runtime };
    if (socket !== undefined && answers(display)) {
      const close = async (): Promise<void> => {
        await end(child);
        rmSync(runtime, { recursive: true, force: true });
      };
      return { env: display, close };
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  await end(child);
  rmSync(runtime, { recursive: true, force: true });
  throw new Error('sway does not offer a clipboard');
}

function answers(env: Record<string, string>): boolean {
  const result = spawnSync(findProgram('wl-copy') as string, ['ready'], {
    env: { PATH: '/usr/bin', ...env },
    timeout: 20_000,
    stdio: 'ignore',
  });
  return result.status === 0;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await gone;
  clearTimeout(timer);
}

/** A folder with nothing but this program in it, so that it is the one that is found. */
export function onlyFolder(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-path-'));
  folders.push(folder);
  symlinkSync(findProgram(program) as string, join(folder, program));
  return folder;
}

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Runs one of the real tools on the other side; returns what it printed. */
export function otherSide(display: Display, program: string, args: readonly string[], input?: string): string {
  const path = findProgram(program) as string;
  if (!existsSync(path)) throw new Error(`${program} is missing`);
  const env = { PATH: '/usr/bin:/bin', HOME: tmpdir(), ...display.env };
  // Tools that stay in the background keep pipes open: only what is read gets one.
  const stdio: ('pipe' | 'ignore')[] =
    input === undefined ? ['ignore', 'pipe', 'ignore'] : ['pipe', 'ignore', 'ignore'];
  const result = spawnSync(path, [...args], { env, input, timeout: 20_000, stdio, maxBuffer: 64 * 1024 * 1024 });
  return result.stdout?.toString('utf8') ?? '';
}
