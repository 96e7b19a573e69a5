// Lines to bytes: what is written in one turn of the event loop leaves in one write, and a peer that does not
// read is noticed instead of buffered for. Knows nothing of the messages.

import type { Writable } from 'node:stream';

/** What the writer tells about the stream it fills. */
export interface LineWriterListener {
  /** The peer reads slower than we write: take no more input until `onReady`. */
  onFull(): void;
  onReady(): void;
  /** The stream broke or was closed; nothing can be delivered any more. */
  onClosed(error?: Error): void;
}

export interface LineWriterOptions {
  /** Unread output at which input pauses. Stops a peer that asks and never reads from filling the memory. Default 1 MiB. */
  readonly pauseBytes?: number;
}

/**
 * Gathered text this long leaves before the turn is over. Half of what a pipe holds: a write the pipe can not take whole
 * costs a second one, so long answers are not put together.
 */
const flushLength = 32 * 1024;

export const defaultPauseBytes = 1024 * 1024;

/**
 * Writes lines to a stream.
 *
 * One write per line would cost more than everything else a small call does, so lines gather in a string (V8 joins
 * the pieces once, when they are encoded) until the check phase of the same turn.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #write: Writable['write'];
  readonly #listener: LineWriterListener;
  readonly #pauseBytes: number;
  #pending = '';
  #scheduled = false;
  #gathering = false;
  #full = false;
  #closed = false;
  #waiting: (() => void)[] = [];

  /** The `write` of the stream is taken now: a guard put on it later (stdout-guard.ts) does not stop ours. */
  constructor(stream: Writable, listener: LineWriterListener, options: LineWriterOptions = {}) {
    this.#stream = stream;
    this.#write = stream.write;
    this.#listener = listener;
    this.#pauseBytes = options.pauseBytes ?? defaultPauseBytes;
    stream.on('error', this.#onGone);
    stream.on('close', this.#onGone);
  }

  /** Adds a line; `text` holds no newline. Ignored once the stream is gone. */
  write(text: string): void {
    if (this.#closed) return;
    if (this.#pending !== '' && this.#pending.length + text.length > flushLength) this.flush();
    this.#pending += `${text}\n`;
    if (this.#pending.length >= flushLength) this.flush();
    else if (!this.#scheduled && !this.#gathering) {
      this.#scheduled = true;
      setImmediate(this.#onTurnEnd);
    }
  }

  /** Adds a long line whose middle is bytes already. */
  writeBytes(head: string, body: Uint8Array, tail: string): void {
    if (this.#closed) return;
    this.flush();
    const line = Buffer.allocUnsafe((head.length + tail.length) * 3 + body.length + 1);
    let at = line.write(head);
    line.set(body, at);
    at += body.length;
    at += line.write(`${tail}\n`, at);
    this.#hand(line.subarray(0, at));
  }

  /** Runs what will write some lines at once, and hands them over together when it returns. */
  gather(run: () => void): void {
    this.#gathering = true;
    try {
      run();
    } finally {
      this.#gathering = false;
      this.flush();
    }
  }

  /** Hands over what has gathered. */
  flush(): void {
    const text = this.#pending;
    if (text === '' || this.#closed) return;
    this.#pending = '';
    this.#hand(text);
  }

  #hand(chunk: string | Buffer): void {
    this.#write.call(this.#stream, chunk, 'utf8', this.#onWritten);
    // A pipe that has room takes the text during the call; only what it left over counts.
    if (!this.#full && this.#stream.writableLength >= this.#pauseBytes) {
      this.#full = true;
      this.#listener.onFull();
    }
  }

  /** Characters written but not taken by the stream yet; about as many bytes. */
  get backlog(): number {
    return this.#closed ? 0 : this.#pending.length + this.#stream.writableLength;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when everything written so far has left, or can not leave any more. */
  flushed(): Promise<void> {
    this.flush();
    if (this.#closed || this.#stream.writableLength === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Stops writing and lets go of the stream, without ending it. */
  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#release();
    this.#stream.off('close', this.#onGone);
    // The error listener stays: a write under way may still fail, and nobody else would catch it.
  }

  #onTurnEnd = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  #onWritten = (error?: Error | null): void => {
    if (error) {
      this.#onGone(error);
      return;
    }
    const left = this.#stream.writableLength;
    if (this.#full && left < this.#pauseBytes / 2) {
      this.#full = false;
      this.#listener.onReady();
    }
    if (left === 0 && this.#waiting.length > 0) this.#wake();
  };

  #onGone = (error?: Error): void => {
    if (this.#closed) return;
    this.#release();
    this.#listener.onClosed(error);
  };

  #release(): void {
    this.#closed = true;
    this.#pending = '';
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
