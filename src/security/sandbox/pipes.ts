// Pipes for the standard streams of a program. Node connects its children by sockets, and a socket can not be opened by
// name: `echo x > /dev/stdout` fails. Node has no way to make a pipe, so `mkfifo` makes some ahead; they have no name
// any more by the time a program is started.

import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findHelper } from './bubblewrap.ts';

/** The standard streams of a program that is about to be started. */
export interface StandardPipes {
  /** What it is started with. */
  readonly stdio: readonly ['ignore' | number, number, number];
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Closes the program's ends, once it has them. */
  handOn(): void;
  /** Closes ours, where it could not be started. */
  destroy(): void;
}

/** How many are made at a time: starting `mkfifo` costs more than the pipes. Each is one open descriptor until used. */
const batch = 16;

/** Pipes that are ready, as descriptors open for both directions. */
const ready: number[] = [];

/** Makes the pipes; undefined where that is not possible, and Node's own sockets must do. */
export function standardPipes(stdin: 'ignore' | 'pipe'): StandardPipes | undefined {
  const wanted = stdin === 'pipe' ? 3 : 2;
  if (ready.length < wanted) ready.push(...makeFifos());
  if (ready.length < wanted) return undefined;
  const theirs: number[] = [];
  const ours: Socket[] = [];
  const close = (): void => {
    for (const fd of theirs.splice(0)) closeSync(fd);
  };
  const destroy = (): void => {
    close();
    for (const stream of ours) stream.destroy();
  };
  try {
    const input = stdin === 'pipe' ? makePipe(constants.O_RDONLY, theirs, ours) : undefined;
    const [output, errors] = [makePipe(constants.O_WRONLY, theirs, ours), makePipe(constants.O_WRONLY, theirs, ours)];
    return {
      stdio: [input?.theirs ?? 'ignore', output.theirs, errors.theirs],
      stdin: input?.ours ?? null,
      stdout: output.ours,
      stderr: errors.ours,
      handOn: close,
      destroy,
    };
  } catch (error) {
    destroy();
    throw error;
  }
}

/** Opened anew, each end has flags of its own: ours never waits, the program's does, as programs expect. */
function makePipe(
  theirMode: number,
  theirs: number[],
  ours: Socket[],
): { readonly theirs: number; readonly ours: Socket } {
  const both = ready.pop() as number;
  const path = `/proc/self/fd/${both}`;
  const reads = theirMode === constants.O_WRONLY;
  try {
    const end = openSync(path, theirMode);
    theirs.push(end);
    const fd = openSync(path, (reads ? constants.O_RDONLY : constants.O_WRONLY) | constants.O_NONBLOCK);
    const socket = new Socket({ fd, readable: reads, writable: !reads });
    ours.push(socket);
    return { theirs: end, ours: socket };
  } finally {
    closeSync(both);
  }
}

/** Open to every user: the program is another one, and opening a stream by its name asks for permission again. */
const mode = '666';

function makeFifos(): number[] {
  const mkfifo = process.platform === 'linux' ? findHelper('mkfifo') : undefined;
  if (mkfifo === undefined) return [];
  const folder = mkdtempSync(join(tmpdir(), 'mooring-pipes-'));
  try {
    const names = Array.from({ length: batch }, (_, n) => join(folder, String(n)));
    const { status } = spawnSync(mkfifo, ['-m', mode, ...names], { env: {}, stdio: 'ignore', timeout: 5_000 });
    return status === 0 ? names.map((name) => openSync(name, constants.O_RDWR | constants.O_NONBLOCK)) : [];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
