// Pipes for the standard streams of a program. Node connects its children by sockets, and a socket cannot be opened by
// name: `echo x > /dev/stdout` fails. Node cannot create pipes, so `mkfifo` creates some in advance; their names are
// deleted before a program starts.

import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { findHelper } from './bubblewrap.ts';

/** The standard streams of a program that is about to start. */
export interface StandardPipes {
  /** The `stdio` option for the start. */
  readonly stdio: readonly ['ignore' | number, number, number];
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Closes the program's ends in this process, after the start. */
  handOn(): void;
  /** Closes our ends, if the start failed. */
  destroy(): void;
}

/** How many are created at a time: starting `mkfifo` costs more than the pipes. Each is one open descriptor until used. */
const batch = 16;

/** Pipes that are ready, as descriptors open for both directions. */
const ready: number[] = [];

/** Creates the pipes; undefined if that is not possible, then Node's sockets are used. */
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

/** Opened separately, each end has its own flags: ours is non-blocking, the program's blocks, as programs expect. */
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

/** Accessible for every user: the program runs as another one, and opening a stream by name checks permissions again. */
const mode = '666';

function makeFifos(): number[] {
  const mkfifo = process.platform === 'linux' ? findHelper('mkfifo') : undefined;
  if (mkfifo === undefined) return [];
  const opened: number[] = [];
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'mooring-pipes-'));
    const names = Array.from({ length: batch }, (_, n) => join(folder as string, String(n)));
    const { status } = spawnSync(mkfifo, ['-m', mode, ...names], { env: {}, stdio: 'ignore', timeout: 5_000 });
    if (status !== 0) return [];
    for (const name of names) opened.push(openSync(name, constants.O_RDWR | constants.O_NONBLOCK));
  } catch {
    // No folder for temporary files, or no more descriptors: what there is can be used.
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  return opened;
}
