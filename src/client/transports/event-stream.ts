// Server-sent events from bytes, as they come: any chunking, every line ending, nothing kept beyond one event. The format
// is that of the HTML standard, "Server-sent events".

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
  readonly #decoder = new TextDecoder();
  /** The unfinished line, in pieces: only new text is searched, so that a long line costs no more than it is long. */
  #pieces: string[] = [];
  #pieceLength = 0;
  /** Of the event's data so far. */
  #length = 0;
  /** A carriage return ended the last chunk: a newline that follows belongs to it. */
  #afterReturn = false;
  #data: string | undefined;
  #type = '';
  #over = false;
  /** Where to take the stream up again; undefined while no event had an id. */
  lastEventId: string | undefined;
  /** How long to wait before reconnecting, as the server asked. */
  retryMs: number | undefined;

  /** `maxLength` stops an endless event from filling the memory. */
  constructor(listener: EventListener, maxLength: number) {
    this.#listener = listener;
    this.#maxLength = maxLength;
  }

  push(chunk: Uint8Array): void {
    if (this.#over) return;
    let text = this.#decoder.decode(chunk, { stream: true });
    if (this.#afterReturn && text !== '') {
      if (text.startsWith('\n')) text = text.slice(1);
      this.#afterReturn = false;
    }
    if (text.includes('\r')) {
      this.#afterReturn = text.endsWith('\r');
      text = text.replace(/\r\n?/g, '\n');
    }
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = text.slice(start, end);
      start = end + 1;
      if (this.#pieces.length === 0) this.#line(line);
      else {
        this.#pieces.push(line);
        const whole = this.#pieces.join('');
        this.#pieces = [];
        this.#pieceLength = 0;
        this.#line(whole);
      }
      if (this.#over) return;
    }
    if (start === text.length) return;
    const rest = start === 0 ? text : text.slice(start);
    this.#pieces.push(rest);
    this.#pieceLength += rest.length;
    this.#check();
  }

  /** The length of the event that is not complete yet. */
  get unfinished(): number {
    return this.#length + this.#pieceLength;
  }

  /** Stops reading; an unfinished event is discarded, as the standard requires. */
  close(): void {
    this.#over = true;
    this.#pieces = [];
    this.#pieceLength = 0;
    this.#data = undefined;
    this.#length = 0;
  }

  #check(): void {
    if (this.unfinished <= this.#maxLength) return;
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
    this.#check();
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
