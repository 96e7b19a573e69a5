// The program under test: one process per target, used over its real transport. Each target sends a case, waits for all
// expected responses, and reports what was wrong.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { Answers, expectAnswers } from './oracle.ts';
import { makeHome, type ProfileName } from './profiles.ts';
import { hostMark } from './requests.ts';

const program = join(resolve(import.meta.dirname, '../..'), 'dist/cli.js');

/** A machine under load is slow, a program that hangs is slower. */
export const patienceMs = 15_000;

/** What a case consists of, whatever carries it. */
export type Case = readonly Buffer[];

/**
 * Every way in. `http` is raw requests with headers that are nearly right, `session` messages within good ones, `frames`
 * raw frames of a WebSocket, `reply` a path that answers in the body (profile system), `events` a session that begins
 * with its event stream (profile reference).
 */
export type TargetName = 'stdio' | 'websocket' | 'frames' | 'http' | 'session' | 'sse' | 'reply' | 'events';

export interface Target {
  readonly name: TargetName;
  /** Undefined when all went well. */
  run(frames: Case, serial: number): Promise<string | undefined>;
  close(): Promise<void>;
}

const ping = (id: string): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

export const hello = (protocolVersion: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 'hello',
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'fuzz', version: '1' } },
  });

export const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

export class Program {
  readonly child: ChildProcessWithoutNullStreams;
  readonly #home: ReturnType<typeof makeHome>;
  log = '';

  constructor(profile: ProfileName, ...args: string[]) {
    if (!existsSync(program)) throw new Error('dist/cli.js is missing: run "npm run build" first');
    this.#home = makeHome(profile);
    const words = ['serve', profile, '--log-level', 'info', ...this.#home.args, ...args];
    const env = { PATH: process.env['PATH'], HOME: this.#home.path, LANG: 'C.UTF-8' };
    this.child = spawn(process.execPath, [program, ...words], { env, cwd: this.#home.path });
    this.child.stderr.on('data', (chunk) => {
      this.log = (this.log + chunk).slice(-20_000);
    });
    this.child.stdin.on('error', () => {}); // A program that has gone is found by its exit code.
  }

  get dead(): string | undefined {
    const { exitCode, signalCode } = this.child;
    return exitCode === null && signalCode === null
      ? undefined
      : `it exited with ${exitCode ?? signalCode}: ${this.log.slice(-2000)}`;
  }

  /** The same for one whose connection has just broken: its exit is told a moment later. */
  async deadNow(): Promise<string | undefined> {
    if (this.dead === undefined) {
      await Promise.race([once(this.child, 'exit'), new Promise((resolve) => setTimeout(resolve, 1_000))]);
    }
    return this.dead;
  }

  async close(): Promise<void> {
    if (this.dead === undefined) {
      const gone = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGKILL');
      await gone;
    }
    this.#home.remove();
  }
}

/** Waits for a condition, looking again whenever something happens. */
export class Watch {
  #wake: (() => void)[] = [];

  stir(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async until(done: () => boolean): Promise<boolean> {
    const end = Date.now() + patienceMs;
    while (!done()) {
      const left = end - Date.now();
      if (left <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return true;
  }
}

/** A pipe or a socket: sends frames, then a ping; whatever is due must have come by then or soon after. */
export async function converse(
  frames: Case,
  serial: number,
  lines: readonly Buffer[],
  send: (bytes: Buffer) => void,
  port: { answers: Answers | undefined; pinged: string | undefined; readonly watch: Watch; dead(): string | undefined },
): Promise<string | undefined> {
  const answers = new Answers(expectAnswers(lines), port.answers?.late);
  port.answers = answers;
  for (const frame of frames) send(frame);
  const id = `ping-${serial}`;
  send(Buffer.from(ping(id)));
  const alive = await port.watch.until(() => port.pinged === id || port.dead() !== undefined);
  if (port.dead() !== undefined) return port.dead();
  if (!alive) return 'it hangs: a ping is not answered';
  await port.watch.until(() => answers.missing.length === 0 || answers.flaw !== undefined || port.dead() !== undefined);
  if (answers.flaw !== undefined) return answers.flaw;
  return answers.missing.length === 0 ? port.dead() : `no answer to ${answers.missing.join(', ')}`;
}

export const idOf = (text: string): unknown => {
  try {
    return (JSON.parse(text) as { id?: unknown } | null)?.id;
  } catch {
    return undefined; // For the oracle to find.
  }
};

export async function openStdio(revision: string, profile: ProfileName): Promise<Target> {
  const server = new Program(profile);
  const watch = new Watch();
  const port = {
    answers: undefined as Answers | undefined,
    pinged: undefined as string | undefined,
    watch,
    dead: () => server.dead,
  };
  createInterface({ input: server.child.stdout }).on('line', (text) => {
    const id = idOf(text);
    if (typeof id === 'string' && /^(ping-\d+|hello)$/.test(id)) port.pinged = id;
    else port.answers?.take(text);
    watch.stir();
  });
  server.child.on('exit', () => watch.stir());
  const write = (bytes: Buffer): void => {
    server.child.stdin.write(Buffer.concat([bytes, Buffer.from('\n')]));
  };
  write(Buffer.from(hello(revision)));
  await watch.until(() => port.pinged === 'hello' || server.dead !== undefined);
  write(Buffer.from(initialized));
  return {
    name: 'stdio',
    run: (frames, serial) => converse(frames, serial, frames.flatMap(splitLines), write, port),
    close: () => server.close(),
  };
}

/** A frame that holds line breaks is several lines to a pipe. */
function splitLines(frame: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = frame.indexOf(0x0a); at !== -1; at = frame.indexOf(0x0a, from)) {
    lines.push(frame.subarray(from, at));
    from = at + 1;
  }
  return [...lines, frame.subarray(from)];
}

export async function startHttp(
  profile: ProfileName,
  ...args: string[]
): Promise<{ readonly server: Program; readonly port: number }> {
  const server = new Program(profile, '--http', '--port', '0', '--metrics', '/metrics', ...args);
  const watch = new Watch();
  server.child.stderr.on('data', () => watch.stir());
  server.child.on('exit', () => watch.stir());
  const found = (): RegExpExecArray | null => /http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(server.log);
  await watch.until(() => found() !== null || server.dead !== undefined);
  const port = Number(found()?.[1]);
  if (!Number.isInteger(port)) throw new Error(`the server does not listen: ${server.log}`);
  return { server, port };
}

export async function openWebSocket(revision: string, profile: ProfileName): Promise<Target> {
  const { server, port } = await startHttp(profile);
  const watch = new Watch();
  server.child.on('exit', () => watch.stir());
  return {
    name: 'websocket',
    async run(frames, serial) {
      // A socket of its own for each case: a frame that is not UTF-8 rightly ends its connection.
      const socket = new WebSocket(`ws://127.0.0.1:${port}/mcp`);
      const state = {
        answers: undefined as Answers | undefined,
        pinged: undefined as string | undefined,
        watch,
        dead: () => server.dead ?? closed,
      };
      let closed: string | undefined;
      socket.on('message', (data) => {
        const text = String(data);
        const id = idOf(text);
        if (typeof id === 'string' && /^(ping-\d+|hello)$/.test(id)) state.pinged = id;
        else state.answers?.take(text);
        watch.stir();
      });
      socket.on('error', () => {});
      socket.on('close', (code) => {
        closed = `the socket was closed with ${code}`;
        watch.stir();
      });
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(hello(revision));
      await watch.until(() => state.pinged === 'hello' || state.dead() !== undefined);
      socket.send(initialized);
      const texts = frames.filter((frame) => isText(frame));
      const why = await converse(texts, serial, texts, (bytes) => socket.send(bytes.toString('utf8')), state);
      socket.terminate();
      return why;
    },
    close: () => server.close(),
  };
}

const isText = (bytes: Buffer): boolean => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

/** Undefined when the server answers; what is wrong otherwise. */
export async function probe(port: number): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(patienceMs) }).catch(
    String,
  );
  return typeof response === 'string' || !response.ok ? `it hangs: ${String(response)}` : undefined;
}

export async function openHttp(_revision: string, profile: ProfileName): Promise<Target> {
  const { server, port } = await startHttp(profile);
  return {
    name: 'http',
    async run(frames, serial) {
      for (const frame of frames) {
        const text = frame.toString('latin1').replaceAll(hostMark, `127.0.0.1:${port}`);
        const why = await exchange(port, Buffer.from(text, 'latin1'));
        if (why !== undefined) return why;
        if (server.dead !== undefined) return server.dead;
      }
      return serial % 25 === 0 ? ((await probe(port)) ?? server.dead) : server.dead;
    },
    close: () => server.close(),
  };
}

/** Sends the bytes of one request and checks what is received before the connection ends or grows quiet. */
function exchange(port: number, request: Buffer): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let quiet: NodeJS.Timeout | undefined;
    const hung = setTimeout(
      () => finish(received === '' ? 'a request is neither answered nor rejected' : undefined),
      patienceMs,
    );
    const finish = (why: string | undefined): void => {
      clearTimeout(hung);
      clearTimeout(quiet);
      socket.destroy();
      resolve(why ?? checkResponse(received));
    };
    socket.on('connect', () => socket.end(request));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      clearTimeout(quiet);
      // An event stream may stay open forever; what was received so far is checked.
      if (/content-type: text\/event-stream/i.test(received)) quiet = setTimeout(() => finish(undefined), 60);
    });
    socket.on('close', () => finish(undefined));
    socket.on('error', () => finish(undefined));
  });
}

function checkResponse(received: string): string | undefined {
  if (received === '') return undefined; // Closed without a word: not HTTP at all.
  const status = /^HTTP\/1\.1 (\d{3})/.exec(received)?.[1];
  if (status === undefined) return `not an HTTP answer: ${received.slice(0, 200)}`;
  return status === '500' ? `an internal error: ${received.slice(0, 500)}` : undefined;
}
