// The two kinds of process tree: under bubblewrap, where the kernel holds it together, and a plain process group. Each
// knows when its program may start, how to end all of it, and how it ended.

import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Duplex, Readable } from 'node:stream';
import { accountFiles, descriptors } from './bubblewrap.ts';
import type { ExitReport, StopReason } from './contract.ts';
import { findMarked, measureTree } from './process-tree.ts';

/** A tree that is monitored. */
export interface WatchedTree {
  /** Its processes, as far as a control group knows them. */
  members(): Promise<readonly number[]>;
  /** Called when no process is left. */
  end(): void;
}

/** Called with the host's pid of the first process before the program starts. */
export type StartHook = (pid: number, stop: (reason: StopReason) => void) => Promise<WatchedTree>;

/** The input of bubblewrap: its options and the system call filter. */
export interface BubblewrapInput {
  readonly args: Buffer;
  readonly filter: Buffer;
}

/** A killed tree ends within milliseconds; after this we kill the outer process as well. */
const killGraceMs = 1_000;
/** How often we look for processes of a group that have not ended yet, and for how long. */
const sweepEveryMs = 5;
const maxSweepMs = 1_000;

type TreeOutcome = Pick<ExitReport, 'exitCode' | 'signal'>;

const signalNames = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);

/** Exit status in the convention of shells, and the signal that it means. */
function outcomeOf(exitCode: number): TreeOutcome {
  return { exitCode, signal: exitCode > 128 ? (signalNames.get(exitCode - 128) ?? null) : null };
}

/** Common to both kinds of tree: one reason to stop, one start hook, cleaned up once. */
export abstract class Tree {
  protected readonly child: ChildProcess;
  readonly #onStart: StartHook | undefined;
  protected watched: WatchedTree | undefined;
  #force: NodeJS.Timeout | undefined;
  #ended = false;
  #resolveBegun!: () => void;
  readonly begun = new Promise<void>((resolve) => {
    this.#resolveBegun = resolve;
  });
  stopped: StopReason | null = null;
  /** Settles when all information about the end is known. */
  reported: Promise<void> = Promise.resolve();

  constructor(child: ChildProcess, onStart: StartHook | undefined) {
    this.child = child;
    this.#onStart = onStart;
  }

  /** Starts monitoring the tree; true when the program may start. */
  protected async begin(pid: number): Promise<boolean> {
    const watched = await this.#onStart?.(pid, (reason) => this.stop(reason));
    if (this.#ended) watched?.end();
    else this.watched = watched;
    return !this.#ended && this.stopped === null;
  }

  protected resolveStarted(): void {
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
    this.watched?.end();
    this.watched = undefined;
  }

  protected abstract kill(): void;
  /** Called when the first process has ended: ends what is left. */
  abstract sweep(): void | Promise<void>;
  /** How the program ended; `undefined` if it never started. */
  abstract outcome(code: number | null, signal: NodeJS.Signals | null): TreeOutcome | undefined;
}

/**
 * A tree under bubblewrap. When process 1 of its pid namespace ends, the kernel ends all others first, and bubblewrap
 * reports only afterwards, so its exit proves that no process is left.
 */
export class IsolatedTree extends Tree {
  readonly #gate: Duplex;
  readonly #keeper: Duplex;
  #opened = false;
  #first: number | undefined;
  #exitCode: number | undefined;
  #exited = false;

  constructor(child: ChildProcess, isolation: BubblewrapInput, onStart: StartHook | undefined) {
    super(child, onStart);
    send(child, descriptors.arguments, isolation.args);
    send(child, descriptors.filter, isolation.filter);
    send(child, descriptors.passwd, accountFiles.passwd);
    send(child, descriptors.group, accountFiles.group);
    this.#gate = pipeAt(child, descriptors.gate);
    this.#keeper = pipeAt(child, descriptors.keeper);
    this.#keeper.on('error', () => {}).resume();
    const status = pipeAt(child, descriptors.status);
    this.reported = new Promise((resolve) => status.once('close', resolve));
    const watched = new Promise<boolean>((resolve, reject) => {
      this.#listen(status, (first) => this.begin(first).then(resolve, reject));
    });
    const arrived = new Promise<void>((resolve) => this.#gate.once('data', () => resolve()));
    this.#gate.on('error', () => {}); // It closes without a report when the tree ends early; the exit status says why.
    // The program starts when its tree is monitored and bound to our lifetime (see `waitScript`).
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
        preferForOomKill(this.#first);
        onFirst(this.#first);
      }
      const exit = /"exit-code": (\d+)/.exec(text);
      if (exit) this.#exitCode = Number(exit[1]);
    });
  }

  #open(): void {
    if (this.stopped !== null) return;
    this.#opened = true;
    this.#gate.end('go\n');
    this.resolveStarted();
  }

  protected kill(): void {
    if (this.#exited) return;
    this.#gate.destroy();
    // Before process 1 is known, the program has not started: the supervisor process ends what there is.
    if (this.#first === undefined || !signal(this.#first)) this.#keeper.destroy();
  }

  sweep(): void {
    this.#exited = true;
    this.#gate.destroy();
    this.#keeper.destroy();
  }

  outcome(): TreeOutcome | undefined {
    if (this.#exitCode !== undefined) return outcomeOf(this.#exitCode);
    // Ended from outside, so that bubblewrap could not report: by us, or by the kernel when memory ran out.
    return this.#opened || this.stopped !== null ? outcomeOf(128 + constants.signals.SIGKILL) : undefined;
  }
}

/** Groups that only this process can end: the kernel ends isolated trees with us, but these we must end ourselves. */
const livingGroups = new Set<GroupTree>();

function endLivingGroups(): void {
  for (const group of livingGroups) group.stop('closed');
}

/**
 * A tree without a namespace: a process group, its descendants, and the daemons that it has started, which are found by the control
 * group or by a variable of their environment. Without a control group, a daemon that has removed the variable can escape.
 */
export class GroupTree extends Tree {
  readonly #findMarked: () => readonly number[];

  /** `mark`: the value of `runVariable` in the environment of the program; `uid`: its user. */
  constructor(child: ChildProcess, { mark, uid }: { mark: string; uid: number }, onStart: StartHook | undefined) {
    super(child, onStart);
    this.#findMarked = () => findMarked(mark, uid);
    this.resolveStarted();
    if (livingGroups.size === 0) process.once('exit', endLivingGroups);
    livingGroups.add(this);
    if (child.pid !== undefined) this.begin(child.pid).catch(() => this.stop('unwatched'));
  }

  protected kill(): void {
    if (this.child.pid === undefined) return;
    const { pids } = measureTree(this.child.pid);
    signal(-this.child.pid);
    for (const pid of [...pids, ...this.#findMarked()]) signal(pid);
  }

  async sweep(): Promise<void> {
    if (this.child.pid === undefined) return;
    signal(-this.child.pid);
    const until = performance.now() + maxSweepMs;
    for (;;) {
      const left = new Set([...this.#findMarked(), ...((await this.watched?.members()) ?? [])]);
      // A process may have started another one before it was ended; it is found the next time.
      for (const pid of left) signal(pid);
      if (left.size === 0 || performance.now() > until) return;
      await new Promise((resolve) => setTimeout(resolve, sweepEveryMs));
    }
  }

  override end(): void {
    super.end();
    livingGroups.delete(this);
    if (livingGroups.size === 0) process.removeListener('exit', endLivingGroups);
  }

  outcome(code: number | null, killedBy: NodeJS.Signals | null): TreeOutcome {
    return killedBy === null ? outcomeOf(code ?? 1) : { exitCode: 128 + constants.signals[killedBy], signal: killedBy };
  }
}

/** Node makes additional descriptors socket pairs, in either direction. */
function pipeAt(child: ChildProcess, descriptor: number): Duplex {
  return (child.stdio as readonly unknown[])[descriptor] as Duplex;
}

function send(child: ChildProcess, descriptor: number, content: string | Buffer): void {
  const pipe = pipeAt(child, descriptor);
  pipe.on('error', () => {}); // As above: the exit status says why.
  pipe.resume();
  pipe.end(content);
}

/** If the machine runs out of memory, the kernel should end this tree first and not us. */
function preferForOomKill(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Not permitted in every container; the memory limit does not depend on it.
  }
}

function signal(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // It has already ended.
  }
}
