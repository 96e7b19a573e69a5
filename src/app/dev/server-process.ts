// A server file in a child process that is restarted when the file, or one that it imports, changes. How clients are
// connected is up to a link: relay.ts on stdio, http-front.ts over HTTP.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findEsbuild } from './typescript.ts';
import { FileWatcher } from './watch-files.ts';

/** How long a server may take to release its resources before it is killed. */
const stopMs = 1_000;

/** After these times a server that has not begun to serve is reported, and its requests no longer wait: clients wait for about 30 seconds. */
const slowStartMs = 5_000;
const failedStartMs = 20_000;

export interface ServerProcessListener {
  onRestart(changedFile: string): void;
  /** The server ended unexpectedly; the next change starts it again. */
  onCrash(message: string): void;
  /** The server has been starting for some seconds and does not serve yet. */
  onSlowStart(message: string): void;
}

/** Connects clients to the process that runs at the moment. */
export interface ProcessLink {
  /** The arguments of run-file.js after the file and esbuild. */
  readonly args: readonly string[];
  readonly stdio: readonly ['pipe' | 'ignore', 'pipe' | NodeJS.WriteStream, 'inherit', 'pipe', 'ipc'];
  /**
   * A process has started; `isCurrent` becomes false when it is being replaced or has ended. Requests wait until the server
   * accepts them; the link calls `onServing` then.
   */
  start(child: ChildProcess, isCurrent: () => boolean, onServing: () => void): void;
  /** It is being replaced: open requests fail with this message, new ones wait. */
  restart(message: string): void;
  /** There is none, or it does not begin to serve: open requests and new ones fail with this message until it does. */
  fail(message: string): void;
}

export class ServerProcess {
  readonly #file: string;
  readonly #esbuild: string;
  /** Given by name: a process in a folder that was removed, and perhaps created again, hangs while Node starts. */
  readonly #folder = process.cwd();
  readonly #listener: ServerProcessListener;
  readonly #link: ProcessLink;
  readonly #watcher = new FileWatcher((name) => void this.#restart(name));
  #child: ChildProcess | undefined;
  /** Settles when the process that is being ended is gone. */
  #stopping: Promise<void> = Promise.resolve();
  #restarting = false;
  /** The last change that arrived during a restart. */
  #changed: string | undefined;
  #closed = false;
  #slowStart: NodeJS.Timeout | undefined;
  #failedStart: NodeJS.Timeout | undefined;

  constructor(file: string, link: ProcessLink, listener: ServerProcessListener) {
    this.#file = file;
    this.#esbuild = findEsbuild(file) ?? '';
    this.#link = link;
    this.#listener = listener;
  }

  start(): void {
    this.#watcher.add(this.#file);
    this.#start();
  }

  #start(): void {
    // Built as an entry point of its own, beside the folder of this chunk.
    const program = fileURLToPath(new URL('../dev/run-file.js', import.meta.url));
    const { args, stdio } = this.#link;
    const child = spawn(process.execPath, [program, this.#file, this.#esbuild, ...args], {
      stdio: [...stdio],
      cwd: this.#folder,
    });
    this.#child = child;
    child.stdin?.on('error', () => {}); // The server has ended, which its exit reports.
    const reports = child.stdio[3] as NodeJS.ReadableStream;
    reports.on('error', () => {});
    createInterface({ input: reports }).on('line', (file) => this.#watcher.add(file));
    child.once('error', (error) => {
      const isFolderGone = !existsSync(this.#folder);
      this.#crashed(child, isFolderGone ? `the folder ${this.#folder} does not exist` : error.message);
    });
    child.once('close', (code, signal) => this.#crashed(child, signal ?? `exit code ${code}`));
    this.#waitForStart();
    const isCurrent = (): boolean => this.#child === child && !this.#restarting;
    this.#link.start(child, isCurrent, () => this.#endWait());
  }

  /** An endless loop, or an await that never ends, at the top level of the file would make calls wait without a reason. */
  #waitForStart(): void {
    const message = (ms: number): string =>
      `${basename(this.#file)} was started ${ms / 1000} s ago and does not serve yet. ` +
      'If it should, look for a loop or an await at the top level of the file that does not end';
    this.#slowStart = setTimeout(() => this.#listener.onSlowStart(message(slowStartMs)), slowStartMs);
    this.#failedStart = setTimeout(() => this.#link.fail(message(failedStartMs)), failedStartMs);
  }

  #endWait(): void {
    clearTimeout(this.#slowStart);
    clearTimeout(this.#failedStart);
  }

  #crashed(child: ChildProcess, why: string): void {
    if (this.#child !== child || this.#restarting || this.#closed) return;
    this.#child = undefined;
    this.#endWait();
    const reason =
      why === 'exit code 0'
        ? 'It ended without an error. To be served, it must export its server: export const server = createServer(…)'
        : 'Its error is on stderr';
    const message = `${basename(this.#file)} is not running (${why}). ${reason}. Save a fixed file to start it again`;
    this.#listener.onCrash(message);
    this.#link.fail(message);
  }

  async #restart(name: string): Promise<void> {
    if (this.#restarting) {
      this.#changed = name;
      return;
    }
    if (this.#closed) return;
    this.#restarting = true;
    this.#listener.onRestart(name);
    this.#link.restart(`The server was restarted because ${name} changed. Send the request again`);
    await this.#stop();
    this.#restarting = false;
    if (this.#closed) return;
    this.#start();
    const changed = this.#changed;
    this.#changed = undefined;
    if (changed !== undefined) await this.#restart(changed);
  }

  /** Ends the server process; resolves when it is gone, and so is one that was being ended already. */
  #stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#endWait();
    this.#stopping = Promise.all([this.#stopping, this.#end(child)]).then(() => {});
    return this.#stopping;
  }

  async #end(child: ChildProcess | undefined): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await gone;
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watcher.close();
    await this.#stop();
  }
}
