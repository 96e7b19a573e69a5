// A connection without bytes: for tests, and for a client in the same process. Messages still travel as texts, so
// neither side can see or change an object of the other, and arrive later, in order, as they would on a pipe.

import type { Channel, Host, Outlet, Peer } from '../protocol/exchange.ts';
import { type Logger, silentLogger } from '../protocol/logger.ts';
import { receiveText } from './receive.ts';

export interface InMemoryOptions {
  readonly peer?: Peer;
  /** Gets each text instead of the queue behind `receive` and the iterator. */
  readonly onText?: (text: string) => void;
}

/** The client's end of a connection to a host in the same process. Iterate it to read what the server says. */
export interface InMemoryConnection extends AsyncIterable<unknown> {
  /** Sends a message, or a text as it is (which need not be a message at all). */
  send(message: string | object): void;
  /** The next message of the server, parsed; undefined when the connection is over and all has been read. */
  receive(): Promise<unknown>;
  /** Sends no more, waits for open calls up to `graceMs` and closes. What they answered can still be received. */
  end(graceMs?: number): Promise<void>;
  /** Goes away at once: the server aborts what it does for us. */
  close(): void;
}

/**
 * Connects to a host in memory.
 *
 * @example
 * const connection = connectInMemory(host);
 * connection.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
 * const answer = await connection.receive();
 */
export function connectInMemory(host: Host, options: InMemoryOptions = {}): InMemoryConnection {
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
    this.#channel = host.connect(options.peer ?? { transport: 'memory' }, outlet);
  }

  send(message: string | object): void {
    if (!this.#sendable) throw new Error('This in-memory connection is closed: connect again to send');
    // Made a text now: what the caller does to the object afterwards must not be seen on the other side.
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
    await Promise.resolve(); // What was sent before counts as sent.
    await this.#channel.drain(graceMs);
    // Answers of the last turn are still on their way to us.
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
