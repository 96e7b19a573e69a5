// One request of a connection at a time. A client may send the next request before it has the answer to the last one
// (RFC 9112 §9.3.2); node:http then emits them all at once, and all their answers would wait in memory. Here the later ones
// wait instead, and while some do nothing more is read from the connection.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { callerKey } from '../../../protocol/caller-budget.ts';
import type { BufferedBytes, HeldBytes } from '../buffered-bytes.ts';
import { addressOf } from './request.ts';

const latest = Symbol('the response to the latest request that was served');
const queue = Symbol('requests that wait for their turn');

/** A connection, and what is remembered with it. */
type Connection = Duplex & {
  [latest]?: ServerResponse | undefined;
  [queue]?: Queue | undefined;
};

interface Turn {
  /** Undefined for a change of the protocol, after which there are no further requests. */
  readonly response: ServerResponse | undefined;
  readonly bytes: number;
  start(): void;
}

interface Queue {
  readonly turns: Turn[];
  readonly held: HeldBytes;
}

/** What a request takes in memory besides its body, roughly. */
const requestBytes = 4 * 1024;
/** What node:http reads of a body ahead of its reader. */
const maxReadAhead = 64 * 1024;

export class Pipeline {
  readonly #buffered: BufferedBytes;
  readonly #maxBytes: number;

  /** `maxBytes`: how much of one connection may wait; one that sends more is cut off. */
  constructor(buffered: BufferedBytes, maxBytes: number) {
    this.#buffered = buffered;
    this.#maxBytes = maxBytes;
  }

  /** True when a request can be served right away, which it then is taken to be. The usual case costs two look-ups. */
  isFree(request: IncomingMessage, response: ServerResponse): boolean {
    const connection: Connection = request.socket;
    if (connection[queue] !== undefined) return false;
    const previous = connection[latest];
    // A response lets go of its socket when all of it has been handed to the system.
    if (previous !== undefined && previous.socket !== null) return false;
    connection[latest] = response;
    return true;
  }

  /** True when nothing is under way on a connection. */
  isIdle(connection: Connection): boolean {
    return connection[queue] === undefined && (connection[latest]?.socket ?? null) === null;
  }

  /** Starts something when everything before it on its connection has been answered. */
  wait(request: IncomingMessage, response: ServerResponse | undefined, start: () => void): void {
    const connection: Connection = request.socket;
    if (connection.destroyed) return;
    const waiting = (connection[queue] ??= this.#open(request, connection));
    const bytes = requestBytes + Math.min(bodyBytes(request), maxReadAhead);
    waiting.turns.push({ response, bytes, start });
    waiting.held.set(waiting.held.bytes + bytes);
    // A socket that changes its protocol has no reader already, and its next one expects to find it so.
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
    // Behind an answer that ends the connection nothing is served any more.
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
