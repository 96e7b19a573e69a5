// Lines to bytes: the lines of one turn of the event loop leave in one write, and a peer that does not read is reported
// instead of being buffered for without limit.

import type { Writable } from 'node:stream';

/** Receives what happens to the stream. */
export interface LineWriterListener {
  /** The peer reads too slowly: accept no more input until `onReady`. */
  onFull(): void;
  onReady(): void;
  /** The stream failed or was closed; nothing more can be delivered. */
  onClosed(error?: Error): void;
}

export interface LineWriterOptions {
  /** Unread output at which input pauses. Stops a peer that sends requests and reads no responses. Default 1 MiB. */
  readonly pauseBytes?: number;
}

/**
 * Collected text this long is written before the turn ends. Half of what a pipe holds: a write that does not fit into the
 * pipe costs a second one, so long responses are not joined.
 */
const flushLength = 32 * 1024;

export const defaultPauseBytes = 1024 * 1024;

/**
 * Writes lines to a stream.
 *
 * One write per line would cost more than everything else a small call does (5 of 9 µs per call, bench stdio, "mooring"),
 * so lines are collected in a string, which V8 joins once when it is encoded, until the check phase of the same turn.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #write: Writable['write'];
  readonly #listener: LineWriterListener;
  readonly #pauseBytes: number;
  #pending = '';
  #scheduled = false;
  #collecting = false;
  #full = false;
  #closed = false;
  #waiting: (() => void)[] = [];

  /** Uses the `write` that the stream has now: a guard installed later (stdout-guard.ts) does not affect it. */
  constructor(stream: Writable, listener: LineWriterListener, options: LineWriterOptions = {}) {
    this.#stream = stream;
    this.#write = stream.write;
    this.#listener = listener;
    this.#pauseBytes = options.pauseBytes ?? defaultPauseBytes;
    stream.on('error', this.#onClosed);
    stream.on('close', this.#onClosed);
  }

  /** Adds a line; `text` has no newline. Ignored once the stream is closed. */
  write(text: string): void {
    if (this.#closed) return;
    if (this.#pending !== '' && this.#pending.length + text.length > flushLength) this.flush();
    this.#pending += `${text}\n`;
    if (this.#pending.length >= flushLength) this.flush();
    else if (!this.#scheduled && !this.#collecting) {
      this.#scheduled = true;
      setImmediate(this.#onTurnEnd);
    }
  }

  /** Adds a long line whose middle part is encoded already. */
  writeBytes(head: string, body: Uint8Array, tail: string): void {
    if (this.#closed) return;
    this.flush();
    const line = Buffer.allocUnsafe((head.length + tail.length) * 3 + body.length + 1);
    let at = line.write(head);
    line.set(body, at);
    at += body.length;
    at += line.write(`${tail}\n`, at);
    this.#send(line.subarray(0, at));
  }

  /** Runs a function that writes lines, and sends them in one write when it returns. */
  collect(run: () => void): void {
    this.#collecting = true;
    try {
      run();
    } finally {
      this.#collecting = false;
      this.flush();
    }
  }

  /** Writes the collected lines. */
  flush(): void {
    const text = this.#pending;
    if (text === '' || this.#closed) return;
    this.#pending = '';
    this.#send(text);
  }

  #send(chunk: string | Buffer): void {
    this.#write.call(this.#stream, chunk, 'utf8', this.#onWritten);
    // A pipe that has space takes the text during the call; only the rest counts.
    if (!this.#full && this.#stream.writableLength >= this.#pauseBytes) {
      this.#full = true;
      this.#listener.onFull();
    }
  }

  /** Characters that the stream has not taken yet; about as many bytes. */
  get backlog(): number {
    return this.#closed ? 0 : this.#pending.length + this.#stream.writableLength;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when everything written so far has left, or cannot leave any more. */
  flushed(): Promise<void> {
    this.flush();
    if (this.#closed || this.#stream.writableLength === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Stops writing and releases the stream without ending it. */
  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#release();
    this.#stream.off('close', this.#onClosed);
    // The error listener stays: a pending write may still fail, and an unhandled error would end the process.
  }

  #onTurnEnd = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  #onWritten = (error?: Error | null): void => {
    if (error) {
      this.#onClosed(error);
      return;
    }
    const left = this.#stream.writableLength;
    if (this.#full && left < this.#pauseBytes / 2) {
      this.#full = false;
      this.#listener.onReady();
    }
    if (left === 0 && this.#waiting.length > 0) this.#wake();
  };

  #onClosed = (error?: Error): void => {
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
