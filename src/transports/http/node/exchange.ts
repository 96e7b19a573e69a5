// Requests and responses of node:http, without web objects in between: bodies by events, one write per plain response.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { monotonicMs } from '../../../common/clock.ts';
import { JoinedBytes } from '../../../common/joined-bytes.ts';
import { toBuffer } from '../../../common/to-buffer.ts';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import type { BufferedBytes, HeldBytes } from '../buffered-bytes.ts';
import type { BodyError, ByteSink, HeaderList, HttpExchange } from '../exchange.ts';
import { type FairTurns, smallResponse } from '../fair-turns.ts';
import type { HttpLimits } from '../limits.ts';
import { forgetSent } from './pipeline.ts';
import { hasBody, NodeRequest } from './request.ts';
import { writeHead } from './write-head.ts';

/** A response up to this length is sent however much is buffered: it takes less memory than its request. */
const freeBytes = 16 * 1024;

/** The first chunk of a body of unknown length, which is often all of it, is not counted up to this size. */
const smallChunk = 4 * 1024;

/** How much of a rejected body is still read, so that its sender receives the response. */
const maxDiscardedBytes = 512 * 1024;
const discardMs = 1_000;

/** What an exchange needs from its server. */
export interface NodeServerState {
  /** It is about to end: connections are not kept open. */
  readonly closing: boolean;
  readonly limits: HttpLimits;
  readonly state: { readonly buffered: BufferedBytes; readonly turns: FairTurns };
  /** Responds to a request that could not be served because of an unexpected error. */
  failed(exchange: HttpExchange, error: unknown): void;
}

export class NodeExchange extends NodeRequest implements HttpExchange {
  readonly #response: ServerResponse;
  extraHeaders: HeaderList | undefined = undefined;
  onResponded: ((status: number) => void) | undefined = undefined;
  /** The client waits for `100 Continue` before it sends the body. */
  #expectsContinue: boolean;
  #responded = false;
  #held: HeldBytes | undefined = undefined;
  /** How many of the held bytes are the body. */
  #body = 0;
  #failed = false;
  /** The whole response has been written, though the connection may still have to be read. */
  #complete = false;
  #atMs = -1;
  readonly #server: NodeServerState;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    server: NodeServerState,
    expectsContinue: boolean,
    url?: string,
  ) {
    super(request, url);
    this.#response = response;
    this.#server = server;
    this.#expectsContinue = expectsContinue;
  }

  get atMs(): number {
    return this.#atMs < 0 ? (this.#atMs = monotonicMs()) : this.#atMs;
  }

  readBody(maxBytes: number, done: (body: string | BodyError) => void): void {
    const request = this.incoming;
    const announced = Number(this.get('content-length') ?? 0);
    if (announced > maxBytes) return done({ reason: 'too-large' });
    if (this.#expectsContinue) {
      this.#expectsContinue = false;
      this.#response.writeContinue();
    }
    let whole: Buffer | undefined;
    let chunks: JoinedBytes | undefined;
    let size = 0;
    // Undefined when the body has been delivered. Listeners that held the exchange kept whole calls in memory until the next
    // full garbage collection: a seventh of the time of a call (bench gateway, "http to stdio").
    let reading: { readonly exchange: NodeExchange; readonly done: typeof done } | undefined = { exchange: this, done };
    const deliver = (body: string | BodyError): void => {
      const reader = reading;
      if (reader === undefined) return;
      reading = whole = chunks = undefined;
      reader.exchange.#deliver(reader.done, body);
    };
    request.on('data', (chunk: Buffer) => {
      if (reading === undefined) return;
      size += chunk.length;
      // Most bodies arrive in one chunk.
      if (size === chunk.length && (size === announced || (announced === 0 && size <= smallChunk))) {
        whole = chunk;
        return;
      }
      if (size > maxBytes) return deliver({ reason: 'too-large' });
      chunks ??= new JoinedBytes();
      if (whole !== undefined) chunks.add(whole);
      whole = undefined;
      chunks.add(chunk);
      // The announced length counts from the start, or many bodies at once could each get half of what they need.
      reading.exchange.#makeRoom(Math.max(announced, chunks.capacity), () => deliver({ reason: 'busy' }));
    });
    request.on('end', () => {
      if (reading !== undefined) deliver(decode(whole ?? chunks?.join()));
    });
  }

  /** Catches what `done` throws: an exception in an event of the request would end the process. */
  #deliver(done: (body: string | BodyError) => void, body: string | BodyError): void {
    try {
      done(body);
    } catch (error) {
      this.#server.failed(this, error);
    }
  }

  /** Counts a body in memory. Continues to read when there is space for it, and fails when there is none for too long. */
  #makeRoom(bytes: number, fail: () => void): void {
    if (this.#body >= bytes) return;
    const { buffered } = this.#server.state;
    const held = (this.#held ??= this.#hold());
    const take = (): void => {
      held.set(held.bytes - this.#body + bytes);
      this.#body = bytes;
    };
    if (!buffered.isFull(held.caller)) return take();
    const request = this.incoming;
    request.pause();
    let stop = (): void => {};
    stop = buffered.whenRoom(held.caller, (hasRoom) => {
      // A long body may wait hundreds of times.
      request.off('close', stop);
      if (!hasRoom) return fail();
      take();
      request.resume();
    });
    request.once('close', stop);
  }

  /** Counts what this exchange holds in memory, until it ends. */
  #hold(): HeldBytes {
    const held = this.#server.state.buffered.open(callerKey(this));
    this.#response.once('close', () => held.release());
    return held;
  }

  /** Counts what the client has not read yet, and ends the connection if it reads nothing. */
  #holdUnsent(): void {
    const { writableLength, socket } = this.#response;
    // The response did not fit into the buffers of the system: the client must read it, or the connection ends.
    socket?.setTimeout(this.#server.limits.stallTimeoutMs);
    this.#held ??= this.#hold();
    this.#held.set(this.#body + writableLength);
  }

  hasRoomFor(length: number): boolean {
    const { buffered } = this.#server.state;
    return length <= freeBytes || buffered.held === 0 || !buffered.isOverfull(callerKey(this));
  }

  respond(status: number, headers: HeaderList, body?: string | Uint8Array): void {
    if (this.#responded) return;
    try {
      this.#respond(status, headers, body);
    } catch (error) {
      // A header or a status that cannot be sent. If that happens for the error response too, the connection is closed.
      if (this.#failed) return this.abort();
      this.#failed = true;
      this.#server.failed(this, error);
    }
  }

  #respond(status: number, headers: HeaderList, content: string | Uint8Array | undefined): void {
    const response = this.#response;
    const body = typeof content === 'string' ? toWritable(content) : content;
    const all = this.extraHeaders === undefined ? headers.slice() : [...headers, ...this.extraHeaders];
    // A response without content must not have a length, and that of 304 would be the length of the document.
    if (status !== 204 && status !== 304)
      (all as string[]).push('Content-Length', String(body === undefined ? 0 : Buffer.byteLength(body)));
    const isBodyLeft = !this.incoming.complete && hasBody(this.incoming);
    // The next request on this connection would find a closed server, or the rest of this body.
    if (this.#server.closing || isBodyLeft) response.shouldKeepAlive = false;
    writeHead(response, status, all);
    this.#responded = true;
    if (body !== undefined && body !== '') {
      response.write(body);
      // Headers and body leave in one write. Ending first would cost a second, empty one: a tenth of a call (bench http).
      response.socket?.uncork();
    }
    if (!isBodyLeft) response.end();
    else {
      if (body === undefined || body === '') response.flushHeaders();
      this.#discardRest();
    }
    this.#complete = true;
    if (body !== undefined && body.length > smallResponse) this.#server.state.turns.spent(body.length);
    if (response.writableLength > 0) this.#holdUnsent();
    // Node.js releases the socket in the tick before this one.
    else process.nextTick(forgetSent, this.incoming.socket, response);
    this.onResponded?.(status);
  }

  openStream(headers: HeaderList): ByteSink {
    const response = this.#response;
    if (!this.#responded) {
      const all = this.extraHeaders === undefined ? headers : [...headers, ...this.extraHeaders];
      if (this.#server.closing) response.shouldKeepAlive = false;
      writeHead(response, 200, all);
      this.#responded = true;
      // Writing to a stream that has ended emits an error, which must not end the process.
      response.on('error', ignore);
      // The headers leave together with the first event. The socket is corked, not the response: from Node 22 on, a
      // response that ends while it is corked sends its end before its content.
      const { socket } = response;
      socket?.cork();
      response.flushHeaders();
      process.nextTick(() => socket?.uncork());
      // Streams stay open by the thousand.
      const { incoming } = this;
      if (incoming.complete) incoming.removeAllListeners('data').removeAllListeners('end');
      this.onResponded?.(200);
    }
    return new NodeSink(response, () => this.#holdUnsent());
  }

  onGone(listener: () => void): void {
    const response = this.#response;
    response.on('close', () => {
      if (response.writableFinished) return;
      try {
        listener();
      } catch (error) {
        this.#server.failed(this, error);
      }
    });
  }

  abort(): void {
    if (!this.#complete && !this.#response.writableEnded) this.#response.destroy();
  }

  /**
   * The response was sent before the body was read. Closing the connection now would reset it before the client has read
   * the response; reading everything would defeat the limit. So a part is read, and the connection is closed soon after.
   */
  #discardRest(): void {
    const request = this.incoming;
    const response = this.#response;
    let left = maxDiscardedBytes;
    const end = (): void => {
      clearTimeout(timer);
      response.end();
    };
    const timer = setTimeout(() => {
      response.end();
      request.socket.destroySoon();
    }, discardMs);
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) request.pause();
    });
    request.once('close', end);
    request.once('end', end);
    request.resume();
  }
}

function ignore(): void {}

/** A long text as bytes: Node.js copies a text to put the headers before it, and reserves three bytes per character until it is sent. */
function toWritable(text: string): string | Buffer {
  return text.length > smallResponse ? Buffer.from(text) : text;
}

function decode(bytes: Uint8Array | undefined): string | BodyError {
  if (bytes === undefined) return '';
  const text = toBuffer(bytes).toString('utf8');
  // Invalid bytes are decoded as U+FFFD, so only a text that contains it needs the second check.
  return text.includes('\ufffd') && !isUtf8(bytes) ? { reason: 'not-utf8' } : text;
}

class NodeSink implements ByteSink {
  readonly #response: ServerResponse;
  readonly #onUnsent: () => void;

  constructor(response: ServerResponse, onUnsent: () => void) {
    this.#response = response;
    this.#onUnsent = onUnsent;
  }

  get queued(): number {
    return this.#response.writableLength;
  }

  write(text: string): void {
    this.#response.write(toWritable(text));
  }

  end(): void {
    this.#response.end();
    if (this.#response.writableLength > 0) this.#onUnsent();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
