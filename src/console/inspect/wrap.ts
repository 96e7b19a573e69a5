// Starts a server's command in the client's place and passes on everything between the two: bytes, signals and the exit
// code are those of the command itself. The console gets copies.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { canGuard, guard, guardedCommand, unguard } from '../../client/transports/orphan-guard.ts';
import { findProgram } from '../../transports/find-program.ts';
import { startCommand } from '../../transports/start-command.ts';
import type { Feed } from '../feed/feed.ts';
import { Recorder } from './recorder.ts';

/** Signals that clients and shells send to a server. */
const forwarded: readonly NodeJS.Signals[] =
  process.platform === 'win32'
    ? ['SIGINT', 'SIGTERM']
    : ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];

/** How the command ended. */
export interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs a command on our stdin, stdout and stderr. Resolves when it has ended and its output has been passed on. */
export async function wrapCommand(command: readonly string[], feed: Feed): Promise<CommandEnd> {
  const [program = '', ...args] = command;
  const child = start(program, args);
  const recorder = new Recorder(feed, feed.peers.add({ transport: 'stdio', address: `pid ${process.ppid}` }));
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of forwarded) process.on(signal, forward);
  try {
    relay(child, recorder);
    return await ended(child);
  } finally {
    recorder.peer.open = false;
    for (const signal of forwarded) process.off(signal, forward);
    if (canGuard) unguard(child.pid);
  }
}

/** Ends this process as the command ended, even if the client keeps our stdin open. */
export function endLike({ code, signal }: CommandEnd): void {
  if (signal === null) process.exit(code ?? 1);
  process.kill(process.pid, signal);
  // Node ignores a few signals that end other programs.
  setTimeout(() => process.exit(1), 1_000);
}

/** The orphan guard ends the command even if we are killed. It needs a process group of its own for that. */
function start(program: string, args: readonly string[]): ChildProcess {
  if (!canGuard) {
    // Windows itself finds no batch files, such as npx.cmd. What is not found is reported by `spawn`.
    const found = findProgram(program, process.env, process.cwd());
    const command = startCommand('path' in found ? found.path : program, args);
    return spawn(command.file, command.args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      windowsVerbatimArguments: command.verbatim,
    });
  }
  const { file, args: guarded } = guardedCommand(program, args);
  return spawn(file, guarded, { stdio: ['pipe', 'pipe', 'inherit', guard()], detached: true });
}

function relay(child: ChildProcess, recorder: Recorder): void {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) return;
  const [fromClient, fromServer] = [recorder.lines('in'), recorder.lines('out')];
  // Passed on first, recorded second: the listener of `pipe` is the first one.
  process.stdin.pipe(stdin);
  process.stdin.on('data', (chunk: Buffer) => fromClient.push(chunk));
  process.stdin.on('end', () => fromClient.end());
  stdout.pipe(process.stdout, { end: false });
  stdout.on('data', (chunk: Buffer) => fromServer.push(chunk));
  stdout.on('end', () => fromServer.end());
  // When one side closes a pipe, the pipe to the other side is closed too.
  stdin.on('error', () => process.stdin.destroy());
  process.stdin.on('error', () => stdin.end());
  process.stdout.on('error', () => stdout.destroy());
}

function ended(child: ChildProcess): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => flushed(process.stdout, () => resolve({ code, signal })));
  });
}

/** Waits until everything written has left this process. */
function flushed(output: Writable, done: () => void): void {
  if (output.destroyed || output.writableLength === 0) done();
  else output.write('', () => done());
}
