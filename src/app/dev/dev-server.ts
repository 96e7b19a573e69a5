// A server file in a child process that is restarted when the file, or one that it imports, changes.

import { type ChildProcess, spawn } from 'node:child_process';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Relay, type RelayListener } from './relay.ts';
import { findEsbuild } from './typescript.ts';
import { FileWatcher } from './watch-files.ts';

/** How long a server may take to release its resources before it is killed. */
const stopMs = 1_000;

export interface DevListener extends Omit<RelayListener, 'onClose'> {
  onRestart(changedFile: string): void;
  /** The server ended by itself; the next change starts it again. */
  onCrash(message: string): void;
}

export class DevServer {
  /** What a transport connects to. */
  readonly relay: Relay;
  readonly #file: string;
  readonly #esbuild: string;
  readonly #listener: DevListener;
  readonly #watcher = new FileWatcher((name) => void this.#restart(name));
  #child: ChildProcess | undefined;
  #restarting = false;
  /** The last change that arrived during a restart. */
  #changed: string | undefined;
  #closed = false;

  constructor(file: string, listener: DevListener) {
    this.#file = file;
    this.#esbuild = findEsbuild(file) ?? '';
    this.#listener = listener;
    this.relay = new Relay({
      onCall: (call) => listener.onCall(call),
      onUnexpectedOutput: (line) => listener.onUnexpectedOutput(line),
      onClose: () => this.#close(),
    });
    this.#watcher.add(file);
    this.#start();
  }

  #start(): void {
    // Built as an entry point of its own, beside the folder of this chunk.
    const program = fileURLToPath(new URL('../dev/run-file.js', import.meta.url));
    const child = spawn(process.execPath, [program, this.#file, this.#esbuild], {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    this.#child = child;
    const { stdin, stdout } = child;
    const reports = child.stdio[3] as NodeJS.ReadableStream;
    stdin?.on('error', () => {}); // The server has ended, which its exit reports.
    reports.on('error', () => {});
    createInterface({ input: reports }).on('line', (file) => this.#watcher.add(file));
    createInterface({ input: stdout as NodeJS.ReadableStream }).on('line', (line) => {
      // What a server still writes while it is being replaced belongs to requests that have failed already.
      if (this.#child === child && !this.#restarting) this.relay.receiveFromServer(line);
    });
    child.once('error', (error) => this.#crashed(child, error.message));
    child.once('close', (code, signal) => this.#crashed(child, signal ?? `exit code ${code}`));
    this.relay.start((text) => void stdin?.write(`${text}\n`));
  }

  #crashed(child: ChildProcess, why: string): void {
    if (this.#child !== child || this.#restarting || this.#closed) return;
    this.#child = undefined;
    const message = `${basename(this.#file)} is not running (${why}). Its error is on stderr. Save a fixed file to start it again`;
    this.#listener.onCrash(message);
    this.relay.fail(message);
  }

  async #restart(name: string): Promise<void> {
    if (this.#restarting) {
      this.#changed = name;
      return;
    }
    if (this.#closed) return;
    this.#restarting = true;
    this.#listener.onRestart(name);
    this.relay.restart(`The server was restarted because ${name} changed. Send the request again`);
    await this.#stop();
    this.#restarting = false;
    if (this.#closed) return;
    this.#start();
    const changed = this.#changed;
    this.#changed = undefined;
    if (changed !== undefined) await this.#restart(changed);
  }

  /** Ends the server process; resolves when it is gone. */
  async #stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    await gone;
    clearTimeout(timer);
  }

  async #close(): Promise<void> {
    this.#closed = true;
    this.#watcher.close();
    await this.#stop();
  }
}
