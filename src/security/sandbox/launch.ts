// Starts a process tree and follows it to its end: descriptors, pipes, the report. How a tree is held together and ended
// is in `trees.ts`, the isolation in `bubblewrap.ts`; this file knows no policy.

import type { ChildProcess, StdioNull, StdioPipe } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { descriptors } from './bubblewrap.ts';
import { TailBuffer } from './capture.ts';
import type { ExitReport, StopReason } from './contract.ts';
import { sandboxErrors } from './errors.ts';
import type { SandboxIdentity } from './identity.ts';
import { type StandardPipes, standardPipes } from './pipes.ts';
import { runVariable } from './process-tree.ts';
import type { BubblewrapInput, StartHook } from './trees.ts';
import { GroupTree, IsolatedTree } from './trees.ts';

/** A command line with its environment, descriptors and isolation. */
export interface LaunchPlan {
  readonly file: string;
  readonly args: readonly string[];
  /** Environment of the started file itself; empty under bubblewrap, which builds that of the program. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly identity: SandboxIdentity;
  readonly stdin: 'ignore' | 'pipe';
  /** Our descriptors that must not be inherited (see `descriptors.ts`). */
  readonly covered: readonly number[];
  /** Under bubblewrap. */
  readonly isolation?: BubblewrapInput;
  readonly onStart?: StartHook;
}

/** A started tree. */
export interface Launched {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  stop(reason: StopReason): void;
  /** Settles when the program has started; rejects like `ended`. */
  readonly begun: Promise<void>;
  /** Settles when no process is left; rejects only if the program never started. */
  readonly ended: Promise<ExitReport>;
}

/** Only below the kernel level: an escaped process may hold the pipes open; we wait no longer than this for it. */
export const drainGraceMs = 2_000;

/** Starts a tree; throws if not even the first process could be started. */
export function launch(plan: LaunchPlan): Launched {
  const startedAt = performance.now();
  const { isolation } = plan;
  const mark = randomBytes(12).toString('hex');
  const marked = { ...plan, environment: { ...plan.environment, [runVariable]: mark } };
  const { child, stdin, stdout, stderr } = start(isolation ? plan : marked);
  const tree = isolation
    ? new IsolatedTree(child, isolation, plan.onStart)
    : new GroupTree(child, { mark, uid: plan.identity.uid }, plan.onStart);
  const errorOutput = new TailBuffer(4 * 1024);
  stderr.on('data', (chunk: Buffer) => errorOutput.push(chunk));

  const ended = (async (): Promise<ExitReport> => {
    try {
      const [code, killedBy] = await exitOf(child);
      const durationMs = performance.now() - startedAt;
      await tree.sweep();
      await tree.reported;
      const outcome = tree.outcome(code, killedBy);
      if (outcome !== undefined) return { ...outcome, stopped: tree.stopped, durationMs };
      await closed(stderr, drainGraceMs);
      throw sandboxErrors.startFailed(errorOutput.bytes().toString().trim() || `exit status ${code ?? killedBy}`);
    } finally {
      tree.end();
      // As Node does for its own streams: an unread stream must not keep a descriptor open.
      stdin?.destroy();
      for (const stream of [stdout, stderr]) stream.resume();
    }
  })();

  const begun = Promise.race([tree.begun, ended.then(() => undefined)]);
  begun.catch(() => {}); // Avoids an unhandled rejection; callers that do not await it use `ended`.
  return { stdin, stdout, stderr, stop: (reason) => tree.stop(reason), begun, ended };
}

/** A process with its standard streams. */
interface Started {
  readonly child: ChildProcess;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

function start({ file, args, cwd, environment, stdin, identity, isolation, covered }: LaunchPlan): Started {
  const nothing = covered.length > 0 ? openSync('/dev/null', 'r') : -1;
  let pipes: StandardPipes | undefined;
  try {
    pipes = standardPipes(stdin);
    const stdio: (StdioNull | StdioPipe | number)[] = [
      ...(pipes?.stdio ?? ([stdin, 'pipe', 'pipe'] as const)),
      ...(isolation ? Object.values(descriptors).map(() => 'pipe' as const) : []),
    ];
    for (const descriptor of covered) {
      while (stdio.length <= descriptor) stdio.push('ignore');
      if (stdio[descriptor] === 'ignore') stdio[descriptor] = nothing;
    }
    const child = spawn(file, args, {
      cwd,
      env: environment,
      stdio,
      // A separate process group: a signal that ends it must not end us.
      detached: true,
      ...(identity.changes ? { uid: identity.uid, gid: identity.gid } : {}),
    });
    const started = { child, ...streamsOf(pipes ?? child) };
    if (started.stdout !== null && (!isolation || child.stdio[descriptors.arguments])) return started as Started;
    // Without free descriptors, Node returns a child without pipes and reports the error in an event.
    child.on('error', () => {});
    throw new Error('no file descriptors left');
  } catch (cause) {
    pipes?.destroy();
    throw sandboxErrors.startFailed(String(cause), cause);
  } finally {
    pipes?.handOn();
    if (nothing >= 0) closeSync(nothing);
  }
}

const streamsOf = ({ stdin, stdout, stderr }: StandardPipes | ChildProcess) => ({ stdin, stdout, stderr });

function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.on('exit', (code, killedBy) => resolve([code, killedBy]));
    child.on('error', (cause) => {
      // A failed kill is reported here as well; only a failed start leaves no process.
      if (child.pid === undefined) reject(sandboxErrors.startFailed(cause.message, cause));
    });
  });
}

/** Waits until a stream has ended, up to a time limit; later data is dropped. */
export function closed(stream: Readable, timeoutMs: number): Promise<void> {
  if (stream.closed || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => stream.destroy(), timeoutMs);
    stream.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
