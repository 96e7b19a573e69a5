// Runs one clipboard program: found by absolute path, arguments fixed, text only through its pipes, ended with the call.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClipboardError } from './backend.ts';

export interface ProgramRun {
  /** What the program reads. */
  readonly input?: string;
  /** More output than this ends the program: another program may have put anything into the clipboard. */
  readonly maxBytes?: number;
  /**
   * The program leaves a process behind that holds the clipboard and keeps our pipes open: its own exit counts, and
   * there is no output to wait for.
   */
  readonly leavesOwner?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface ProgramEnd {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly output: Buffer;
  readonly errors: string;
}

/** Variables the programs need; what else is in our environment is none of their business. */
const passedOn = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TMPDIR', 'TMP', 'TEMP'],
  ...['DISPLAY', 'XAUTHORITY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'XDG_SESSION_TYPE'],
  ...['SystemRoot', 'windir', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'WSL_INTEROP', 'WSL_DISTRO_NAME', 'WSLENV'],
];

const maxErrorChars = 2_000;

export async function runProgram(path: string, args: readonly string[], run: ProgramRun): Promise<ProgramEnd> {
  const { spawn } = await import('node:child_process');
  if (run.signal.aborted) throw run.signal.reason;
  const child = spawn(path, [...args], { env: environment(run.env), stdio: 'pipe', windowsHide: true });
  try {
    return await attend(child, path, run);
  } finally {
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  }
}

function environment(extra: ProgramRun['env']): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}

function attend(child: ChildProcessWithoutNullStreams, path: string, run: ProgramRun): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    const abort = (): void => reject(run.signal.reason);
    run.signal.addEventListener('abort', abort, { once: true });
    child.once('error', (cause) =>
      reject(new ClipboardError(`${path} can not be run (${cause.message})`, undefined, cause)),
    );
    child.once(run.leavesOwner === true ? 'exit' : 'close', (code) => {
      run.signal.removeEventListener('abort', abort);
      resolve({ code: code ?? undefined, output: Buffer.concat(chunks), errors });
    });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (run.maxBytes === undefined || bytes <= run.maxBytes) chunks.push(chunk);
      else reject(new ClipboardError(`it holds more than ${run.maxBytes} bytes of text`));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(0, maxErrorChars)));
    child.stdin.on('error', () => {}); // A program that ends early is judged by its exit code.
    child.stdin.end(run.input ?? '');
  });
}

/** Bytes of a clipboard as text: UTF-8, or what came before it. */
export function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1'); // Programs that offer only the old X11 type STRING.
  }
}

/** How long a display may take to hand out a text that was just set, in ms. */
const patienceMs = 3_000;

/**
 * Waits until the clipboard reads as `text`. The programs go into the background before the display knows of them, so
 * only reading shows that others can see it.
 */
export async function untilVisible(text: string, read: () => Promise<string>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (let waitMs = 2; (await read()) !== text; waitMs = Math.min(waitMs * 2, 100)) {
    if (performance.now() > deadline) {
      throw new ClipboardError('it holds another text than was set', 'Another program may have taken it; try again');
    }
    await sleep(waitMs, undefined, { signal });
  }
}
