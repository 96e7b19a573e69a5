// Starting a process tree and seeing it to its end: descriptors, the moment at which the program may begin, the kill
// that leaves nobody behind. What the walls are made of is in `bubblewrap.ts`; this file knows no policy.

import type { ChildProcess, StdioNull, StdioPipe } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Duplex, Readable, Writable } from 'node:stream';
import { accountFiles, descriptors } from './bubblewrap.ts';
import { Tail } from './capture.ts';
import type { ExitReport, StopReason } from './contract.ts';
import { sandboxErrors } from './errors.ts';
import type { Identity } from './identity.ts';
import { measureTree } from './process-tree.ts';

/** A command line with everything that surrounds it. */
export interface LaunchPlan {
  readonly file: string;
  readonly args: readonly string[];
  /** Environment of the started file itself; empty under bubblewrap, which builds the program's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly identity: Identity;
  readonly stdin: 'ignore' | 'pipe';
  /** Descriptors of ours that must not be handed on (see `descriptors.ts`). */
  readonly covered: readonly number[];
  /** Under bubblewrap: its options and the system call filter. */
  readonly walls?: { readonly args: Buffer; readonly filter: Buffer };
  /** Called with the host's number of the first process before the program begins; what it returns is called at the end. */
  readonly onStart?: (pid: number, stop: (reason: StopReason) => void) => Promise<() => void>;
}

/** A tree that was started. */
export interface Launched {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  stop(reason: StopReason): void;
  /** Settles when the program has been let go; rejects like `ended`. */
  readonly begun: Promise<void>;
  /** Settles when no process is left; rejects only if the program never began. */
  readonly ended: Promise<ExitReport>;
}

/** A killed tree is gone in milliseconds; past this we take the outer process as well. */
const killGraceMs = 1_000;

/** A survivor outside our reach may hold the pipes open (below the kernel level alone); we do not wait for it longer. */
export const drainGraceMs = 500;

/** Starts a tree; throws when not even the first process could be made. */
export function launch(plan: LaunchPlan): Launched {
  const startedAt = performance.now();
  const { walls } = plan;
  const child = start(plan);
  const tree = walls ? new WalledTree(child, walls, plan.onStart) : new GroupTree(child, plan.onStart);
  const words = new Tail(4 * 1024);
  const { stdout, stderr } = child;
  stderr.on('data', (chunk: Buffer) => words.push(chunk));

  const ended = (async (): Promise<ExitReport> => {
    try {
      const [code, killedBy] = await exitOf(child);
      const durationMs = performance.now() - startedAt;
      tree.sweep();
      await tree.reported;
      const outcome = tree.outcome(code, killedBy);
      if (outcome !== undefined) return { ...outcome, stopped: tree.stopped, durationMs };
      await closed(stderr, drainGraceMs);
      throw sandboxErrors.startFailed(words.bytes().toString().trim() || `exit status ${code ?? killedBy}`);
    } finally {
      tree.end();
    }
  })();

  const begun = Promise.race([tree.begun, ended.then(() => undefined)]);
  begun.catch(() => {}); // Whoever waits for it hears of it; the others hear from `ended`.
  return { stdin: child.stdin, stdout, stderr, stop: (reason) => tree.stop(reason), begun, ended };
}

type StartedProcess = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

function start({ file, args, cwd, environment, stdin, identity, walls, covered }: LaunchPlan): StartedProcess {
  const nothing = covered.length > 0 ? openSync('/dev/null', 'r') : -1;
  const stdio: (StdioNull | StdioPipe | number)[] = [
    stdin,
    'pipe',
    'pipe',
    ...(walls ? Object.values(descriptors).map(() => 'pipe' as const) : []),
  ];
  for (const descriptor of covered) {
    while (stdio.length <= descriptor) stdio.push('ignore');
    if (stdio[descriptor] === 'ignore') stdio[descriptor] = nothing;
  }
  try {
    const child = spawn(file, args, {
      cwd,
      env: environment,
      stdio,
      // Without a pid namespace the process group is the best handle on the tree that there is.
      detached: walls === undefined,
      ...(identity.changes ? { uid: identity.uid, gid: identity.gid } : {}),
    });
    if (child.stdout !== null && child.stdout !== undefined) return child as StartedProcess;
    // Out of descriptors, Node gives a child without pipes and tells the rest in an event.
    child.on('error', () => {});
    throw new Error('no descriptors left');
  } catch (cause) {
    throw sandboxErrors.startFailed(String(cause), cause);
  } finally {
    if (nothing >= 0) closeSync(nothing);
  }
}

function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.on('exit', (code, killedBy) => resolve([code, killedBy]));
    child.on('error', (cause) => {
      // A failing kill is reported here as well; only a failing start leaves us without a process.
      if (child.pid === undefined) reject(sandboxErrors.startFailed(cause.message, cause));
    });
  });
}

/** Waits until a stream has given everything, at most so long; what comes later is dropped. */
export function closed(stream: Readable, patienceMs: number): Promise<void> {
  if (stream.closed || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => stream.destroy(), patienceMs);
    stream.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

type Outcome = Pick<ExitReport, 'exitCode' | 'signal'>;
type StartHook = LaunchPlan['onStart'];

const signalNames = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);

/** Exit status as a shell says it, and the signal that it stands for. */
function outcomeOf(exitCode: number): Outcome {
  return { exitCode, signal: exitCode > 128 ? (signalNames.get(exitCode - 128) ?? null) : null };
}

/** Common to both kinds of tree: one reason to stop, one start hook, undone once. */
abstract class Tree {
  protected readonly child: ChildProcess;
  readonly #onStart: StartHook;
  #undo: (() => void) | undefined;
  #force: NodeJS.Timeout | undefined;
  #ended = false;
  #resolveBegun!: () => void;
  readonly begun = new Promise<void>((resolve) => {
    this.#resolveBegun = resolve;
  });
  stopped: StopReason | null = null;
  /** Settles when everything is known about the end. */
  reported: Promise<void> = Promise.resolve();

  constructor(child: ChildProcess, onStart: StartHook) {
    this.child = child;
    this.#onStart = onStart;
  }

  /** Puts the tree under watch; true when the program may begin. */
  protected async begin(pid: number): Promise<boolean> {
    const undo = await this.#onStart?.(pid, (reason) => this.stop(reason));
    if (this.#ended) undo?.();
    else this.#undo = undo;
    return !this.#ended && this.stopped === null;
  }

  protected letGo(): void {
    this.#resolveBegun();
  }

  stop(reason: StopReason): void {
    if (this.#ended || this.stopped !== null) return;
    this.stopped = reason;
    this.kill();
    this.#force = setTimeout(() => this.child.kill('SIGKILL'), killGraceMs);
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#force);
    this.#undo?.();
    this.#undo = undefined;
  }

  protected abstract kill(): void;
  /** Called when the first process is gone. */
  abstract sweep(): void;
  /** How the program ended; `undefined` when it never began. */
  abstract outcome(code: number | null, signal: NodeJS.Signals | null): Outcome | undefined;
}

/**
 * A tree under bubblewrap. Process 1 of its pid namespace is our child's child: ending that one makes the kernel end
 * all others first, and bubblewrap reports only afterwards, so its exit is the proof that nobody is left.
 */
class WalledTree extends Tree {
  readonly #gate: Duplex;
  #first: number | undefined;
  #exitCode: number | undefined;
  #exited = false;

  constructor(child: ChildProcess, walls: { args: Buffer; filter: Buffer }, onStart: StartHook) {
    super(child, onStart);
    send(child, descriptors.arguments, walls.args);
    send(child, descriptors.filter, walls.filter);
    send(child, descriptors.passwd, accountFiles.passwd);
    send(child, descriptors.group, accountFiles.group);
    this.#gate = pipeAt(child, descriptors.gate);
    const status = pipeAt(child, descriptors.status);
    this.reported = new Promise((resolve) => status.once('close', resolve));
    const watched = new Promise<boolean>((resolve, reject) => {
      this.#listen(status, (first) => this.begin(first).then(resolve, reject));
    });
    const arrived = new Promise<void>((resolve) => this.#gate.once('data', () => resolve()));
    this.#gate.on('error', () => {}); // It closes without a word when the tree dies early; the exit says why.
    // The program begins when its tree is under watch and bound to our life (see `gateScript`).
    Promise.all([watched, arrived]).then(
      ([mayBegin]) => (mayBegin ? this.#open() : undefined),
      () => this.stop('unwatched'),
    );
  }

  #listen(status: Readable, onFirst: (pid: number) => void): void {
    let text = '';
    status.setEncoding('utf8');
    status.on('error', () => {});
    status.on('data', (chunk: string) => {
      text += chunk;
      const first = /"child-pid": (\d+)/.exec(text);
      if (first && this.#first === undefined) {
        this.#first = Number(first[1]);
        if (this.stopped !== null) this.kill();
        sacrifice(this.#first);
        onFirst(this.#first);
      }
      const exit = /"exit-code": (\d+)/.exec(text);
      if (exit) this.#exitCode = Number(exit[1]);
    });
  }

  #open(): void {
    if (this.stopped !== null) return;
    this.#gate.end('go\n');
    this.letGo();
  }

  protected kill(): void {
    if (this.#exited) return;
    this.#gate.destroy();
    // Before we know process 1, the program has not begun: the outer process is all there is.
    if (this.#first === undefined || !signal(this.#first)) this.child.kill('SIGKILL');
  }

  sweep(): void {
    this.#exited = true;
    this.#gate.destroy();
  }

  outcome(_code: number | null, killedBy: NodeJS.Signals | null): Outcome | undefined {
    if (this.#exitCode !== undefined) return outcomeOf(this.#exitCode);
    // Ended from outside: by us, or by the kernel for want of memory.
    if (this.stopped !== null || killedBy !== null) return outcomeOf(128 + constants.signals[killedBy ?? 'SIGKILL']);
    return undefined;
  }
}

/** A tree without a namespace: a process group, and the descendants that we still find. A daemon can slip away. */
class GroupTree extends Tree {
  constructor(child: ChildProcess, onStart: StartHook) {
    super(child, onStart);
    this.letGo();
    if (child.pid !== undefined) this.begin(child.pid).catch(() => this.stop('unwatched'));
  }

  protected kill(): void {
    if (this.child.pid === undefined) return;
    const { pids } = measureTree(this.child.pid);
    signal(-this.child.pid);
    for (const pid of pids) signal(pid);
  }

  sweep(): void {
    if (this.child.pid !== undefined) signal(-this.child.pid);
  }

  outcome(code: number | null, killedBy: NodeJS.Signals | null): Outcome {
    return killedBy === null ? outcomeOf(code ?? 1) : { exitCode: 128 + constants.signals[killedBy], signal: killedBy };
  }
}

/** Node makes the further descriptors socket pairs, whichever way the bytes go. */
function pipeAt(child: ChildProcess, descriptor: number): Duplex {
  return (child.stdio as readonly unknown[])[descriptor] as Duplex;
}

function send(child: ChildProcess, descriptor: number, content: string | Buffer): void {
  const pipe = pipeAt(child, descriptor);
  pipe.on('error', () => {}); // As above: the exit says why.
  pipe.resume();
  pipe.end(content);
}

/** Should the machine run out of memory, the kernel takes this tree first and not us. */
function sacrifice(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Not granted in every container; the memory limit does not depend on it.
  }
}

function signal(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // Already gone.
  }
}
