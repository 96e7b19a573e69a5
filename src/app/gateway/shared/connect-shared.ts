// Connects this process, which a client has started, to the gateway that it shares with other clients, and starts that
// gateway if it does not run. Then only bytes are copied.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { pause } from '../../../common/wait.ts';
import { createLogger } from '../../../logging/logger.ts';
import { withLockFile } from '../../../transports/lock-file.ts';
import { signalExitCodes, watchParent, watchProcess, watchStderr } from '../../../transports/process-watch.ts';
import { UsageError } from '../../usage-error.ts';
import { checkSocketPath, makePrivate } from '../control-socket.ts';
import { outerGatewaysVariable, requireNotWithin, startedBy } from '../outer-gateways.ts';
import { ConnectionEnded, type ConnectRequest, type ConnectResponse, readFirstLine, writeLine } from './first-line.ts';
import { openSocket } from './listen.ts';
import { filesOfShared, type SharedGateway, type SharedGatewayFiles } from './shared-gateway.ts';

export interface ConnectSharedOptions extends SharedGateway {
  readonly view?: string | undefined;
  /** The configuration files that it reads. */
  readonly files: readonly string[];
}

/** How long a gateway may take to start, with a configuration that asks slow programs for secrets. */
const startMs = 60_000;
const pollMs = 20;
/** How long a gateway may take to respond to a connection; one that is stopped never does. */
const responseMs = 10_000;
/** Each gateway that ends at the same moment costs one; more means that none can serve. */
const maxAttempts = 5;
/** How long calls may continue after a signal; less once the client has closed stdin. Official clients send SIGKILL after 2 s. */
const graceMs = { open: 5_000, ended: 1_000 };
const parentPollMs = 3_000;
/** Of the log of a gateway that did not start. */
const shownLines = 20;

/** Serves the client on stdin and stdout until one side ends. Returns the exit code. */
export async function connectShared({ view, files: configured, ...gateway }: ConnectSharedOptions): Promise<number> {
  // Throws in a server of that gateway, which would wait for itself. Files that do not exist are reported by the gateway.
  requireNotWithin(configured.filter((file) => existsSync(file)));
  const files = filesOfShared(gateway);
  prepareFolder(files);
  const { socket, response } = await connectTo(gateway, files, { pid: process.pid, view, outer: startedBy() });
  const { pid, rejected } = response;
  if (rejected !== undefined) {
    socket.destroy();
    throw new UsageError(rejected);
  }
  createLogger({ name: 'mooring' }).info('Connected to a shared gateway', { gateway: pid, log: files.log });
  watchStderr();
  return copy(socket);
}

/** Before anything connects: in a folder of another user, something else could listen. */
function prepareFolder({ socket, lock }: SharedGatewayFiles): void {
  checkSocketPath(socket);
  if (process.platform === 'win32') mkdirSync(dirname(lock), { recursive: true });
  else makePrivate(dirname(lock));
}

/** A gateway that ends in this very moment closes the connection without a response: then another one is started. */
async function connectTo(
  gateway: SharedGateway,
  files: SharedGatewayFiles,
  request: ConnectRequest,
): Promise<{ readonly socket: Socket; readonly response: ConnectResponse }> {
  for (let attempt = 1; ; attempt++) {
    const socket = (await openSocket(files.socket)) ?? (await start(gateway, files));
    try {
      writeLine(socket, request);
      return { socket, response: (await readFirstLine(socket, responseMs)) as ConnectResponse };
    } catch (error) {
      socket.destroy();
      if (!(error instanceof ConnectionEnded) || attempt === maxAttempts) {
        throw new Error(
          `The shared gateway does not accept the connection: ${(error as Error).message}. Its log is ${files.log}, ` +
            'and "mooring gateway status" shows its process',
        );
      }
    }
  }
}

/** Starts the gateway. Of several processes that want to, one does, and the others use it. */
async function start(gateway: SharedGateway, files: SharedGatewayFiles): Promise<Socket> {
  const busy = (path: string, holder: string): Error =>
    new Error(
      `The shared gateway is being started by ${holder}, which takes too long. Remove ${path} if that process is gone`,
    );
  return withLockFile(files.lock, { timeoutMs: startMs, busy }, async () => {
    const running = await openSocket(files.socket);
    if (running !== undefined) return running;
    const log = openLog(files.log);
    try {
      return await untilListening(launch(gateway, files.socket, log), files);
    } finally {
      closeSync(log);
    }
  });
}

/** An empty file; of the gateway before, nothing is left. */
function openLog(file: string): number {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(file, { force: true });
    return openSync(file, 'a', 0o600);
  } catch (error) {
    throw new UsageError(
      `The log of the shared gateway cannot be created: ${(error as Error).message}. Make its folder writable for you`,
    );
  }
}

/** The gateway outlives this process and its terminal, and the gateway that may have started this process. */
function launch({ folder, args }: SharedGateway, socket: string, log: number): ChildProcess {
  const program = resolve(process.argv[1] ?? '');
  const { [outerGatewaysVariable]: _outer, ...env } = process.env;
  const child = spawn(process.execPath, [program, 'gateway', '--socket', socket, ...args], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'ignore', log],
    windowsHide: true,
  });
  child.unref();
  return child;
}

async function untilListening(child: ChildProcess, { socket, log }: SharedGatewayFiles): Promise<Socket> {
  let failure: string | undefined;
  child.once('error', (error) => {
    failure = error.message;
  });
  child.once('exit', (code, signal) => {
    failure = endOfLog(log) || `its process ended with ${signal ?? `code ${code}`}`;
  });
  for (const until = performance.now() + startMs; performance.now() < until; await pause(pollMs)) {
    const opened = await openSocket(socket);
    if (opened !== undefined) return opened;
    if (failure !== undefined) throw new Error(`The shared gateway did not start: ${failure}`);
  }
  child.kill();
  throw new Error(`The shared gateway did not start within ${startMs / 1000} s. Its log is ${log}`);
}

/** The end of the log; the name of the program is shown before it. */
function endOfLog(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-shownLines);
  return lines.join('\n').replace(/^mooring: /, '');
}

/** Copies both directions until the gateway ends the connection. */
function copy(socket: Socket): Promise<number> {
  const { stdin, stdout } = process;
  return new Promise((end) => {
    let isStopping = false;
    let isOver = false;
    const leave = (code: number): void => {
      isOver = true;
      stdin.destroy();
      socket.destroy();
      end(code);
    };
    // The gateway finishes open calls, writes their responses and ends the connection.
    const stop = (): void => {
      isStopping = true;
      stdin.unpipe(socket);
      socket.end();
      // Also if the client does not read what was written for it.
      setTimeout(() => process.exit(0), stdin.readableEnded ? graceMs.ended : graceMs.open).unref();
    };
    watchProcess({
      onSignal(signal, count) {
        if (count > 1) process.exit(signalExitCodes[signal]);
        stop();
      },
      onFatal(kind, error) {
        say(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(1);
      },
    });
    watchParent({ onOrphaned: stop }, process.ppid, parentPollMs);
    stdin.on('error', stop);
    // The client is gone.
    stdout.on('error', () => leave(0));
    socket.on('close', () => {
      if (isOver) return;
      const isExpected = isStopping || stdin.readableEnded;
      if (!isExpected) say('the shared gateway has ended. Reconnect to start it again');
      leave(isExpected ? 0 : 1);
    });
    socket.on('end', () => socket.end());
    stdin.pipe(socket);
    socket.pipe(stdout, { end: false });
  });
}

function say(text: string): void {
  process.stderr.write(`mooring: ${text}\n`);
}
