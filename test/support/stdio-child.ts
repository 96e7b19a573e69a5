// Builds the stdio fixture once and starts it as a child process, with a client just good enough to test with.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll } from 'vitest';

const children = new Set<ChildProcess>();
let directory = '';

/** Registers the build before, and the cleaning up after, the tests of the calling file. */
export function useStdioFixture(): void {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'mooring-stdio-'));
    await build({
      entryPoints: [join(import.meta.dirname, '../e2e/fixtures/stdio-server.ts')],
      outfile: fixturePath(),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      logLevel: 'warning',
    });
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children.clear();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
}

export const fixturePath = (): string => join(directory, 'server.mjs');

export interface Message {
  readonly id?: number | null;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server in a child process. */
export class Child {
  readonly process: ChildProcess;
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  readonly messages: Message[] = [];
  stderr = '';
  #rest: string[] = [];
  #nextId = 1;
  #changed: (() => void)[] = [];

  constructor(env: Record<string, string> = {}, options: { readStderr?: boolean; readStdout?: boolean } = {}) {
    this.process = start(process.execPath, [fixturePath()], { env: { ...process.env, ...env } });
    const { readStdout = true, readStderr = true } = options;
    // What it wrote last may be read after its exit; `close` comes after that, if all is read.
    this.exited = new Promise((resolve) =>
      this.process.on(readStdout && readStderr ? 'close' : 'exit', (code, signal) => resolve(code ?? signal ?? 'lost')),
    );
    this.process.stdin?.on('error', () => {}); // Writing to a server that has gone is part of some tests.
    if (readStdout) this.readStdout();
    if (readStderr) {
      this.process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#change(() => (this.stderr += text)));
    }
    void this.exited.then(() => this.#change(() => {}));
  }

  readStdout(): void {
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#rest.push(text);
      if (!text.includes('\n')) return;
      const lines = this.#rest.join('').split('\n');
      this.#rest = lines.splice(-1);
      // Throws when a line is not JSON: nothing else may be there.
      this.#change(() => this.messages.push(...lines.map((line) => JSON.parse(line))));
    });
  }

  write(text: string): void {
    this.process.stdin?.write(text);
  }

  /** Sends a request without waiting. */
  send(method: string, params?: object): number {
    const id = this.#nextId++;
    this.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return id;
  }

  async request(method: string, params?: object): Promise<unknown> {
    return (await this.answer(this.send(method, params))).result;
  }

  async answer(id: number | null): Promise<Message> {
    let found: Message | undefined;
    await this.until(() => (found = this.messages.find((message) => message.id === id)) !== undefined);
    return found!;
  }

  /** Waits until what the child wrote, or its end, makes the condition true. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  #change(apply: () => void): void {
    apply();
    for (const wake of this.#changed.splice(0)) wake();
  }
}

/** Starts a process that is killed after the test, should it still live. */
export function start(command: string, args: string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  children.add(child);
  return child;
}
