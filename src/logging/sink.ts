// Writes log text without ever blocking the process. Many clients start a server and never read its stderr; the pipe holds
// 64 KiB, and a logger that blocks there would stop the server forever.

import type { Writable } from 'node:stream';

// Not imported: an import of a built-in module wraps all of its exports, which costs start-up time. Other runtimes load this
// file with mooring/web; they may have no such modules, and no file descriptors that would use them.
const { write: writeFd } = globalThis.process?.getBuiltinModule?.('node:fs') ?? ({} as typeof import('node:fs'));

/** Unread log text is queued up to this size; stops an unread stderr from filling the memory. */
export const defaultMaxQueuedBytes = 1024 * 1024;

/** Writes one text at a time. Returns true when it was written, false when `done` will be called. */
export type Send = (text: string, done: (error?: Error | null) => void) => boolean;

/** Writes immediately while the reader keeps up, queues while it does not, and counts what was dropped. */
export class LogSink {
  readonly #send: Send;
  readonly #describeDrops: (count: number) => string;
  readonly #maxQueuedBytes: number;
  #queue: string[] = [];
  #queuedBytes = 0;
  #dropped = 0;
  #busy = false;
  #stopped = false;
  #waiting: (() => void)[] = [];

  constructor(send: Send, describeDrops: (count: number) => string, maxQueuedBytes = defaultMaxQueuedBytes) {
    this.#send = send;
    this.#describeDrops = describeDrops;
    this.#maxQueuedBytes = maxQueuedBytes;
  }

  /** Takes a text of whole lines. Neither throws nor blocks. */
  write(text: string): void {
    if (this.#stopped) return;
    if (!this.#busy) {
      this.#start(text);
      return;
    }
    const bytes = Buffer.byteLength(text);
    if (this.#dropped > 0 || this.#queuedBytes + bytes > this.#maxQueuedBytes) {
      // Once a message was dropped, all are until the queue is written: one gap is easier to read than many.
      this.#dropped++;
      return;
    }
    this.#queue.push(text);
    this.#queuedBytes += bytes;
  }

  /** Resolves when nothing is queued. That may be never if nothing is read: race it with a timer. */
  flushed(): Promise<void> {
    if (!this.#busy || this.#stopped) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #start(text: string): void {
    this.#busy = true;
    try {
      if (this.#send(text, this.#onSent)) this.#busy = false;
    } catch {
      this.#stop(); // There is nowhere to report it.
    }
  }

  #onSent = (error?: Error | null): void => {
    if (error) {
      this.#stop();
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

  #stop(): void {
    this.#stopped = true;
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
 * Writes to `stream`. On POSIX Node opens pipes non-blocking, so the stream writes what the pipe has space for during the
 * call and the rest later; a terminal or a file is written synchronously. On Windows the pipes of stdout and stderr block,
 * so the write happens on another thread.
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

/** Writes to a file descriptor that may block: on the thread pool, one write at a time. */
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
