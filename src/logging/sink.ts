// Where log text leaves the process without ever making it wait. A client that starts a server and never reads its
// stderr is common; the pipe holds 64 KiB, and a logger that blocks there hangs the server for good.

import type { Writable } from 'node:stream';

// Not imported: an import of a built-in wraps all of its exports, which a start would pay for.
const { write: writeFd } = process.getBuiltinModule('node:fs');

/** Log text nobody has read yet is kept up to this size; stops an unread stderr from filling the memory. */
export const defaultMaxQueuedBytes = 1024 * 1024;

/** Something that takes one text at a time and says when it has: true = already, false = `done` will be called. */
export type Send = (text: string, done: (error?: Error | null) => void) => boolean;

/** Sends at once while the reader keeps up, queues while it does not, and counts what it had to drop. */
export class LogSink {
  readonly #send: Send;
  readonly #describeDrops: (count: number) => string;
  readonly #maxQueuedBytes: number;
  #queue: string[] = [];
  #queuedBytes = 0;
  #dropped = 0;
  #busy = false;
  #dead = false;
  #waiting: (() => void)[] = [];

  constructor(send: Send, describeDrops: (count: number) => string, maxQueuedBytes = defaultMaxQueuedBytes) {
    this.#send = send;
    this.#describeDrops = describeDrops;
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  /** Takes a text of whole lines. Neither throws nor waits. */
  write(text: string): void {
    if (this.#dead) return;
    if (!this.#busy) {
      this.#start(text);
      return;
    }
    const bytes = Buffer.byteLength(text);
    if (this.#dropped > 0 || this.#queuedBytes + bytes > this.#maxQueuedBytes) {
      // Once one is dropped the rest of the jam is too: a log with one gap is easier to read than one with many.
      this.#dropped++;
      return;
    }
    this.#queue.push(text);
    this.#queuedBytes += bytes;
  }

  /** Resolves when nothing is queued. With nobody reading that may be never: race it with a timer. */
  flushed(): Promise<void> {
    if (!this.#busy || this.#dead) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #start(text: string): void {
    this.#busy = true;
    try {
      if (this.#send(text, this.#onSent)) this.#busy = false;
    } catch {
      this.#die(); // Nowhere left to report it to.
    }
  }

  #onSent = (error?: Error | null): void => {
    if (error) {
      this.#die();
      return;
    }
    this.#busy = false;
    if (this.#queue.length > 0 || this.#dropped > 0) {
      const text = this.#queue.join('') + (this.#dropped > 0 ? this.#describeDrops(this.#dropped) : '');
      this.#queue = [];
      this.#queuedBytes = 0;
      this.#dropped = 0;
      this.#start(text);
    }
    if (!this.#busy) this.#wake();
  };

  #die(): void {
    this.#dead = true;
    this.#queue = [];
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/**
 * The way out through `stream`. On POSIX Node opens pipes non-blocking, so the stream takes what the pipe has room
 * for during the call and finishes the rest later; a terminal or a file is written at once. On Windows the pipes of
 * stdout and stderr block, so there the write happens on another thread.
 */
export function sendTo(stream: Writable & { fd?: number; isTTY?: boolean }): Send {
  const { fd } = stream;
  if (process.platform === 'win32' && fd !== undefined && !stream.isTTY) return sendToFd(fd);
  // Without a listener a closed stderr would end the process.
  stream.on('error', () => {});
  return (text, done) => {
    let late = false;
    stream.write(text, 'utf8', (error) => {
      if (late) done(error);
    });
    late = stream.writableLength > 0 || stream.errored != null;
    return !late;
  };
}

/** The way out through a file descriptor that may block: from the thread pool, one write at a time. */
export function sendToFd(fd: number): Send {
  return (text, done) => {
    const bytes = Buffer.from(text);
    let at = 0;
    const next = (error?: Error | null, written = 0): void => {
      at += written;
      if (error || at === bytes.length) done(error);
      else writeFd(fd, bytes, at, bytes.length - at, null, next);
    };
    next();
    return false;
  };
}
