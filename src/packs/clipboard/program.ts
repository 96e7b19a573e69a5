// Runs one clipboard program: absolute path, fixed arguments, text only through its pipes, stopped when the call ends.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { pause } from '../../common/wait.ts';
import { ClipboardError } from './backend.ts';

export interface ProgramRun {
  /** Text for the standard input of the program. */
  readonly input?: string;
  /** More output than this stops the program: another program may have put anything into the clipboard. */
  readonly maxBytes?: number;
  /**
   * The program leaves a process behind that owns the clipboard and keeps our pipes open: wait only for its own exit,
   * there is no output to read.
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

/** Environment variables that the programs need; they get no others. */
const passedOn = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TMPDIR', 'TMP', 'TEMP'],
  ...['DISPLAY', 'XAUTHORITY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR', 'XDG_SESSION_TYPE'],
  ...['SystemRoot', 'windir', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'WSL_INTEROP', 'WSL_DISTRO_NAME', 'WSLENV'],
];

const maxErrorChars = 2_000;

/** The clipboard contains more than may be read. */
class TooMuchText extends ClipboardError {
  constructor(maxBytes: number) {
    super(`it contains more than ${maxBytes} bytes of text`);
  }
}

export async function runProgram(path: string, args: readonly string[], run: ProgramRun): Promise<ProgramEnd> {
  const { spawn } = await import('node:child_process');
  if (run.signal.aborted) throw run.signal.reason;
  const child = spawn(path, [...args], { env: environment(run.env), stdio: 'pipe', windowsHide: true });
  try {
    return await runToEnd(child, path, run);
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

function runToEnd(child: ChildProcessWithoutNullStreams, path: string, run: ProgramRun): Promise<ProgramEnd> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let errors = '';
    const abort = (): void => reject(run.signal.reason);
    run.signal.addEventListener('abort', abort, { once: true });
    child.once('error', (cause) =>
      reject(new ClipboardError(`${path} cannot be run (${cause.message})`, undefined, cause)),
    );
    child.once(run.leavesOwner === true ? 'exit' : 'close', (code) => {
      run.signal.removeEventListener('abort', abort);
      resolve({ code: code ?? undefined, output: Buffer.concat(chunks), errors });
    });
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (run.maxBytes === undefined || bytes <= run.maxBytes) chunks.push(chunk);
      else reject(new TooMuchText(run.maxBytes));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(0, maxErrorChars)));
    child.stdin.on('error', () => {}); // The exit code of a program that ends early says what happened.
    child.stdin.end(run.input ?? '');
  });
}

/** Bytes of a clipboard as text: UTF-8, or Latin-1 for older programs. */
export function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString('latin1'); // Some programs offer only the old X11 type STRING.
  }
}

/** How long it may take until a text that was just set can be read back, in ms. */
const visibleTimeoutMs = 3_000;

/**
 * Waits until the clipboard contains `text`. The programs go into the background before they own the clipboard, so
 * only reading shows that others can see the text.
 */
export async function untilVisible(text: string, read: ReadClipboard, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + visibleTimeoutMs;
  for (let waitMs = 2; !(await contains(text, read, signal)); waitMs = Math.min(waitMs * 2, 100)) {
    if (performance.now() > deadline) {
      throw new ClipboardError(
        'it contains a different text from the one that was set',
        'Another program may have changed it; try again',
      );
    }
    await pause(waitMs, signal);
  }
}

type ReadClipboard = (signal: AbortSignal, maxBytes: number) => Promise<string>;

/** A longer text is another one, and not read to its end. */
async function contains(text: string, read: ReadClipboard, signal: AbortSignal): Promise<boolean> {
  try {
    return (await read(signal, Buffer.byteLength(text))) === text;
  } catch (error) {
    if (error instanceof TooMuchText) return false;
    throw error;
  }
}
