// A server of the built program as a child process.

import { type ChildProcess, spawn } from 'node:child_process';
import { type afterAll, afterEach, beforeAll } from 'vitest';
import { checkBuild, cli } from './program.ts';

const children = new Set<ServerProcess>();

/**
 * Registers the cleaning up after the tests of the calling file. Servers end with the test that started them; with
 * `afterAll`, tests share them until the end of the file.
 */
export function useCommand(after: typeof afterAll | typeof afterEach = afterEach): void {
  beforeAll(checkBuild);
  after(async () => {
    await Promise.all([...children].map((child) => child.kill()));
    children.clear();
  });
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
export type Answer = any;

/** Whatever the person who runs the tests has configured stays out of them. */
const nowhere = {
  XDG_CONFIG_HOME: '/nonexistent/config',
  XDG_DATA_HOME: '/nonexistent/data',
  XDG_CACHE_HOME: '/nonexistent/cache',
  MOORING_CONFIG: undefined,
};

/** `mooring …` as a child process, with a client of few words. */
export class ServerProcess {
  readonly process: ChildProcess;
  /** Exit code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  /** What came on stdout, line by line. */
  readonly lines: string[] = [];
  stderr = '';
  #rest = '';
  #id = 0;
  #waiting: (() => void)[] = [];

  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
    node: string = process.execPath,
  ) {
    const { DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...rest } = process.env;
    this.process = spawn(node, [cli, ...args], {
      env: { ...rest, ...nowhere, ...env },
      stdio: 'pipe',
    });
    children.add(this);
    this.exited = new Promise((done) =>
      this.process.once('close', (code, signal) => {
        this.#change(() => {});
        done(code ?? signal ?? 'lost');
      }),
    );
    this.process.stdin?.on('error', () => {}); // Some tests write to a server that has gone.
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => this.#change(() => this.#take(text)));
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#change(() => (this.stderr += text)));
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() as string;
    this.lines.push(...lines);
  }

  #change(apply: () => void): void {
    apply();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  write(text: string): void {
    this.process.stdin?.write(text);
  }

  send(message: object): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  /** Waits until the condition holds; rejects when the process ends first. */
  async until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        await this.exited;
        const last = look();
        if (last !== undefined) return last;
        throw new Error(`the server has gone: ${this.stderr}`);
      }
      await new Promise<void>((done) => this.#waiting.push(done));
    }
  }

  /** The next line that has not been taken yet, parsed. */
  async next(): Promise<Answer> {
    await this.until(() => this.lines[0]);
    return JSON.parse(this.lines.shift() as string);
  }

  /** The answer to an id, whatever else came before it. */
  answer(id: string | number): Promise<Answer> {
    return this.until(() => this.lines.map((line) => JSON.parse(line)).find((each) => each.id === id));
  }

  request(method: string, params?: object, id: string | number = ++this.#id): Promise<Answer> {
    this.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
    return this.answer(id);
  }

  call(name: string, args?: object): Promise<Answer> {
    return this.request('tools/call', { name, ...(args === undefined ? {} : { arguments: args }) });
  }

  async initialize(): Promise<Answer> {
    const clientInfo = { name: 'example-client', version: '1.0.0' };
    const answer = await this.request('initialize', { protocolVersion: '2024-11-05', clientInfo, capabilities: {} });
    this.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
