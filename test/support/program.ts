// Runs the built program as a person would: in a home of its own, with words on the command line.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';

/** The program; MOORING_TEST_DIST points at another build. */
const dist = resolve(process.env['MOORING_TEST_DIST'] ?? join(import.meta.dirname, '../../dist'));
export const cli = join(dist, 'cli.js');
export const programs = {
  clipboard: join(dist, 'mcp-clipboardify.js'),
  secureLocal: join(dist, 'mcp-secure-local.js'),
};

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly cwd?: string;
  /** The script to run instead of `mooring`. */
  readonly program?: string;
}

/** A home and a working folder that are thrown away after each test. */
export class Home {
  path = '';
  readonly #children = new Set<ChildProcess>();

  get folder(): string {
    return join(this.path, 'work');
  }

  get env(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.path,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
    };
  }

  open(): void {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'mooring-cli-')));
    mkdirSync(this.folder);
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Runs to the end. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = this.start(args, options);
    let [stdout, stderr] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin?.on('error', () => {}); // A program that ends without reading is part of some tests.
    child.stdin?.end(options.input ?? '');
    return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
  }

  start(args: readonly string[], { env = {}, cwd = this.folder, program = cli }: RunOptions = {}): ChildProcess {
    return this.adopt(
      spawn(process.execPath, [program, ...args], { cwd, env: { ...this.env, ...env }, stdio: 'pipe' }),
    );
  }

  adopt(child: ChildProcess): ChildProcess {
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    return child;
  }

  /** Serves over HTTP until the test is over; resolves with the address. */
  async serve(
    args: readonly string[],
    options: RunOptions = {},
  ): Promise<{ url: string; child: ChildProcess; said(): string }> {
    const child = this.start(['serve', ...args, '--http', '--port', '0'], options);
    let said = '';
    const url = await new Promise<string>((found, failed) => {
      createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
        said += `${line}\n`;
        const address = /listening on (https?:\/\/[^\s"]+)/.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
      child.once('close', (code) => failed(new Error(`exited with ${code}:\n${said}`)));
    });
    return { url, child, said: () => said };
  }

  async close(): Promise<void> {
    const gone = [...this.#children].map((child) => new Promise((done) => child.once('close', done)));
    for (const child of this.#children) child.kill('SIGKILL');
    await Promise.all(gone);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A new home for each test of the calling file. */
export function useHome(): Home {
  const home = new Home();
  beforeAll(checkBuild);
  beforeEach(() => home.open());
  afterEach(() => home.close());
  return home;
}

/** One home for all tests of the calling file, which may run concurrently. */
export function useSharedHome(): Home {
  const home = new Home();
  beforeAll(() => {
    checkBuild();
    home.open();
  });
  afterAll(() => home.close());
  return home;
}

/** Fails where the program was not built. */
export function checkBuild(): void {
  if (!existsSync(cli)) throw new Error(`${cli} is missing; run: npm run build`);
}

/** A server that the calling file's tests share. */
export function useServer(args: readonly string[]): () => string {
  const home = new Home();
  let url = '';
  beforeAll(async () => {
    home.open();
    ({ url } = await home.serve(args));
  });
  afterAll(() => home.close());
  return () => url;
}
