// Builds the server of the task tests once and starts it as a process, with a client of revision 2026-07-28 that knows tasks.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const children = new Set<TaskProcess>();
let directory = '';

/** Registers the build before, and the cleaning up after, the tests of the calling file. */
export function useTaskServer(): void {
  beforeAll(async () => {
    // Inside the project, so that the bundle finds its packages.
    mkdirSync(join(root, '.tmp'), { recursive: true });
    directory = mkdtempSync(join(root, '.tmp/tasks-'));
    await build({
      entryPoints: [join(root, 'test/tasks/fixtures/task-server.ts')],
      outfile: join(directory, 'server.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      logLevel: 'warning',
    });
  });
  afterAll(async () => {
    // Tests of the file may run at the same time, so nothing is killed before all of them have ended.
    for (const child of children) await child.kill();
    rmSync(directory, { recursive: true, force: true });
  });
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};

/** A task as `tasks/get` returns it. */
export interface ShownTask {
  readonly taskId: string;
  readonly status: string;
  readonly inputRequests?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A server in a process. */
export class TaskProcess {
  readonly process: ChildProcess;
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  stderr = '';
  readonly #waiting = new Map<number, (message: { readonly result?: unknown; readonly error?: unknown }) => void>();
  #nextId = 1;

  constructor(env: Readonly<Record<string, string>>) {
    this.process = spawn(process.execPath, [join(directory, 'server.mjs')], { env: { ...process.env, ...env } });
    children.add(this);
    this.exited = new Promise((done) =>
      this.process.once('close', (code, signal) => {
        children.delete(this);
        done(code ?? signal ?? 'lost');
      }),
    );
    this.process.stdin?.on('error', () => {}); // The process may have been killed.
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    createInterface({ input: this.process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.(message);
    });
  }

  /** The result of a request; undefined when the process ends before it responds. */
  async request<T = unknown>(method: string, params: object): Promise<T | undefined> {
    const id = this.#nextId++;
    const answered = new Promise<{ readonly result?: unknown; readonly error?: unknown }>((resolve) =>
      this.#waiting.set(id, resolve),
    );
    this.process.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })}\n`,
    );
    const message = await Promise.race([answered, this.exited.then(() => undefined)]);
    this.#waiting.delete(id);
    if (message?.error !== undefined) throw new Error(JSON.stringify(message.error));
    return message?.result as T | undefined;
  }

  call(name: string): Promise<ShownTask | undefined> {
    return this.request<ShownTask>('tools/call', { name, arguments: {} });
  }

  get(taskId: string): Promise<ShownTask | undefined> {
    return this.request<ShownTask>('tasks/get', { taskId });
  }

  answer(taskId: string, name: string): Promise<unknown> {
    const inputResponses = { name: { action: 'accept', content: { name } } };
    return this.request('tasks/update', { taskId, inputResponses });
  }

  /** Polls until the task has one of the statuses, or the process ends. */
  async until(taskId: string, ...statuses: string[]): Promise<ShownTask | undefined> {
    for (;;) {
      const task = await this.get(taskId);
      if (task === undefined || statuses.includes(task.status)) return task;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
