// A Redis server for tests: the one of the distribution, on a free port, without persistence unless asked for.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { ensureProgram, findProgram } from './programs.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Whether tests with Redis can run here. */
export const hasRedis = (): boolean => ensureProgram('redis-server');

/** Servers that were started, so that none outlives the tests. */
const children: (() => ChildProcess)[] = [];
process.once('exit', () => {
  for (const child of children) child().kill('SIGKILL');
});

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  /** Sends a command as a client of its own, and returns the reply as Redis wrote it. */
  command(...args: readonly string[]): Promise<string>;
  /** Nothing is served until `resume`. */
  pause(): void;
  resume(): void;
  /** Kills it, with all that it has in memory. */
  kill(): Promise<void>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startRedis(args: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const folder = temporaryFolder();
  const start = (): ChildProcess =>
    spawn(
      findProgram('redis-server') as string,
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no', ...args],
      { stdio: 'ignore' },
    );
  let child = start();
  const exited = (): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve));
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return child;
    },
    command: (...command) => send(port, command),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async kill() {
      const gone = exited();
      child.kill('SIGKILL');
      await gone;
    },
    async restart() {
      child = start();
      await ready(port);
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = exited();
      child.kill('SIGKILL');
      await gone;
    },
  };
  children.push(() => child);
  await ready(port);
  return server;
}

/** Starts a Sentinel that knows a server by a name. `more`: lines of its configuration. */
export async function startSentinel(
  name: string,
  master: number,
  more: readonly string[] = [],
): Promise<Pick<RedisServer, 'port' | 'command' | 'close'>> {
  const port = await freePort();
  const file = join(temporaryFolder(), 'sentinel.conf');
  const lines = [
    ...[`port ${port}`, 'bind 127.0.0.1', `sentinel monitor ${name} 127.0.0.1 ${master} 1`],
    ...[`sentinel down-after-milliseconds ${name} 1000`, `sentinel failover-timeout ${name} 5000`],
    ...more,
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn(findProgram('redis-server') as string, [file, '--sentinel'], { stdio: 'ignore' });
  children.push(() => child);
  await ready(port);
  return {
    port,
    command: (...command) => send(port, command),
    async close() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** For tests that are not about a slow Redis: a busy machine may stop it for some seconds. */
export const patient = { lookUpTimeoutMs: 20_000, commandTimeoutMs: 20_000 } as const;

/**
 * How often a test of a failing Redis is repeated. These use the limits of the product: Redis must respond within 250 ms or two seconds, and
 * a machine that stops for longer fails what was waiting then, and nothing else.
 */
export const pauses = 2;

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function ready(port: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const reply = await send(port, ['PING']).catch(() => '');
    // It needs no password for that.
    if (/^(\+PONG|-NOAUTH)/.test(reply)) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`redis-server does not respond on port ${port}`);
}

/** Resolves with the first piece of the reply: enough for short ones. */
function send(port: number, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(5_000, () => socket.destroy(new Error('redis-server does not respond')));
    socket.once('error', reject);
    socket.once('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
    socket.write(`*${args.length}\r\n${parts.join('')}`);
  });
}
