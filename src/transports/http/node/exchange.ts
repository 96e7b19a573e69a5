// Requests and answers of node:http, without web objects in between: bodies by events, one write per plain answer.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { callerKey } from '../../../protocol/caller-budget.ts';
import { monotonicMs } from '../../../protocol/clock.ts';
import type { BufferedBytes, HeldBytes } from '../buffered-bytes.ts';
import type { BodyError, ByteSink, HeaderList, HttpExchange } from '../exchange.ts';
import { type FairTurns, smallAnswer } from '../fair-turns.ts';
import type { HttpLimits } from '../limits.ts';
import { BodyBuffer } from './body-buffer.ts';
import { NodeRequest } from './request.ts';

/** An answer as short as this is sent whatever else waits: it takes less than the request it answers. */
const freeBytes = 16 * 1024;

/** The first piece of a body of unknown length, which is often all of it, is not counted up to here. */
const smallPiece = 4 * 1024;

/** What is still taken of a body that was refused, so that its sender gets to read why. */
const maxDiscardedBytes = 512 * 1024;
const discardMs = 1_000;

/** What an exchange needs to know of its server. */
export interface NodeServerState {
  readonly draining: boolean;
  readonly limits: HttpLimits;
  readonly state: { readonly buffered: BufferedBytes; readonly turns: FairTurns };
  /** Answers a request that something broke on. */
  failed(exchange: HttpExchange, error: unknown): void;
}

export class NodeExchange extends NodeRequest implements HttpExchange {
  readonly #response: ServerResponse;
  extraHeaders: HeaderList | undefined = undefined;
  onAnswered: ((status: number) => void) | undefined = undefined;
  /** The client waits for our consent before it sends the body. */
  #expectsContinue: boolean;
  #answered = false;
  #held: HeldBytes | undefined = undefined;
  /** How much of what is held is the body. */
  #body = 0;
  #failed = false;
  /** The whole answer has been written, though the connection may still have to be read. */
  #complete = false;
  #atMs = -1;
  readonly #server: NodeServerState;

  constructor(request: IncomingMessage, response: ServerResponse, server: NodeServerState, expectsContinue: boolean) {
    super(request);
    this.#response = response;
    this.#server = server;
    this.#expectsContinue = expectsContinue;
  }

  get atMs(): number {
    return this.#atMs < 0 ? (this.#atMs = monotonicMs()) : this.#atMs;
  }

  readBody(maxBytes: number, done: (body: string | BodyError) => void): void {
    const request = this.incoming;
    const said = Number(this.get('content-length') ?? 0);
    if (said > maxBytes) return done({ reason: 'too-large' });
    if (this.#expectsContinue) {
      this.#expectsContinue = false;
      this.#response.writeContinue();
    }
    let whole: Buffer | undefined;
    let pieces: BodyBuffer | undefined;
    let size = 0;
    let over = false;
    request.on('data', (chunk: Buffer) => {
      if (over) return;
      size += chunk.length;
      // Most come in one piece.
      if (size === chunk.length && (size === said || (said === 0 && size <= smallPiece))) {
        whole = chunk;
        return;
      }
      if (size > maxBytes) {
        over = true;
        whole = pieces = undefined;
        return this.#hand(done, { reason: 'too-large' });
      }
      pieces ??= new BodyBuffer(said > 0 ? said : maxBytes, whole);
      whole = undefined;
      pieces.add(chunk);
      // What is announced counts from the start, or many bodies at once might each get half of what they need.
      this.#makeRoom(said > 0 ? said : pieces.capacity, () => {
        over = true;
        pieces = undefined;
        this.#hand(done, { reason: 'busy' });
      });
    });
    request.on('end', () => {
      if (over) return;
      const bytes = whole ?? pieces?.bytes;
      // The request lives as long as its answer, which may be a stream; its body need not.
      whole = pieces = undefined;
      this.#hand(done, decode(bytes));
    });
  }

  /** Nobody else would catch what is thrown in an event of the request. */
  #hand(done: (body: string | BodyError) => void, body: string | BodyError): void {
    try {
      done(body);
    } catch (error) {
      this.#server.failed(this, error);
    }
  }

  /** Counts a body in memory. Reads on when there is room for it, and gives up when there is none for too long. */
  #makeRoom(bytes: number, giveUp: () => void): void {
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
    const stop = buffered.whenRoom(held.caller, (hasRoom) => {
      if (!hasRoom) return giveUp();
      take();
      request.resume();
    });
    request.once('close', stop);
  }

  /** Begins to count what this exchange keeps in memory, until it is over. */
  #hold(): HeldBytes {
    const held = this.#server.state.buffered.open(callerKey(this));
    this.#response.once('close', () => held.release());
    return held;
  }

  /** Counts what the client has not read yet, and ends the connection if it reads nothing. */
  #holdUnsent(): void {
    const { writableLength, socket } = this.#response;
    // The answer did not fit into the buffers of the system: somebody must read it, or the connection ends.
    socket?.setTimeout(this.#server.limits.stallTimeoutMs);
    this.#held ??= this.#hold();
    this.#held.set(this.#body + writableLength);
  }

  hasRoomFor(length: number): boolean {
    const { buffered } = this.#server.state;
    return length <= freeBytes || buffered.held === 0 || !buffered.isOverfull(callerKey(this));
  }

  respond(status: number, headers: HeaderList, body?: string): void {
    if (this.#answered) return;
    try {
      this.#respond(status, headers, body);
    } catch (error) {
      // A header or a status that can not be sent. Those of the failure itself can be, or the connection is all there is.
      if (this.#failed) return this.abort();
      this.#failed = true;
      this.#server.failed(this, error);
    }
  }

  #respond(status: number, headers: HeaderList, body: string | undefined): void {
    const response = this.#response;
    const all = this.extraHeaders === undefined ? headers.slice() : [...headers, ...this.extraHeaders];
    // A status without content must not announce any.
    if (status !== 204)
      (all as string[]).push('Content-Length', String(body === undefined ? 0 : Buffer.byteLength(body)));
    const isBodyLeft = !this.incoming.complete && this.#hasBody;
    // Who comes next on this connection would find nobody, or the rest of this body.
    if (this.#server.draining || isBodyLeft) response.shouldKeepAlive = false;
    response.writeHead(status, all as string[]);
    this.#answered = true;
    if (body !== undefined && body !== '') {
      response.write(body);
      // Head and body leave as one write. Ending first would cost a second, empty one, and a tenth of a whole call.
      response.socket?.uncork();
    }
    if (!isBodyLeft) response.end();
    else {
      if (body === undefined || body === '') response.flushHeaders();
      this.#discardRest();
    }
    this.#complete = true;
    if (body !== undefined && body.length > smallAnswer) this.#server.state.turns.spent(body.length);
    if (response.writableLength > 0) this.#holdUnsent();
    this.onAnswered?.(status);
  }

  openStream(headers: HeaderList): ByteSink {
    const response = this.#response;
    if (!this.#answered) {
      const all = this.extraHeaders === undefined ? headers : [...headers, ...this.extraHeaders];
      response.writeHead(200, all as string[]);
      this.#answered = true;
      // Writing to a stream that has ended says so by an event, which must not end the process.
      response.on('error', ignore);
      // Written by itself, the head becomes one flat text; it leaves together with the first event. It is the socket that
      // waits: from Node 22 on, a response that ends while it is corked itself says goodbye before what it had to say.
      const { socket } = response;
      socket?.cork();
      response.flushHeaders();
      process.nextTick(() => socket?.uncork());
      this.#releaseRequest();
      this.onAnswered?.(200);
    }
    return new NodeSink(response, () => this.#holdUnsent());
  }

  /** Streams stay open by the thousand: what was asked need not be kept as long as what is answered. */
  #releaseRequest(): void {
    const { incoming } = this;
    if (incoming.complete) incoming.removeAllListeners('data').removeAllListeners('end');
    incoming.rawHeaders = [];
    incoming.headers = {};
    this.forgetHeaders();
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

  get #hasBody(): boolean {
    const { headers } = this.incoming;
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  }

  /**
   * The answer is out before the body is in. Ending the connection now would reset it before the client has read the
   * answer; reading on for ever would be what the limit is to prevent. So a little is read, then nothing, then we end it.
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

function decode(bytes: Buffer | undefined): string | BodyError {
  if (bytes === undefined) return '';
  const text = bytes.toString('utf8');
  // What can not be decoded becomes U+FFFD, so only a text that has one needs the second look.
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
    this.#response.write(text);
  }

  end(): void {
    this.#response.end();
    if (this.#response.writableLength > 0) this.#onUnsent();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
