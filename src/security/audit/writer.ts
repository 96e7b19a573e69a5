// Writes lines: chains them, collects them as bytes for some milliseconds and writes them together. While the disk fails,
// it retries every second; a partial write is continued, never repeated. The content of lines: line-encoder.ts.

import { type Logger, silentLogger } from '../../common/logger.ts';
import { Batch, type TakenBatch } from './batch.ts';
import { Chain } from './chain.ts';
import type { AuditHead, AuditRecord, FailureMode, SyncPolicy } from './contract.ts';
import { EndedCalls } from './ended-calls.ts';
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
/** How often the disk is checked: whether it can be written again, whether the file still exists, the free space. */
const checkEveryMs = 1_000;
/** A batch of this size is written at once. */
const largeBatchBytes = 1024 * 1024;
/** How long `close` waits for the last lines to be written. */
const maxCloseMs = 2_000;

/** A caller of `flush`, waiting until lines are on the disk. */
interface FlushWaiter {
  /** The number of lines that must be written. */
  readonly until: number;
  readonly done: () => void;
  /** Called on the first failure; undefined if the caller waits until the disk recovers. */
  readonly failed: ((error: unknown) => void) | undefined;
}

export class AuditWriter {
  readonly #options: WriterOptions;
  readonly #lines: LineEncoder;
  readonly #logger: Logger;
  readonly #file: LogFile;
  readonly #batch = new Batch();
  readonly #chain: Chain;
  readonly #pending = new EndedCalls();
  /** The number of lines that were added, written, and forced to the disk. */
  #added = 0;
  #written = 0;
  #synced = 0;
  /** Dropped lines and rejected calls while the log could not be written: in total, and since that was last recorded. */
  #dropped = { total: 0, unreported: 0 };
  #rejected = { total: 0, unreported: 0 };
  /** Taken from the batch and not completely written yet; its first `#offset` bytes are. */
  #unwritten: TakenBatch | undefined;
  #offset = 0;
  #waiting: FlushWaiter[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #checkTimer: NodeJS.Timeout;
  #isClosed = false;
  #running = false;
  /** Settles when the current run ends. */
  #run: Promise<void> = Promise.resolve();
  #syncWanted = false;
  /** Callers that wait for a check of the file and the disk. */
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
   * Why lines cannot be written at the moment; undefined while they can. Half of the queue is reserved for
   * the lines of calls that are already running.
   */
  get failure(): string | undefined {
    const { minFreeBytes, maxQueuedBytes } = this.#options;
    if (this.#error !== undefined) return this.#error;
    if (this.#isSpaceLow) return `the disk has less than ${minFreeBytes} bytes left`;
    return this.queuedBytes > maxQueuedBytes / 2 ? 'the disk does not keep up' : undefined;
  }

  /** Ends a line that the previous writer did not finish. */
  endTornLine(): void {
    this.#batch.addText('\n');
  }

  /** Adds a line about something that is not a request. */
  record(record: AuditRecord): void {
    const line = this.#lines.record(record);
    this.#encodePending();
    if (beginsGroup(record.event)) this.#chain.closeGroup();
    this.#append(line);
  }

  /** Adds a line of the encoder. */
  add(line: string): void {
    this.#encodePending();
    this.#append(line);
  }

  /** Adds the line of a call. */
  addCall(call: EndedCall): void {
    if (!this.#pending.add(call)) return this.add(this.#lines.call(call));
    if (this.#pending.isFull) this.#encodePending();
    this.#writeSoon();
  }

  #encodePending(): void {
    for (const call of this.#pending.take()) this.#append(this.#lines.call(call));
  }

  /** Drops the line, and counts it, if too many bytes are waiting already. */
  #append(line: string): void {
    if (this.#isClosed) return;
    if (this.queuedBytes + line.length > this.#options.maxQueuedBytes) return count(this.#dropped);
    this.#chain.add(line);
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

  /** Checks the disk now. Resolves when `failure` is up to date. */
  check(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((done) => {
      this.#checking.push(done);
      void this.#start();
    });
  }

  /**
   * Resolves when everything added so far is written and, unless `sync` is `never`, forced to the disk. While the
   * disk fails it waits; with `impatient` it rejects instead.
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
    const timeLimit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, maxCloseMs);
    });
    await Promise.race([this.#flushAll(), timeLimit]);
    clearTimeout(timer);
    await this.discard();
  }

  /** Like `flush`, including the line that records which files the last run deleted. */
  async #flushAll(): Promise<void> {
    await this.flush();
    await this.#run;
    await this.flush();
  }

  /** Closes the file without writing the remaining lines. */
  async discard(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#checkTimer);
    clearTimeout(this.#timer);
    await this.#run;
    await this.#file.close().catch(() => undefined); // All lines that could be written are written.
  }

  #isSafe(lines: number): boolean {
    return (this.#options.sync === 'never' ? this.#written : this.#synced) >= lines;
  }

  readonly #write = (): void => {
    this.#timer = undefined;
    // If the disk fails, the next check retries.
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
      if (this.#checking.length > 0) await this.#checkDisk();
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

  async #checkDisk(): Promise<void> {
    const count = this.#checking.length;
    await this.#reopenIfDisplaced();
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

  /** If the file was moved, removed or truncated from outside, continues in a new one and records that in the log. */
  async #reopenIfDisplaced(): Promise<void> {
    const what = await this.#file.displacement();
    if (what === undefined) return;
    this.#options.confirmClaim();
    await this.#file.reopen();
    // A partly written batch is written again in full: a file must begin with the start of a group.
    this.#offset = 0;
    const firstSeq = this.#chain.seq - (this.#added - this.#written) + 1;
    this.#logger.warn(`the audit log was ${what} while it was being written; it continues in a new file`, {
      path: this.path,
    });
    this.record({ event: 'reopened', details: { why: what, firstSeq } });
  }

  /** When lines can be written again: records how many are missing and how many calls were rejected. */
  #recordGaps(): void {
    const [lines, calls] = [this.#dropped.unreported, this.#rejected.unreported];
    this.#dropped.unreported = 0;
    this.#rejected.unreported = 0;
    if (calls > 0) this.record({ event: 'rejected', details: { calls, why: 'the audit log could not be written' } });
    if (lines > 0) this.record({ event: 'dropped', details: { lines, why: 'the audit log could not be written' } });
  }

  /** Logs when writing starts to fail and when it works again. */
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
