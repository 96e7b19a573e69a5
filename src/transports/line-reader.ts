// Bytes to lines: one UTF-8 JSON-RPC message per line, however the bytes are chunked. Checks sizes and encoding; of JSON
// it knows only the id of a line that it rejects (rejected-line-id.ts).

import { toBuffer } from '../common/to-buffer.ts';
import { findRejectedLineId, idSearchBytes, type RejectedLineId } from './rejected-line-id.ts';

// Not imported: an import of a built-in module wraps all of its exports, which costs start-up time. Other runtimes load this
// file with mooring/web; they may have no such modules, and no stdio that would use them.
const { isAscii, isUtf8 } =
  globalThis.process?.getBuiltinModule?.('node:buffer') ?? ({} as typeof import('node:buffer'));

/** Why a line never became a message. */
export type LineRejection = 'too-large' | 'not-utf8';

/** Receives the lines, in the order of the bytes, exactly once per line that is not blank. */
export interface LineListener<P> {
  /**
   * Is called for each line before `onLine`, and for all lines of a chunk before the first `onLine`. So the code that parses and
   * the code that handles a message run in two loops, each of which fits into the instruction cache of a core: a tenth of the time
   * of a call (bench stdio, "mooring").
   */
  parse?(text: string): P;
  onLine(text: string, parsed: P | undefined): void;
  onRejected(reason: LineRejection, found: RejectedLineId): void;
  /** Called after `end()`, when the last line has been passed on. */
  onEnd?(): void;
}

/** Stops an endless line from filling the memory: a longer one is discarded up to its newline. */
export const defaultMaxMessageBytes = 64 * 1024 * 1024;

const newline = 0x0a;
const byteOrderMark = 0xfeff;
/** A buffer that grew beyond this for one huge line is released after it. */
const maxReusedBytes = 1024 * 1024;
const noBytes = globalThis.Buffer?.alloc(0);

/**
 * Splits a byte stream into lines.
 *
 * The complete lines of a chunk are decoded together and sliced from that string, which costs a quarter of decoding them
 * one by one (bench stdio, "mooring"). Only the unfinished end of a chunk is copied, into a buffer that doubles: linear
 * for any chunking, and a peer that sends byte by byte takes no more memory than others.
 */
export class LineReader<P = unknown> {
  readonly #listener: LineListener<P>;
  readonly #maxBytes: number;

  /** The line that is not finished yet: the first `#length` bytes. */
  #buffer: Buffer = noBytes;
  #length = 0;

  /** A line beyond the limit is arriving: only its two ends are buffered, to find its id. */
  #discarding = false;
  #head: Buffer = noBytes;
  #tail: Buffer = noBytes;

  /** Lines of a chunk, and the first one that is not passed on yet. */
  #lines: string[] = [];
  #parsed: (P | undefined)[] = [];
  #next = 0;

  /** Chunks that arrived, or were not finished, while paused. */
  #held: Buffer[] = [];
  #started = false;
  #running = false;
  #paused = false;
  #ending = false;
  #ended = false;

  constructor(listener: LineListener<P>, maxMessageBytes: number = defaultMaxMessageBytes) {
    this.#listener = listener;
    this.#maxBytes = maxMessageBytes;
  }

  /** Takes the next bytes. They may be overwritten afterwards unless the reader is paused. */
  push(chunk: Uint8Array): void {
    const bytes = toBuffer(chunk);
    if (this.#running || this.#paused || this.#ended) {
      if (!this.#ended) this.#held.push(bytes);
      return;
    }
    this.#running = true;
    try {
      this.#take(bytes);
    } finally {
      this.#running = false;
    }
    if (this.#held.length > 0 || this.#ending) this.#continue();
  }

  /** No more bytes will arrive; a last line without a newline counts. */
  end(): void {
    this.#ending = true;
    this.#continue();
  }

  /** Passes on no more lines, not even those of the current chunk, until `resume()`. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#continue();
  }

  /** Discards everything and passes on nothing more. */
  close(): void {
    this.#ended = true;
    this.#paused = true;
    this.#forgetLines();
    this.#held = [];
    this.#buffer = noBytes;
    this.#length = 0;
  }

  #continue(): void {
    if (this.#running || this.#ended) return;
    this.#running = true;
    try {
      while (!this.#paused) {
        if (this.#next < this.#lines.length) this.#emit();
        else if (this.#held.length > 0) this.#take(this.#held.shift()!);
        else break;
      }
      if (this.#paused || !this.#ending) return;
      this.#ended = true;
      this.#finishLine();
    } finally {
      this.#running = false;
    }
    this.#listener.onEnd?.();
  }

  #take(chunk: Buffer): void {
    const last = chunk.lastIndexOf(newline);
    if (last === -1) {
      this.#append(chunk);
      return;
    }
    let start = 0;
    // The first newline ends a line that began earlier. The very first line is handled here too, for its byte order mark.
    if (this.#length > 0 || this.#discarding || !this.#started) {
      const end = chunk.indexOf(newline);
      this.#append(chunk.subarray(0, end));
      this.#finishLine();
      start = end + 1;
      if (this.#paused) {
        this.#holdBack(chunk.subarray(start));
        return;
      }
    }
    if (start > last) {
      this.#append(chunk.subarray(start));
      return;
    }
    const lines = start === 0 && last === chunk.length - 1 ? chunk : chunk.subarray(start, last + 1);
    const ascii = isAscii(lines);
    if (lines.length > this.#maxBytes || !(ascii || isUtf8(lines))) {
      this.#takeOneByOne(chunk.subarray(start));
      return;
    }
    this.#append(chunk.subarray(last + 1));
    this.#split(lines.toString(ascii ? 'latin1' : 'utf8'));
    this.#emit();
  }

  /** One of these lines is too long or not UTF-8: finds out which. */
  #takeOneByOne(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1 && !this.#paused; end = chunk.indexOf(newline, start)) {
      this.#append(chunk.subarray(start, end));
      this.#finishLine();
      start = end + 1;
    }
    if (this.#paused) this.#holdBack(chunk.subarray(start));
    else this.#append(chunk.subarray(start));
  }

  #split(text: string): void {
    for (let start = 0; start < text.length; ) {
      const end = text.indexOf('\n', start);
      const line =
        text.charCodeAt(start) <= 0x20
          ? text.slice(start, end).trim()
          : text.slice(start, text.charCodeAt(end - 1) === 0x0d ? end - 1 : end);
      start = end + 1;
      if (line === '') continue;
      this.#lines.push(line);
      this.#parsed.push(this.#listener.parse?.(line));
    }
  }

  /** Passes on the lines of a chunk; stops where the listener pauses. */
  #emit(): void {
    const lines = this.#lines;
    while (this.#next < lines.length) {
      const at = this.#next++;
      this.#listener.onLine(lines[at] as string, this.#parsed[at]);
      if (this.#paused && this.#next < lines.length) return;
    }
    this.#forgetLines();
  }

  #forgetLines(): void {
    this.#lines = [];
    this.#parsed = [];
    this.#next = 0;
  }

  #holdBack(chunk: Buffer): void {
    if (chunk.length > 0) this.#held.unshift(chunk);
  }

  #append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#discarding) {
      if (this.#head.length < idSearchBytes) this.#head = firstBytes(this.#head, bytes);
      this.#tail = lastBytes(this.#tail, bytes);
      return;
    }
    const length = this.#length + bytes.length;
    if (length > this.#maxBytes) {
      const start = this.#buffer.subarray(0, this.#length);
      this.#head = firstBytes(start, bytes);
      this.#tail = lastBytes(start, bytes);
      this.#discarding = true;
      this.#length = 0;
      this.#release();
      return;
    }
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(length, 2 * this.#buffer.length, 4096), this.#maxBytes));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  #finishLine(): void {
    const first = !this.#started;
    this.#started = true;
    if (this.#discarding) {
      const found = findRejectedLineId(this.#head.toString('latin1'), this.#tail.toString('latin1'));
      this.#discarding = false;
      this.#head = this.#tail = noBytes;
      this.#listener.onRejected('too-large', found);
      return;
    }
    if (this.#length === 0) return;
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#length = 0;
    const ascii = isAscii(bytes);
    if (!ascii && !isUtf8(bytes)) {
      const head = bytes.toString('latin1', 0, idSearchBytes);
      this.#listener.onRejected(
        'not-utf8',
        findRejectedLineId(head, bytes.subarray(-idSearchBytes).toString('latin1')),
      );
      return;
    }
    let line = bytes.toString(ascii ? 'latin1' : 'utf8');
    this.#release();
    if (first && line.charCodeAt(0) === byteOrderMark) line = line.slice(1);
    if (line.charCodeAt(line.length - 1) === 0x0d) line = line.slice(0, -1);
    if (line.charCodeAt(0) <= 0x20) line = line.trim();
    if (line !== '') this.#listener.onLine(line, this.#listener.parse?.(line));
  }

  #release(): void {
    if (this.#buffer.length > maxReusedBytes) this.#buffer = noBytes;
  }
}

// Both are copies, so that the chunks themselves do not stay in memory.

function firstBytes(before: Buffer, after: Buffer): Buffer {
  return Buffer.concat([before.subarray(0, idSearchBytes), after.subarray(0, idSearchBytes)]).subarray(
    0,
    idSearchBytes,
  );
}

function lastBytes(before: Buffer, after: Buffer): Buffer {
  return Buffer.concat([before.subarray(-idSearchBytes), after.subarray(-idSearchBytes)]).subarray(-idSearchBytes);
}
