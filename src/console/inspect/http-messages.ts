// The messages in HTTP bodies that the proxy passes on: JSON as a whole, event streams event by event. Compressed bodies are
// decompressed in the copy only.

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Larger bodies are passed on and not recorded. */
const maxBodyChars = 64 * 1024 * 1024;

const decoders = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate } as const;

/** A copy of a body as text, decompressed; the original is read by its other listeners. */
function textOf(message: IncomingMessage): Readable {
  const coding = message.headers['content-encoding'];
  const decode = Object.hasOwn(decoders, coding ?? '') ? decoders[coding as keyof typeof decoders] : undefined;
  if (decode === undefined) return message;
  const decoded = message.pipe(decode());
  decoded.on('error', () => {}); // The receiver reports it; there is nothing to record.
  return decoded;
}

/** Calls `done` with the whole body. */
export function bodyText(message: IncomingMessage, done: (text: string) => void): void {
  const decoder = new TextDecoder();
  let text = '';
  const source = textOf(message);
  source.on('data', (chunk: Buffer) => {
    if (text.length < maxBodyChars) text += decoder.decode(chunk, { stream: true });
  });
  source.on('end', () => done(text));
}

export interface ResponseListener {
  onMessage(text: string): void;
  /** The first event of the older HTTP+SSE transport: the path for messages to the server. */
  onEndpoint(path: string): void;
}

/** Finds the messages of a response. */
export class ResponseMessages {
  readonly #listener: ResponseListener;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(response: IncomingMessage, listener: ResponseListener) {
    this.#listener = listener;
    const type = response.headers['content-type'] ?? '';
    if (type.startsWith('text/event-stream')) textOf(response).on('data', (chunk: Buffer) => this.#push(chunk));
    else if (type.startsWith('application/json')) bodyText(response, (text) => text !== '' && listener.onMessage(text));
  }

  #push(chunk: Buffer): void {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const blocks = this.#rest.split(/\r\n\r\n|\n\n|\r\r/);
    this.#rest = blocks.pop() as string;
    // An event that never ends is not recorded.
    if (this.#rest.length > maxBodyChars) this.#rest = '';
    for (const block of blocks) this.#event(block);
  }

  #event(block: string): void {
    const data: string[] = [];
    let name = 'message';
    for (const line of block.split(/\r\n|\n|\r/)) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line.startsWith('event:')) name = line.slice(6).trim();
    }
    const text = data.join('\n');
    if (text === '') return;
    if (name === 'endpoint') this.#listener.onEndpoint(text);
    else this.#listener.onMessage(text);
  }
}
