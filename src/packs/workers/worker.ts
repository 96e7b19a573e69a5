// One supervised program: started, read, restarted by its policy, stopped. It gets its sandbox as one function and
// notifies its listener of changes.

import { StringDecoder } from 'node:string_decoder';
import type { ExitReport, SandboxProcess, SpawnRequest } from '../../security/sandbox/index.ts';
import { type RestartPolicy, WorkerError, type WorkerRecord, type WorkerStatus } from './contract.ts';
import { OutputRing } from './output-ring.ts';

/** How workers are supervised. */
export interface RestartLimits {
  /** Consecutive restarts after which a worker is not restarted again. */
  readonly maxRestarts: number;
  readonly restartMs: number;
  readonly maxRestartMs: number;
  /** After running this long, the count of restarts starts at zero again. */
  readonly stableMs: number;
  /** Time between closing the input of a stopped worker and killing it. */
  readonly stopGraceMs: number;
  /** Characters of output that are stored. */
  readonly maxOutputChars: number;
  /** Characters that may wait for a worker that does not read. */
  readonly maxPendingInput: number;
}

export const defaultSupervision: RestartLimits = {
  maxRestarts: 5,
  restartMs: 500,
  maxRestartMs: 30_000,
  stableMs: 60_000,
  stopGraceMs: 2_000,
  maxOutputChars: 256 * 1024,
  maxPendingInput: 1024 * 1024,
};

export type Spawn = (request: SpawnRequest) => Promise<SandboxProcess>;

/** Notified about a worker while it exists. */
export interface WorkerListener {
  statusChanged(worker: Worker): void;
  printed(worker: Worker): void;
}

const alive: ReadonlySet<WorkerStatus> = new Set(['starting', 'running', 'waiting']);

export class Worker {
  #record: WorkerRecord;
  readonly output: OutputRing;
  readonly #spawn: Spawn;
  readonly #supervision: RestartLimits;
  readonly #listener: WorkerListener;
  #process: SandboxProcess | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;
  #stderr = '';
  #begunAt = 0;
  /** Restarts since it last ran for a long time. */
  #streak = 0;

  constructor(record: WorkerRecord, spawn: Spawn, supervision: RestartLimits, listener: WorkerListener) {
    this.#record = record;
    this.#spawn = spawn;
    this.#supervision = supervision;
    this.#listener = listener;
    this.output = new OutputRing(supervision.maxOutputChars);
  }

  get record(): WorkerRecord {
    return this.#record;
  }

  get isAlive(): boolean {
    return alive.has(this.#record.status);
  }

  /** The end of what it printed to its standard error. */
  get errors(): string {
    return this.#process?.stderrTail().toString() ?? this.#stderr;
  }

  /** Starts the program. Throws when that is not possible; later events go to the listener. */
  async start(): Promise<void> {
    const { program, args, cwd } = this.#record;
    this.#setStatus('starting');
    try {
      const child = await this.#spawn({ program, args, ...(cwd === undefined ? {} : { cwd }) });
      this.#process = child;
      this.#begunAt = performance.now();
      child.stdin.on('error', () => {}); // A worker may close its input; message() checks whether it is alive.
      const decoder = new StringDecoder('utf8');
      child.stdout.on('data', (chunk: Buffer) => this.#print(decoder.write(chunk)));
      void child.exited.then((report) => this.#ended(report));
      if (this.#stopping) void child.kill();
      else this.#setStatus('running');
    } catch (error) {
      this.#setStatus('failed', { endedAt: new Date().toISOString(), reason: (error as Error).message });
      throw error;
    }
  }

  /** Writes to its standard input. */
  message(text: string): void {
    const { status, id } = this.#record;
    const stdin = this.#process?.stdin;
    if (status !== 'running' || stdin === undefined || !stdin.writable) {
      throw new WorkerError(`Worker ${id} is not running (${status})`);
    }
    if (stdin.writableLength + text.length > this.#supervision.maxPendingInput) {
      throw new WorkerError(`Worker ${id} does not read its input; wait, or stop it`);
    }
    stdin.write(text);
  }

  /** Closes its input, waits a little, then ends the whole process tree. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    const child = this.#process;
    if (child === undefined) return this.#release();
    child.stdin.end();
    const grace = setTimeout(() => void child.kill(), this.#supervision.stopGraceMs);
    await child.exited;
    clearTimeout(grace);
  }

  /** Ends it now. */
  async kill(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    if (this.#process === undefined) return this.#release();
    await this.#process.kill();
  }

  /** There is no process to end: it waits for a restart, which is cancelled. */
  #release(): void {
    if (this.#record.status === 'waiting') this.#setStatus('stopped', { endedAt: new Date().toISOString() });
  }

  #print(text: string): void {
    this.output.push(text);
    this.#listener.printed(this);
  }

  #setStatus(status: WorkerStatus, changes: Partial<WorkerRecord> = {}): void {
    const { reason: _reason, exitCode: _code, endedAt: _ended, ...kept } = this.#record;
    this.#record = { ...kept, ...changes, status };
    if (!this.isAlive) this.output.wake();
    this.#listener.statusChanged(this);
  }

  #ended({ exitCode, signal, stopped }: ExitReport): void {
    this.#stderr = this.#process?.stderrTail().toString() ?? '';
    this.#process = undefined;
    const ranMs = performance.now() - this.#begunAt;
    const endedAt = new Date().toISOString();
    if (this.#stopping) return this.#setStatus('stopped', { endedAt, exitCode });
    const failed = exitCode !== 0 || stopped !== null;
    const reason = stopped ?? signal ?? (failed ? `exit code ${exitCode}` : undefined);
    const facts = { endedAt, exitCode, ...(reason === undefined ? {} : { reason }) };
    if (ranMs >= this.#supervision.stableMs) this.#streak = 0;
    if (!wantsRestart(this.#record.restart, failed)) return this.#setStatus(failed ? 'failed' : 'exited', facts);
    if (this.#streak >= this.#supervision.maxRestarts) {
      return this.#setStatus('failed', {
        ...facts,
        reason: `not restarted again after ${this.#streak} restarts (${reason ?? 'exited'})`,
      });
    }
    this.#setStatus('waiting', facts);
    this.#timer = setTimeout(() => void this.#restart(), this.#backOffMs());
  }

  /** Doubles with each consecutive restart; the random part prevents workers with the same cause from restarting together. */
  #backOffMs(): number {
    const { restartMs, maxRestartMs } = this.#supervision;
    return Math.min(maxRestartMs, restartMs * 2 ** this.#streak) * (0.5 + Math.random() / 2);
  }

  async #restart(): Promise<void> {
    this.#streak++;
    this.#record = { ...this.#record, restarts: this.#record.restarts + 1 };
    // A failed start is recorded as the worker's status; no caller waits for the error.
    await this.start().catch(() => {});
  }
}

function wantsRestart(policy: RestartPolicy, failed: boolean): boolean {
  return policy === 'always' || (policy === 'on-failure' && failed);
}
