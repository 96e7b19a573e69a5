// A connection in memory: for tests, and for a client in the same process. Messages are passed as texts, so neither side
// can see or change objects of the other, and arrive asynchronously and in order, as on a pipe.

import { assertKnownOptions } from '../common/known-options.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import type { Channel, Host, Outlet, Peer } from '../protocol/exchange.ts';
import { assertHost } from './assert-host.ts';
import { receiveText } from './receive.ts';

/** Who is at the other end. */
export interface MemoryPeer extends Omit<Peer, 'transport'> {
  /** What handlers see as its transport. Default `memory`. */
  readonly transport?: Peer['transport'];
}

/** How the connection is made. */
export interface InMemoryOptions {
  /** What the server knows about the client. Default: no principal. */
  readonly peer?: MemoryPeer;
  /** Called with each text; `receive` and the iterator then get nothing. */
  readonly onText?: (text: string) => void;
}

/** The client's end of a connection to a host in the same process. Iterate it to read the messages of the server. */
export interface InMemoryConnection extends AsyncIterable<unknown> {
  /** Sends a message, or a text as it is (which need not be a message). */
  send(message: string | object): void;
  /** The next message of the server, parsed; undefined when the connection has ended and everything has been read. */
  receive(): Promise<unknown>;
  /** Stops sending, waits for open calls up to `graceMs` and closes. Their responses can still be received. */
  end(graceMs?: number): Promise<void>;
  /** Disconnects immediately: the server aborts open calls. */
  close(): void;
}

const known: Record<keyof InMemoryOptions, true> = { peer: true, onText: true };

/**
 * Connects to a host in memory.
 *
 * @example
 * const connection = connectInMemory(host);
 * connection.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
 * const response = await connection.receive();
 */
export function connectInMemory(host: Host, options: InMemoryOptions = {}): InMemoryConnection {
  assertKnownOptions('connectInMemory', options, known);
  assertHost('connectInMemory', host);
  return new MemoryConnection(host, options);
}

class MemoryConnection implements InMemoryConnection {
  readonly #channel: Channel;
  readonly #logger: Logger;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #received: string[] = [];
  readonly #readers: ((text: string | undefined) => void)[] = [];
  #sendable = true;
  #open = true;

  constructor(host: Host, options: InMemoryOptions) {
    this.#onText = options.onText;
    this.#logger = host.logger ?? silentLogger;
    const outlet: Outlet = {
      duplex: true,
      push: (text) => this.#push(text),
      end: (text) => {
        if (text !== undefined) this.#push(text);
      },
    };
    const { transport = 'memory', ...peer } = options.peer ?? {};
    this.#channel = host.connect({ transport, ...peer }, outlet);
  }

  send(message: string | object): void {
    if (!this.#sendable) throw new Error('This in-memory connection is closed: connect again to send');
    // Encoded now: later changes of the object must not be seen on the other side.
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    queueMicrotask(() => {
      if (this.#open) receiveText(this.#channel, text, this.#logger);
    });
  }

  async receive(): Promise<unknown> {
    const text = await this.#next();
    return text === undefined ? undefined : JSON.parse(text);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown> {
    for (let text = await this.#next(); text !== undefined; text = await this.#next()) yield JSON.parse(text);
  }

  async end(graceMs = 5_000): Promise<void> {
    this.#sendable = false;
    await Promise.resolve(); // Messages sent before are delivered first.
    await this.#channel.drain(graceMs);
    // Responses of the last turn are still being delivered.
    queueMicrotask(() => this.close());
  }

  close(): void {
    if (!this.#open) return;
    this.#sendable = this.#open = false;
    this.#channel.close();
    for (const reader of this.#readers.splice(0)) reader(undefined);
  }

  #push(text: string): boolean {
    if (!this.#open) return false;
    queueMicrotask(() => this.#deliver(text));
    return true;
  }

  #deliver(text: string): void {
    if (!this.#open) return;
    if (this.#onText !== undefined) this.#onText(text);
    else {
      const reader = this.#readers.shift();
      if (reader === undefined) this.#received.push(text);
      else reader(text);
    }
  }

  #next(): Promise<string | undefined> {
    const text = this.#received.shift();
    if (text !== undefined || !this.#open) return Promise.resolve(text);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}
