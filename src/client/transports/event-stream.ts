// Server-sent events from bytes, as they come: any chunking, every line ending, nothing kept beyond one event. The format
// is that of the HTML standard, "Server-sent events".

import { JoinedBytes } from '../../common/joined-bytes.ts';
import { toBuffer } from '../../common/to-buffer.ts';

/** Who gets the events. */
export interface EventListener {
  event(data: string, type: string): void;
  /** One event exceeds the limit; nothing more is read. */
  tooLarge(): void;
}

/** Longer pauses than this are not waited for. */
const maxRetryMs = 5 * 60_000;

/** Reads one stream. */
export class EventReader {
  readonly #listener: EventListener;
  readonly #maxLength: number;
  /** The unfinished line. As bytes: only new ones are searched, and the line is decoded once, when it is complete. */
  readonly #rest = new JoinedBytes();
  /** Of the event's data so far. */
  #length = 0;
  /** A byte order mark may follow. */
  #atStart = true;
  /** A carriage return ended the last chunk: a newline that follows belongs to it. */
  #afterReturn = false;
  #data: string | undefined;
  #type = '';
  #over = false;
  /** Where to take the stream up again; undefined while no event had an id. */
  lastEventId: string | undefined;
  /** How long to wait before reconnecting, as the server asked. */
  retryMs: number | undefined;

  /** `maxLength` stops an endless event from filling the memory. A line in several chunks counts in bytes, with its field name. */
  constructor(listener: EventListener, maxLength: number) {
    this.#listener = listener;
    this.#maxLength = maxLength;
  }

  push(chunk: Uint8Array): void {
    if (this.#over) return;
    // Searching and decoding a Buffer is ten times as fast as a plain Uint8Array.
    const bytes = toBuffer(chunk);
    let start = 0;
    if (this.#rest.length > 0) {
      start = afterFirstLineEnd(bytes);
      this.#keep(start === 0 ? bytes : bytes.subarray(0, start));
      if (this.#over || start === 0) return;
      const line = toBuffer(this.#rest.join());
      this.#rest.clear();
      this.#lines(line);
    }
    const end = Math.max(start, afterLastLineEnd(bytes));
    if (end > start) this.#lines(bytes.subarray(start, end));
    if (end < bytes.length && !this.#over) this.#keep(bytes.subarray(end));
  }

  /** Keeps what has no line end yet. */
  #keep(bytes: Uint8Array): void {
    if (this.unfinished + bytes.length > this.#maxLength) this.#stop();
    else this.#rest.add(bytes);
  }

  /** Reads complete lines, which contain complete characters. */
  #lines(bytes: Buffer): void {
    let text = bytes.toString('utf8');
    if (this.#atStart && text.startsWith('\ufeff')) text = text.slice(1);
    this.#atStart = false;
    if (this.#afterReturn && text.startsWith('\n')) text = text.slice(1);
    this.#afterReturn = bytes.at(-1) === carriageReturn;
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1 && !this.#over; end = text.indexOf('\n', start)) {
      this.#line(text.slice(start, end));
      start = end + 1;
    }
  }

  /** The length of the event that is not complete yet. */
  get unfinished(): number {
    return this.#length + this.#rest.length;
  }

  /** Stops reading; an unfinished event is discarded, as the standard requires. */
  close(): void {
    this.#over = true;
    this.#rest.clear();
    this.#data = undefined;
    this.#length = 0;
  }

  #stop(): void {
    this.close();
    this.#listener.tooLarge();
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    if (line.startsWith('data:')) {
      const value = line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5);
      this.#append(value);
      return;
    }
    const colon = line.indexOf(':');
    // A comment: it only keeps the connection alive.
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    this.#field(field, colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, ''));
  }

  #append(value: string): void {
    // Line breaks count too: endless empty lines of data fill the memory as well.
    this.#length += value.length + (this.#data === undefined ? 0 : 1);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    if (this.#length > this.#maxLength) this.#stop();
  }

  #field(field: string, value: string): void {
    if (field === 'event') this.#type = value;
    else if (field === 'data') this.#append(value);
    // Goes back to the server as a header, where line breaks and NUL have no place.
    else if (field === 'id' && !/[\u0000-\u001f\u007f-\uffff]/.test(value) && value.length <= 4096) {
      // An empty id clears the one before.
      this.lastEventId = value === '' ? undefined : value;
    } else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Math.min(Number(value), maxRetryMs);
  }

  #dispatch(): void {
    const data = this.#data;
    const type = this.#type === '' ? 'message' : this.#type;
    this.#data = undefined;
    this.#type = '';
    this.#length = 0;
    // An event without data only carries its id.
    if (data !== undefined && data !== '') this.#listener.event(data, type);
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** The position after the first line end; 0 without one. */
function afterFirstLineEnd(bytes: Buffer): number {
  const at = bytes.indexOf(newline) + 1;
  const returnAt = (at === 0 ? bytes : bytes.subarray(0, at)).indexOf(carriageReturn) + 1;
  return returnAt === 0 ? at : returnAt;
}

/** The position after the last line end; 0 without one. */
function afterLastLineEnd(bytes: Buffer): number {
  const last = bytes.at(-1);
  if (last === newline || last === carriageReturn) return bytes.length;
  return Math.max(bytes.lastIndexOf(newline), bytes.lastIndexOf(carriageReturn)) + 1;
}
