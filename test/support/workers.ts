// `serve --workers N` as a process, and as the server under test of clients and suites: there, each request is a new connection, and
// the workers take connections in turn, so that no two requests in a row reach the same process.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProxy } from '../conformance/proxy.ts';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** The `everything` server with two workers. */
export async function startWorkersSubject(): Promise<HttpSubject> {
  const subject = await startHttpSubject('--workers', '2');
  const proxy = await startProxy(subject.url, { freshConnections: true });
  return {
    url: proxy.url,
    sseUrl: new URL('/sse', proxy.url).href,
    webSocketUrl: subject.webSocketUrl,
    close: async () => {
      await proxy.close();
      await subject.close();
    },
  };
}

export interface Program {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<number | null>;
  /** Waits until it listens. */
  url(): Promise<string>;
}

export function startProgram(args: readonly string[], env: Record<string, string> = {}): Program {
  const child = spawn(process.execPath, [cli, 'serve', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  // What it printed last may be read after its exit, but before this.
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const listening = (): string | undefined => /listening on (https?:\/\/[^\s"]+)/.exec(lines.join('\n'))?.[1];
  return {
    child,
    lines,
    exited,
    // Not by expect.poll, which works in tests only: servers are also started before them.
    async url() {
      for (let tries = 0; tries < 1_200 && child.exitCode === null && listening() === undefined; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      return listening() ?? `exited: ${lines.join('\n')}`;
    },
  };
}

/** The processes that a process has started and that still run (Linux). */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => {
      try {
        const [, state, parent] = readFileSync(`/proc/${each}/stat`, 'utf8').split(/\) | /).slice(-51) as string[];
        return Number(parent) === pid && state !== 'Z';
      } catch {
        return false; // It has ended meanwhile.
      }
    });
}
