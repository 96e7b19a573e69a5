// Serves one request of a connection at a time. A client may send the next request before it has the response to the last
// one (RFC 9112 §9.3.2); node:http then emits them all at once, and all responses would be buffered. Here the later
// requests wait instead, and meanwhile nothing more is read from the connection.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import type { BufferedBytes, HeldBytes } from '../buffered-bytes.ts';
import { addressOf } from './request.ts';

const latest = Symbol('the response to the latest request that was served');
const queue = Symbol('requests that wait for their turn');

/** A connection with its queue. */
type Connection = Duplex & {
  [latest]?: ServerResponse | undefined;
  [queue]?: Queue | undefined;
};

interface Turn {
  /** Undefined for an upgrade, after which there are no further requests. */
  readonly response: ServerResponse | undefined;
  readonly bytes: number;
  start(): void;
}

interface Queue {
  readonly turns: Turn[];
  readonly held: HeldBytes;
}

/**
 * Makes a connection forget a response that it has sent. Otherwise every connection holds its last request and response in
 * memory, and the garbage collector moves those of each moment to the old generation.
 */
export function forgetSent(connection: Connection, response: ServerResponse): void {
  if (connection[latest] === response && response.socket === null) connection[latest] = undefined;
}

/** Roughly the memory that a request takes without its body. */
const requestBytes = 4 * 1024;
/** How much of a body node:http reads ahead. */
const maxReadAhead = 64 * 1024;

const isBun = 'bun' in process.versions;

/** A response releases its socket when all of it has been written. On Bun it keeps its socket. */
function isSent(response: ServerResponse): boolean {
  return response.socket === null || (isBun && response.writableFinished);
}

export class Pipeline {
  readonly #buffered: BufferedBytes;
  readonly #maxBytes: number;

  /** `maxBytes`: how much of one connection may wait; a connection that sends more is closed. */
  constructor(buffered: BufferedBytes, maxBytes: number) {
    this.#buffered = buffered;
    this.#maxBytes = maxBytes;
  }

  /** True when a request can be served now; it then counts as the current one. The usual case costs two look-ups. */
  tryStart(request: IncomingMessage, response: ServerResponse): boolean {
    const connection: Connection = request.socket;
    if (connection[queue] !== undefined) return false;
    const previous = connection[latest];
    if (previous !== undefined && !isSent(previous)) return false;
    connection[latest] = response;
    return true;
  }

  /** True when a connection has no open request. */
  isIdle(connection: Connection): boolean {
    return connection[queue] === undefined && (connection[latest] === undefined || isSent(connection[latest]));
  }

  /** Calls `start` when all earlier requests of the connection have been answered. */
  wait(request: IncomingMessage, response: ServerResponse | undefined, start: () => void): void {
    const connection: Connection = request.socket;
    if (connection.destroyed) return;
    const waiting = (connection[queue] ??= this.#open(request, connection));
    const bytes = requestBytes + Math.min(bodyBytes(request), maxReadAhead);
    waiting.turns.push({ response, bytes, start });
    waiting.held.set(waiting.held.bytes + bytes);
    // A socket of an upgrade has no reader any more, and must not be paused for the next one.
    if (response !== undefined) connection.pause();
    const { caller } = waiting.held;
    if (waiting.held.bytes > this.#maxBytes || this.#buffered.isOverfull(caller)) connection.destroy();
  }

  #open(request: IncomingMessage, connection: Connection): Queue {
    const caller = callerKey({ principal: undefined, address: addressOf(request) });
    const held = this.#buffered.open(caller);
    connection.once('close', () => {
      connection[queue] = undefined;
      held.release();
    });
    connection[latest]?.once('close', () => this.#next(connection));
    return { turns: [], held };
  }

  #next(connection: Connection): void {
    const waiting = connection[queue];
    const turn = waiting?.turns.shift();
    // After a response that ends the connection nothing more is served.
    if (waiting === undefined || turn === undefined || connection.destroyed || connection.writableEnded) return;
    waiting.held.set(waiting.held.bytes - turn.bytes);
    connection[latest] = turn.response;
    if (waiting.turns.length === 0) connection[queue] = undefined;
    else turn.response?.once('close', () => this.#next(connection));
    turn.start();
    if (waiting.turns.length === 0 && turn.response !== undefined) connection.resume();
  }
}

function bodyBytes({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY;
}
