// A connection to a bus: the greeting (EXTERNAL, the kernel vouches for who we are), calls and their answers, signals.

import { connect, type Socket } from 'node:net';
import type { Json } from '../../../protocol/model.ts';
import { decodeMessage, encodeMessage, maxMessageBytes, messageLength, type ReadMessage } from './message.ts';

/** A call to a method of an object of a service. */
export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
}

/** The service answered with an error, or not at all. */
export class BusError extends Error {
  override readonly name = 'BusError';
  /** As the bus names it, for instance `org.freedesktop.DBus.Error.AccessDenied`. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

interface Pending {
  resolve(body: readonly Json[]): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

export interface ConnectOptions {
  /** For the greeting and for each call. Default 5 s. */
  readonly timeoutMs?: number;
}

/** Calls waiting for an answer; a service that never answers must not gather them. */
const maxPending = 256;

export class BusConnection {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(signal: ReadMessage) => void>();
  #received: Buffer = Buffer.alloc(0);
  #serial = 0;
  #closed = false;
  /** Settles when the connection is over. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => this.#end(new BusError('closed', 'The connection to the bus is closed')));
    socket.on('error', () => {}); // "close" follows and says it to everyone who waits.
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.unref();
  }

  /** Connects and says hello. */
  static async open(path: string, { timeoutMs = 5_000 }: ConnectOptions = {}): Promise<BusConnection> {
    const socket = await greet(path, timeoutMs);
    const connection = new BusConnection(socket, timeoutMs);
    try {
      await connection.call({ ...theBus, member: 'Hello' });
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** The values of the answer. */
  call(call: BusCall, signal?: AbortSignal): Promise<readonly Json[]> {
    if (this.#closed) return Promise.reject(new BusError('closed', 'The connection to the bus is closed'));
    if (this.#pending.size >= maxPending) return Promise.reject(new BusError('busy', 'Too many calls to the bus'));
    const serial = ++this.#serial;
    const { body = [], ...message } = call;
    const bytes = encodeMessage({ type: 'call', serial, ...message }, body);
    return new Promise((resolve, reject) => {
      const stop = (error: Error): void => {
        this.#settle(serial)?.reject(error);
      };
      const timer = setTimeout(
        () => stop(new BusError('timeout', `${call.destination} did not answer within ${this.#timeoutMs} ms`)),
        this.#timeoutMs,
      );
      const abort = (): void => stop(signal?.reason as Error);
      signal?.addEventListener('abort', abort, { once: true });
      const release = (): void => signal?.removeEventListener('abort', abort);
      this.#pending.set(serial, {
        timer,
        resolve: (values) => {
          release();
          resolve(values);
        },
        reject: (error) => {
          release();
          reject(error);
        },
      });
      this.#socket.write(bytes);
      if (signal?.aborted === true) abort();
    });
  }

  /** Hears every signal the bus sends us; which those are is decided by match rules. */
  onSignal(listener: (signal: ReadMessage) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#socket.destroy();
  }

  #settle(serial: number): Pending | undefined {
    const pending = this.#pending.get(serial);
    this.#pending.delete(serial);
    clearTimeout(pending?.timer);
    return pending;
  }

  #end(error: Error): void {
    this.#closed = true;
    for (const serial of [...this.#pending.keys()]) this.#settle(serial)?.reject(error);
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    try {
      if (this.#received.length > maxMessageBytes * 2) throw new RangeError('The bus sends faster than we read');
      for (let length = messageLength(this.#received); length !== undefined; length = messageLength(this.#received)) {
        if (this.#received.length < length) return;
        const message = decodeMessage(this.#received.subarray(0, length));
        this.#received = this.#received.subarray(length);
        this.#take(message);
      }
    } catch (error) {
      // After a message we can not read we do not know where the next one begins.
      this.#end(new BusError('format', (error as Error).message, error));
      this.#socket.destroy();
    }
  }

  #take(message: ReadMessage): void {
    const { type, replySerial = 0, body } = message;
    if (type === 'reply') this.#settle(replySerial)?.resolve(body);
    else if (type === 'error') {
      const said = typeof body[0] === 'string' ? body[0] : 'no reason given';
      this.#settle(replySerial)?.reject(new BusError(message.errorName ?? 'unknown', said));
    } else if (type === 'signal') for (const listener of this.#listeners) listener(message);
    // Calls to us are not answered: we offer nothing, and the caller's own time limit tells it so.
  }
}

/** The bus itself as a service. */
export const theBus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

/** Says who we are in the words of the protocol: a zero byte, then lines. */
function greet(path: string, timeoutMs: number): Promise<Socket> {
  const identity = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    let said = '';
    const fail = (error: Error): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new BusError('unreachable', `No bus at ${path.replace('\0', '@')}: ${error.message}`, error));
    };
    const timer = setTimeout(() => fail(new Error(`no greeting within ${timeoutMs} ms`)), timeoutMs);
    socket.once('error', fail);
    socket.once('connect', () => socket.write(`\0AUTH EXTERNAL ${identity}\r\n`));
    const listen = (chunk: Buffer): void => {
      said += chunk.toString('latin1');
      if (!said.includes('\r\n') && said.length < 1024) return;
      if (!said.startsWith('OK ')) return fail(new Error(`it refused us (${JSON.stringify(said.slice(0, 100))})`));
      clearTimeout(timer);
      socket.off('data', listen);
      socket.off('error', fail);
      socket.write('BEGIN\r\n');
      resolve(socket);
    };
    socket.on('data', listen);
  });
}
