// A server as a child process: in its own process group, with a guard against outliving us, the end of its stderr kept,
// and an end in three steps. Knows processes, nothing of messages.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { startCommand } from '../../transports/start-command.ts';
import { clientErrors } from '../errors.ts';
import { endTree } from './end-tree.ts';
import { canGuard, guard, guardedCommand, unguard } from './orphan-guard.ts';

/** What to start, and how it is treated. */
export interface ChildOptions {
  readonly address: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly graceMs: number;
  readonly onStderr: ((text: string) => void) | undefined;
}

/** How much of stderr is kept for error messages. */
const maxStderrChars = 64 * 1024;
/** How long processes that the server left behind may take to end after SIGTERM. */
const orphanGraceMs = 500;
/** How long after its end a child's pipes may stay open before that does not matter any more. */
const pipesMs = 1_000;

/** A running child. */
export class ChildServer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it ended, as the end of a sentence. Settles once stdout has been read to its end, too. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #group: number;
  readonly #options: ChildOptions;
  readonly #exited: Promise<void>;
  #stderr = '';
  #gone = false;

  private constructor(child: ChildProcess, options: ChildOptions) {
    this.#child = child;
    this.#group = child.pid as number;
    this.#options = options;
    this.stdin = child.stdin as Writable;
    this.stdout = child.stdout as Readable;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#appendStderr(text));
    child.stderr?.on('error', () => {}); // Its output is lost; its exit is reported anyway.
    this.#exited = new Promise((resolve) => child.once('exit', () => resolve()));
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(describe(code, signal)));
      // Something it started may have left its group and hold its pipes forever.
      child.once('exit', (code, signal) => setTimeout(() => resolve(describe(code, signal)), pipesMs).unref());
    });
    child.on('error', () => {}); // A signal that could not be sent: the next step of ending follows anyway.
    void this.#exited.then(() => this.#sweepGroup());
  }

  get pid(): number {
    return this.#group;
  }

  /** Starts it; rejects with a `ClientError`. */
  static start(options: ChildOptions): Promise<ChildServer> {
    const { path, args, address, env, cwd } = options;
    const guarded = canGuard;
    const pipes = guarded ? ['pipe', 'pipe', 'pipe', guard()] : ['pipe', 'pipe', 'pipe'];
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void => {
        if (guarded) unguard(undefined);
        reject(clientErrors.spawnFailed(address, cause instanceof Error ? cause.message : String(cause), cause));
      };
      let child: ChildProcess;
      try {
        const command = guarded ? { ...guardedCommand(path, args), verbatim: false } : startCommand(path, args);
        child = spawn(command.file, command.args, {
          stdio: pipes as ('pipe' | Writable)[],
          env,
          cwd,
          // Its own process group: signals sent to us do not reach it, and ours reach the whole group.
          detached: process.platform !== 'win32',
          windowsHide: true,
          windowsVerbatimArguments: command.verbatim,
        });
      } catch (cause) {
        fail(cause);
        return;
      }
      child.once('error', fail);
      child.once('spawn', () => {
        child.off('error', fail);
        resolve(new ChildServer(child, options));
      });
    });
  }

  get stderr(): string {
    return this.#stderr.length > maxStderrChars ? this.#stderr.slice(-maxStderrChars) : this.#stderr;
  }

  /**
   * Ends it: no more input, after `graceMs` SIGTERM, after that time again SIGKILL. Resolves when it and its group are
   * gone. Called again while it ends, it has less time if less is given.
   */
  async end(graceMs: number = this.#options.graceMs): Promise<void> {
    this.stdin.end();
    // A child whose output is not read would wait for us while we wait for it.
    this.stdout.resume();
    if (graceMs < this.#graceMs) {
      this.#graceMs = graceMs;
      clearTimeout(this.#nextStep);
      this.#nextStep = setTimeout(() => this.#terminate(), graceMs);
    }
    await this.#exited;
    clearTimeout(this.#nextStep);
    await this.#swept;
    // Another process may hold the other end of its pipes; ours are closed.
    this.stdout.destroy();
    this.#child.stderr?.destroy();
  }

  /** How long the present end may take, and the timer of its next step. */
  #graceMs = Number.POSITIVE_INFINITY;
  #nextStep: ReturnType<typeof setTimeout> | undefined;

  #terminate(): void {
    this.#signal('SIGTERM');
    this.#nextStep = setTimeout(() => this.#signal('SIGKILL'), this.#graceMs);
  }

  #swept: Promise<void> | undefined;

  #sweepGroup(): Promise<void> {
    return (this.#swept ??= this.#killGroup());
  }

  /** What the server started and left behind has lost its reason to be. */
  async #killGroup(): Promise<void> {
    if (this.#signal('SIGTERM') && !(await this.#emptiesWithin(orphanGraceMs)) && this.#signal('SIGKILL')) {
      await this.#emptiesWithin(orphanGraceMs);
    }
    this.#gone = true;
    if (canGuard) unguard(this.#group);
  }

  async #emptiesWithin(ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    while (this.#signal(0)) {
      if (performance.now() > until) return false;
      await new Promise((wake) => setTimeout(wake, 5));
    }
    return true;
  }

  /** True when a process received it. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    if (this.#gone) return false;
    try {
      if (process.platform === 'win32') return this.#signalOnWindows(signal);
      return process.kill(-this.#group, signal);
    } catch {
      return false; // The group is empty.
    }
  }

  /** There is no group there, and what an ended process has started cannot be found any more. */
  #signalOnWindows(signal: NodeJS.Signals | 0): boolean {
    const { exitCode, signalCode } = this.#child;
    if (signal === 0 || exitCode !== null || signalCode !== null) return false;
    if (signal === 'SIGKILL') return this.#child.kill(signal);
    endTree(this.#group, () => this.#child.kill());
    return true;
  }

  #appendStderr(text: string): void {
    this.#stderr += text;
    // Twice the size before cutting: cutting on every line would copy the whole each time.
    if (this.#stderr.length > 2 * maxStderrChars) this.#stderr = this.#stderr.slice(-maxStderrChars);
    this.#options.onStderr?.(text);
  }
}

function describe(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `was ended by ${signal}`;
  return code === 0 ? 'exited (code 0)' : `exited with code ${code}`;
}
