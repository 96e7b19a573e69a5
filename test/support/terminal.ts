// A terminal for tests: `script` of util-linux gives the program a real one.

import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from 'vitest';
import { cli, type Home } from './program.ts';
import { ensureProgram } from './programs.ts';

/** Not on macOS, whose `script` takes other words. */
export const hasTerminal = process.platform === 'linux' && ensureProgram('script');

export class Terminal {
  output = '';
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(home: Home, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const words = [process.execPath, cli, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    const shell = ['-qec', `stty cols 80 rows 24; ${words}`, '/dev/null'];
    this.#child = home.adopt(
      spawn('script', shell, { cwd: home.folder, env: { ...home.env, SHELL: '/bin/sh', ...env }, stdio: 'pipe' }),
    );
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    this.exited = new Promise((done) => this.#child.once('close', done));
  }

  /** What a person sees: without colours and cursor movements. */
  get screen(): string {
    return this.output.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').replaceAll('\r\n', '\n');
  }

  async sees(text: string | RegExp): Promise<void> {
    await expect.poll(() => this.screen).toMatch(text);
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }
}
