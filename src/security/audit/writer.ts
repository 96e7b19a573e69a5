// Writes what happens as lines: spelled at once, chained some at a time, collected as bytes for some milliseconds, and
// written together. A disk that fails is tried again; what was written in part is continued, never repeated.

import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { Ended, Refused } from '../../engine/ports.ts';
import { type Logger, silentLogger } from '../../protocol/log.ts';
import type { Spelling } from './arguments.ts';
import { Batch, type TakenBatch } from './batch.ts';
import { Chain } from './chain.ts';
import { lineBreak } from './codes.ts';
import type { AuditHead, AuditRecord, SyncPolicy } from './contract.ts';
import { beginsGroup } from './entry.ts';
import { currentFile, finishedFile, finishedNumbers } from './files.ts';
import { type KeptCall, KeptCalls } from './kept-calls.ts';
import { LineWriter } from './lines.ts';

export interface WriterOptions {
  readonly directory: string;
  readonly name: string;
  readonly sync: SyncPolicy;
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly logger: Logger | undefined;
}

/** How long lines are collected before they are written. */
const collectMs = 100;
const syncEveryMs = 1_000;
/** A group ends when it has so many lines, or so much: whoever takes up the chain reads all of the last one. */
const maxGroupLines = 256;
const maxGroupBytes = 256 * 1024;
/** So much is written without collecting any longer. */
const largeBatchBytes = 1024 * 1024;
const retryMs = 500;

/** Somebody who waits until so many lines are safe. */
interface Waiting {
  readonly until: number;
  readonly done: () => void;
  /** Told of the first failure, by those who do not want to wait for better times. */
  readonly failed: ((error: unknown) => void) | undefined;
}

export class AuditWriter {
  readonly #kept: KeptCalls;
  /** Lines that were spelled, and how many of them are written and safe. */
  #spelled = 0;
  #written = 0;
  #synced = 0;
  readonly #options: WriterOptions;
  readonly #lines: LineWriter;
  readonly #logger: Logger;
  readonly #chain: Chain;
  #file: FileHandle;
  #fileBytes: number;
  readonly #spelling: Spelling;
  readonly #batch = new Batch();
  /** Taken from the batch and not on the disk yet. */
  #unwritten: TakenBatch | undefined;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  /** A line is being spelled; should it have code of its own that wants something here, that comes later. */
  #busy = false;
  #running = false;
  /** Done when what is running now is. */
  #turn: Promise<void> = Promise.resolve();
  #urgent = false;
  #failing = false;

  constructor(options: WriterOptions, spelling: Spelling, head: AuditHead, file: FileHandle, fileBytes: number) {
    this.#kept = new KeptCalls(spelling.hasArgs);
    this.#options = options;
    this.#spelling = spelling;
    this.#lines = new LineWriter(spelling, this.#batch);
    this.#logger = options.logger ?? silentLogger;
    this.#chain = new Chain(head, this.#batch);
    this.#file = file;
    this.#fileBytes = fileBytes;
    if (options.sync === 'interval') this.#syncTimer = setInterval(() => this.#syncSoon(), syncEveryMs).unref();
  }

  get head(): AuditHead {
    if (!this.#busy) this.#closeGroup();
    return this.#chain.head;
  }

  /** Lines recorded and not written yet. */
  get queued(): number {
    return this.#recorded - this.#written;
  }

  get #recorded(): number {
    return this.#spelled + this.#kept.count;
  }

  get path(): string {
    return currentFile(this.#options.directory, this.#options.name);
  }

  /** Ends a line that its writer did not. */
  endLine(): void {
    this.#batch.byte(lineBreak);
  }

  /** The end of a request. */
  call(ended: Ended): void {
    const kept = this.#kept;
    if (!kept.add(ended)) return this.#callLater(ended);
    if (kept.count === 1) this.#timer ??= setTimeout(this.#tick, collectMs);
    if (!kept.isEnough) return;
    // The answer of this call is about to leave; a long one should not have to be fetched from memory again by then.
    if (kept.areLarge) queueMicrotask(this.#spellKept);
    else this.#spell();
  }

  readonly #spellKept = (): void => this.#spell();

  /** Where more calls come in one turn than there are places. */
  #callLater(ended: Ended): void {
    queueMicrotask(() => {
      this.#spell();
      this.call(ended);
    });
  }

  /** A message that was turned away before it became a request. */
  refusal(refused: Refused): void {
    this.#add(this.#lines.refusal, refused);
  }

  /** Something that is no request. */
  record(record: AuditRecord): void {
    this.#add(this.#lines.record, record, beginsGroup(record.event));
  }

  #add<T>(spell: (what: T) => void, what: T, asFirst = false): void {
    if (this.#busy) return queueMicrotask(() => this.#add(spell, what, asFirst));
    this.#spell();
    if (asFirst) this.#chain.close();
    this.#line(spell, what);
    this.#spelled++;
    this.#timer ??= setTimeout(this.#tick, collectMs);
  }

  /** Spells the calls that have ended, also while the disk fails: arguments are not kept, however long it takes. */
  #spell(): void {
    if (this.#kept.count === 0 || this.#busy) return;
    this.#spelled += this.#kept.take(this.#call);
    this.#kept.fit(this.#spelling.wasBulky());
  }

  readonly #call = (call: KeptCall): void => this.#line(this.#lines.call, call);

  #closeGroup(): void {
    this.#spell();
    this.#chain.close();
  }

  #line<T>(spell: (what: T) => void, what: T): void {
    const chain = this.#chain;
    if (chain.lines === 0) this.#lines.begin();
    chain.begin();
    this.#spellFields(spell, what);
    chain.end();
    if (chain.lines >= maxGroupLines || chain.bytes >= maxGroupBytes) chain.close();
  }

  #spellFields<T>(spell: (what: T) => void, what: T): void {
    const begin = this.#batch.end;
    this.#busy = true;
    try {
      spell(what);
    } catch (error) {
      this.#logger.error('a line of the audit log could not be spelled', { error });
      this.#batch.cut(begin);
      this.#lines.unspelled();
    }
    this.#busy = false;
  }

  readonly #tick = (): void => {
    this.#timer = undefined;
    this.#spell();
    if (!this.#running && !this.#failing) this.#begin();
  };

  /**
   * Resolves when everything recorded so far is written and, unless the policy is never to, on the disk. While the disk
   * fails it waits; `impatient` rejects instead.
   */
  flush(impatient = false): Promise<void> {
    const until = this.#recorded;
    if (this.#settled(until)) return Promise.resolve();
    return new Promise((done, reject) => {
      this.#waiting.push({ until, done, failed: impatient ? reject : undefined });
      this.#urgent = true;
      if (!this.#running && !this.#failing) this.#begin();
    });
  }

  async close(): Promise<void> {
    // A disk that is still full must not keep the process from ending.
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 2_000);
    });
    const flushed = this.flush();
    // One more try now, whenever the next one would have been.
    if (this.#failing) this.#begin();
    await Promise.race([flushed, patience]);
    clearTimeout(timer);
    await this.abandon();
  }

  /** Lets go of the file as it is. */
  async abandon(): Promise<void> {
    clearInterval(this.#syncTimer);
    await this.#turn;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    await this.#file.close().catch(() => undefined); // Nothing is lost that was not lost before.
  }

  #settled(until: number): boolean {
    return (this.#options.sync === 'never' ? this.#written : this.#synced) >= until;
  }

  #syncSoon(): void {
    if (this.#synced === this.#recorded || this.#failing) return;
    this.#urgent = true;
    if (!this.#running) this.#begin();
  }

  #begin(): void {
    if (this.#running || this.#busy) return;
    clearTimeout(this.#retry);
    this.#running = true;
    this.#turn = this.#work().then(
      () => this.#rest(false),
      (error: unknown) => {
        if (!this.#failing) this.#logger.error('the audit log cannot be written', { path: this.path, error });
        for (const { failed } of this.#waiting) failed?.(error);
        this.#waiting = this.#waiting.filter(({ failed }) => failed === undefined);
        this.#rest(true);
      },
    );
  }

  #rest(failed: boolean): void {
    if (this.#failing && !failed) this.#logger.notice('the audit log is written again', { path: this.path });
    this.#failing = failed;
    this.#running = false;
    if (failed) this.#retry = setTimeout(() => this.#begin(), retryMs).unref();
    else if (this.#batch.lines > 0) this.#timer ??= setTimeout(this.#tick, collectMs);
  }

  async #work(): Promise<void> {
    do {
      this.#closeGroup();
      if (this.#unwritten === undefined && this.#batch.lines > 0) this.#unwritten = this.#batch.take();
      await this.#write();
      if (this.#options.sync === 'always' || (this.#urgent && this.#options.sync !== 'never')) await this.#sync();
      this.#wake();
      if (this.#fileBytes >= this.#options.maxFileBytes) await this.#rotate();
    } while (this.#waiting.length > 0 || this.#batch.end >= largeBatchBytes);
    this.#urgent = false;
  }

  async #write(): Promise<void> {
    while (this.#unwritten !== undefined) {
      const { bytes } = this.#unwritten;
      try {
        this.#arrived((await this.#file.write(bytes)).bytesWritten);
      } catch (error) {
        // Only the file knows how much of it arrived.
        this.#arrived(Math.min(Math.max(0, (await this.#file.stat()).size - this.#fileBytes), bytes.length));
        throw error;
      }
    }
  }

  #arrived(count: number): void {
    const { bytes, lines } = this.#unwritten as TakenBatch;
    this.#fileBytes += count;
    this.#unwritten = count === bytes.length ? undefined : { bytes: bytes.subarray(count), lines };
    if (this.#unwritten === undefined) this.#written += lines;
  }

  async #sync(): Promise<void> {
    const upTo = this.#written;
    await this.#file.datasync();
    this.#synced = upTo;
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ until }) => this.#settled(until));
    if (ready.length === 0) return;
    this.#waiting = this.#waiting.filter(({ until }) => !this.#settled(until));
    for (const { done } of ready) done();
  }

  /** Begins a new file; the chain goes on in it. */
  async #rotate(): Promise<void> {
    const { directory, name, maxFiles } = this.#options;
    await this.#file.datasync();
    const numbers = finishedNumbers(directory, name);
    await rename(this.path, finishedFile(directory, name, (numbers.at(-1) ?? 0) + 1));
    const finished = this.#file;
    this.#file = await open(this.path, 'a', 0o600);
    this.#fileBytes = 0;
    await finished.close();
    const surplus = Math.max(0, numbers.length + 1 - maxFiles);
    for (const number of numbers.slice(0, surplus)) await rm(finishedFile(directory, name, number), { force: true });
  }
}
