// Writes lines: chained and collected as bytes for some milliseconds, then written together. A disk that fails is tried
// again every second; what was written in part is continued, never repeated. What lines say: line-encoder.ts.

import { type Logger, silentLogger } from '../../protocol/logger.ts';
import { Batch, type TakenBatch } from './batch.ts';
import { Chain } from './chain.ts';
import type { AuditHead, AuditRecord, FailureMode, SyncPolicy } from './contract.ts';
import { beginsGroup } from './entry.ts';
import type { LogFile } from './file.ts';
import type { EndedCall, LineEncoder } from './line-encoder.ts';

export interface WriterOptions {
  readonly sync: SyncPolicy;
  readonly failureMode: FailureMode;
  readonly maxQueuedBytes: number;
  readonly minFreeBytes: number;
  readonly logger: Logger | undefined;
  /** Makes sure that no other process writes to this log; throws otherwise. */
  readonly confirmClaim: () => void;
}

/** How long lines are collected before they are written. */
const collectMs = 100;
/** How often the disk is looked at: whether it takes lines again, whether the file is still there, how full it is. */
const checkEveryMs = 1_000;
/** So much is written without collecting any longer. */
const largeBatchBytes = 1024 * 1024;
/**
 * Calls are encoded so many at a time: code that runs once per call has left the processor's caches by the next one.
 * MEASURED
 */
const maxPendingCalls = 64;
/** Only small calls wait: a caller must not make us hold large arguments. */
const maxPendingValues = 16;
const maxPendingChars = 256;
/** How long `close` waits for a disk that does not take the last lines. */
const maxCloseMs = 2_000;

/** Someone who waits until lines are safe. */
interface FlushWaiter {
  /** How many lines. */
  readonly until: number;
  readonly done: () => void;
  /** Called at the first failure by those who do not wait for the disk to recover. */
  readonly failed: ((error: unknown) => void) | undefined;
}

export class AuditWriter {
  readonly #options: WriterOptions;
  readonly #lines: LineEncoder;
  readonly #logger: Logger;
  readonly #file: LogFile;
  readonly #batch = new Batch();
  readonly #chain: Chain;
  /** Small calls that are not encoded yet. */
  #pending: EndedCall[] = [];
  /** How many lines were added, how many of them are written, and how many of these are safe. */
  #added = 0;
  #written = 0;
  #synced = 0;
  /** Lines and calls that have no line because the log could not be written: in all, and since that was last recorded. */
  #dropped = { total: 0, unreported: 0 };
  #rejected = { total: 0, unreported: 0 };
  /** Taken from the batch and not completely written; `#offset` is how much of it is. */
  #unwritten: TakenBatch | undefined;
  #offset = 0;
  #waiting: FlushWaiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #checkTimer: NodeJS.Timeout;
  #isClosed = false;
  #running = false;
  /** Done when the run at hand is. */
  #run: Promise<void> = Promise.resolve();
  #syncWanted = false;
  /** Those who wait for a look at the file and the disk. */
  #checking: (() => void)[] = [];
  /** Why the last run failed. */
  #error: string | undefined;
  #isSpaceLow = false;
  #reported: string | undefined;

  constructor(options: WriterOptions, lines: LineEncoder, head: AuditHead, file: LogFile) {
    this.#options = options;
    this.#lines = lines;
    this.#logger = options.logger ?? silentLogger;
    this.#file = file;
    this.#chain = new Chain(head, this.#batch);
    this.#checkTimer = setInterval(this.#check, checkEveryMs).unref();
  }

  get head(): AuditHead {
    this.#encodePending();
    this.#chain.closeGroup();
    return this.#chain.head;
  }

  get path(): string {
    return this.#file.path;
  }

  get queuedBytes(): number {
    return this.#batch.bytes + (this.#unwritten?.bytes.length ?? 0);
  }

  get droppedLines(): number {
    return this.#dropped.total;
  }

  get rejectedCalls(): number {
    return this.#rejected.total;
  }

  /**
   * Why lines cannot be written at the moment; undefined while they can. Half of the queue is left to the lines of calls
   * that run already.
   */
  get failure(): string | undefined {
    const { minFreeBytes, maxQueuedBytes } = this.#options;
    if (this.#error !== undefined) return this.#error;
    if (this.#isSpaceLow) return `the disk has less than ${minFreeBytes} bytes left`;
    return this.queuedBytes > maxQueuedBytes / 2 ? 'the disk does not keep up' : undefined;
  }

  /** Ends a line that the last writer did not. */
  endTornLine(): void {
    this.#batch.addText('\n');
  }

  /** Adds a line about something that is not a request. */
  record(record: AuditRecord): void {
    const json = this.#lines.record(record);
    this.#encodePending();
    if (beginsGroup(record.event)) this.#chain.closeGroup();
    this.#append(json);
  }

  /** Adds a line, given as a JSON object. */
  add(json: string): void {
    this.#encodePending();
    this.#append(json);
  }

  /** Adds the line of a call. */
  addCall(call: EndedCall): void {
    if (!isSmall(call)) return this.add(this.#lines.call(call));
    this.#pending.push(call);
    if (this.#pending.length >= maxPendingCalls) this.#encodePending();
    this.#writeSoon();
  }

  #encodePending(): void {
    if (this.#pending.length === 0) return;
    const calls = this.#pending;
    this.#pending = [];
    for (const call of calls) this.#append(this.#lines.call(call));
  }

  /** A line is dropped, and counted, when too many bytes wait already. */
  #append(json: string): void {
    if (this.#isClosed) return;
    if (this.queuedBytes + json.length > this.#options.maxQueuedBytes) return count(this.#dropped);
    this.#chain.add(json);
    this.#added++;
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(this.#write, collectMs);
  }

  /** Counts a call that was rejected because it could not be recorded. */
  countRejected(): void {
    count(this.#rejected);
  }

  /** Looks at the disk now. Resolves when `failure` is up to date. */
  check(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((done) => {
      this.#checking.push(done);
      void this.#start();
    });
  }

  /**
   * Resolves when everything added so far is written and, unless the policy is never to, forced to the disk. While the
   * disk fails it waits; `impatient` rejects instead.
   */
  flush(impatient = false): Promise<void> {
    this.#encodePending();
    const until = this.#added;
    if (this.#isSafe(until)) return Promise.resolve();
    return new Promise((done, reject) => {
      this.#waiting.push({ until, done, failed: impatient ? reject : undefined });
      this.#syncWanted = true;
      void this.#start();
    });
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxCloseMs);
    });
    await Promise.race([this.#flushAll(), patience]);
    clearTimeout(timer);
    await this.abandon();
  }

  /** Like `flush`, with the line that records which files the last run deleted. */
  async #flushAll(): Promise<void> {
    await this.flush();
    await this.#run;
    await this.flush();
  }

  /** Closes the file without writing what is left. */
  async abandon(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#checkTimer);
    clearTimeout(this.#timer);
    await this.#run;
    await this.#file.close().catch(() => undefined); // Nothing is lost that was not lost before.
  }

  #isSafe(lines: number): boolean {
    return (this.#options.sync === 'never' ? this.#written : this.#synced) >= lines;
  }

  readonly #write = (): void => {
    this.#timer = undefined;
    // A failing disk is tried again with the next check.
    if (this.#error === undefined) void this.#start();
  };

  readonly #check = (): void => {
    this.#encodePending();
    if (this.#options.sync === 'interval' && this.#synced < this.#added) this.#syncWanted = true;
    void this.check();
    this.#report();
  };

  #start(): Promise<void> {
    if (!this.#running && !this.#isClosed) {
      this.#running = true;
      this.#run = this.#writeAll().then(
        () => this.#succeeded(),
        (error: unknown) => this.#failed(error),
      );
    }
    return this.#run;
  }

  #succeeded(): void {
    this.#running = false;
    this.#error = undefined;
    this.#report();
    if (this.failure === undefined) this.#recordGaps();
    if (this.#batch.lines > 0) this.#writeSoon();
  }

  #failed(error: unknown): void {
    this.#running = false;
    this.#error = error instanceof Error ? error.message : String(error);
    this.#report();
    for (const done of this.#checking.splice(0)) done();
    for (const { failed } of this.#waiting) failed?.(error);
    this.#waiting = this.#waiting.filter(({ failed }) => failed === undefined);
  }

  async #writeAll(): Promise<void> {
    do {
      if (this.#checking.length > 0) await this.#lookAtDisk();
      this.#encodePending();
      this.#chain.closeGroup();
      if (this.#unwritten === undefined && this.#batch.lines > 0) this.#unwritten = this.#batch.take();
      await this.#writeBatch();
      if (this.#options.sync === 'always' || (this.#syncWanted && this.#options.sync !== 'never')) await this.#sync();
      this.#wake();
      if (this.#file.isFull) await this.#rotate();
    } while (this.#waiting.length + this.#checking.length > 0 || this.#batch.bytes >= largeBatchBytes);
    this.#syncWanted = false;
  }

  async #lookAtDisk(): Promise<void> {
    const count = this.#checking.length;
    await this.#followFile();
    this.#isSpaceLow = (await this.#file.freeBytes()) < this.#options.minFreeBytes;
    for (const done of this.#checking.splice(0, count)) done();
  }

  async #writeBatch(): Promise<void> {
    if (this.#unwritten === undefined) return;
    const { bytes, lines } = this.#unwritten;
    const appended = await this.#file.append(bytes.subarray(this.#offset));
    this.#offset += appended.bytes;
    if (this.#offset < bytes.length) throw appended.error;
    this.#written += lines;
    this.#unwritten = undefined;
    this.#offset = 0;
  }

  async #sync(): Promise<void> {
    if (this.#synced === this.#written) return;
    const upTo = this.#written;
    await this.#file.sync();
    this.#synced = upTo;
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ until }) => this.#isSafe(until));
    if (ready.length === 0) return;
    this.#waiting = this.#waiting.filter(({ until }) => !this.#isSafe(until));
    for (const { done } of ready) done();
  }

  async #rotate(): Promise<void> {
    const files = await this.#file.rotate();
    if (files.length === 0) return;
    this.#logger.notice('old files of the audit log were deleted', { files });
    this.record({ event: 'deleted', details: { files } });
  }

  /** When somebody else moved, removed or truncated the file, goes on in a new one, and says so in the log. */
  async #followFile(): Promise<void> {
    const what = await this.#file.displacement();
    if (what === undefined) return;
    this.#options.confirmClaim();
    await this.#file.reopen();
    // A batch of which the old file has a part is written again: the new file begins with the beginning of a group.
    this.#offset = 0;
    const firstSeq = this.#chain.seq - (this.#added - this.#written) + 1;
    this.#logger.warn(`the audit log was ${what} while it was being written; it goes on in a new file`, {
      path: this.path,
    });
    this.record({ event: 'reopened', details: { why: what, firstSeq } });
  }

  /** Once lines can be written again: how many are missing, and how many calls were rejected. */
  #recordGaps(): void {
    const [lines, calls] = [this.#dropped.unreported, this.#rejected.unreported];
    this.#dropped.unreported = 0;
    this.#rejected.unreported = 0;
    if (calls > 0) this.record({ event: 'rejected', details: { calls, why: 'the audit log could not be written' } });
    if (lines > 0) this.record({ event: 'dropped', details: { lines, why: 'the audit log could not be written' } });
  }

  /** Logs when writing begins to fail, and when it works again. */
  #report(): void {
    const { failure, path } = this;
    if ((failure === undefined) === (this.#reported === undefined)) return;
    this.#reported = failure;
    if (failure === undefined) {
      const fields = { path, rejectedCalls: this.#rejected.unreported, droppedLines: this.#dropped.unreported };
      this.#logger.notice('the audit log can be written again', fields);
    } else {
      this.#logger.error(`the audit log cannot be written; ${consequences[this.#options.failureMode]}`, {
        path,
        error: failure,
      });
    }
  }
}

const consequences: Readonly<Record<FailureMode, string>> = {
  closed: 'calls are rejected until it can',
  open: 'calls are run without being recorded (audit.failureMode is "open")',
};

function count(counter: { total: number; unreported: number }): void {
  counter.total++;
  counter.unreported++;
}

function isSmall({ name = '', arguments: args }: EndedCall): boolean {
  if (name.length > maxPendingChars) return false;
  if (typeof args !== 'object' || args === null) return args === undefined;
  let count = 0;
  for (const key in args) {
    if (++count > maxPendingValues || key.length > maxPendingChars) return false;
    const value = (args as Record<string, unknown>)[key];
    if (typeof value === 'string' ? value.length > maxPendingChars : typeof value === 'object' && value !== null) {
      return false;
    }
  }
  return true;
}
