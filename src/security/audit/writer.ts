// Writes happenings as lines: spelled and chained some at a time, collected as bytes for some milliseconds, and written
// together. A disk that fails is tried again; what was written in part is continued, never repeated.

import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { type Logger, silentLogger } from '../../protocol/log.ts';
import { Batch, type TakenBatch } from './batch.ts';
import { Chain } from './chain.ts';
import type { AuditHead, SyncPolicy } from './contract.ts';
import { beginsGroup } from './entry.ts';
import { currentFile, finishedFile, finishedNumbers } from './files.ts';
import type { Happening } from './happening.ts';
import type { LineWriter } from './lines.ts';

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
/** So many are spelled in one go: for a single one the processor would have to fetch the code for it every time. */
const spelledTogether = 64;
/** A group ends when it has so much: whoever takes up the chain reads all of the last one. */
const maxGroupChars = 256 * 1024;
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
  readonly #options: WriterOptions;
  readonly #lines: LineWriter;
  readonly #logger: Logger;
  readonly #chain: Chain;
  #file: FileHandle;
  #fileBytes: number;
  #pending: Happening[] = [];
  readonly #batch = new Batch();
  /** Taken from the batch and not on the disk yet. */
  #unwritten: TakenBatch | undefined;
  #recorded = 0;
  #written = 0;
  #synced = 0;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #syncTimer: NodeJS.Timeout | undefined;
  readonly #unspelled = (error: unknown): void =>
    this.#logger.error('a line of the audit log could not be spelled', { error });
  #running = false;
  /** Done when what is running now is. */
  #turn: Promise<void> = Promise.resolve();
  #urgent = false;
  #failing = false;

  constructor(options: WriterOptions, lines: LineWriter, head: AuditHead, file: FileHandle, fileBytes: number) {
    this.#options = options;
    this.#lines = lines;
    this.#logger = options.logger ?? silentLogger;
    this.#chain = new Chain(head);
    this.#file = file;
    this.#fileBytes = fileBytes;
    if (options.sync === 'interval') this.#syncTimer = setInterval(() => this.#syncSoon(), syncEveryMs).unref();
  }

  get head(): AuditHead {
    this.#spell();
    return this.#chain.head;
  }

  /** Lines recorded and not written yet. */
  get queued(): number {
    return this.#recorded - this.#written;
  }

  get path(): string {
    return currentFile(this.#options.directory, this.#options.name);
  }

  record(happening: Happening): void {
    if (happening.kind === 'record' && beginsGroup(happening.record.event)) this.#spell();
    this.#recorded++;
    this.#lines.lighten(happening);
    this.#pending.push(happening);
    if (this.#pending.length >= spelledTogether) this.#spell();
    this.#timer ??= setTimeout(() => this.#tick(), collectMs);
  }

  #tick(): void {
    this.#timer = undefined;
    this.#spell();
    if (!this.#running && !this.#failing) this.#begin();
  }

  /** Spells and chains what has happened, also while the disk fails: arguments are not kept, however long it takes. */
  #spell(): void {
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    this.#lines.begin();
    let text = '';
    let lines = 0;
    for (let index = 0; index < pending.length; index++) {
      text += this.#chain.link(this.#lines.fields(pending[index] as Happening, this.#unspelled));
      lines++;
      if (text.length < maxGroupChars && index + 1 < pending.length) continue;
      this.#chain.close(this.#batch.add(text, lines));
      text = '';
      lines = 0;
    }
    this.#pending = [];
  }

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
    if (this.#running) return;
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
    else if (this.#batch.lines > 0) this.#timer ??= setTimeout(() => this.#tick(), collectMs);
  }

  async #work(): Promise<void> {
    do {
      this.#spell();
      if (this.#unwritten === undefined && this.#batch.lines > 0) this.#unwritten = this.#batch.take();
      await this.#write();
      if (this.#options.sync === 'always' || (this.#urgent && this.#options.sync !== 'never')) await this.#sync();
      this.#wake();
      if (this.#fileBytes >= this.#options.maxFileBytes) await this.#rotate();
    } while (this.#waiting.length > 0 || this.#batch.bytes >= largeBatchBytes);
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
