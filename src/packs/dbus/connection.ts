// A connection to a bus: authentication (EXTERNAL, the kernel confirms our user), calls and responses, signals.

import { connect, type Socket } from 'node:net';
import { UserError } from '../../common/user-error.ts';
import type { Json } from '../../protocol/model.ts';
import {
  decodeHeader,
  decodeMessage,
  encodeMessage,
  maxMessageBytes,
  messageLength,
  type ReadMessage,
} from './message.ts';

/** A call to a method of an object of a service. */
export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly unknown[];
}

/** The service returned an error, or no response. */
export class BusError extends UserError {
  override readonly name = 'BusError';
  /** The name of the error on the bus, for example `org.freedesktop.DBus.Error.AccessDenied`. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

interface PendingBusCall {
  resolve(body: readonly Json[]): void;
  reject(error: Error): void;
  readonly timer: NodeJS.Timeout;
}

export interface BusConnectOptions {
  /** For authentication and for each call. Default 5 s. */
  readonly timeoutMs?: number;
}

/** Calls that wait for a response; a service that never responds must not accumulate them. */
const maxPending = 256;

export class BusConnection {
  readonly #socket: Socket;
  readonly #timeoutMs: number;
  readonly #pending = new Map<number, PendingBusCall>();
  readonly #listeners = new Set<(signal: ReadMessage) => void>();
  #received: Buffer = Buffer.alloc(0);
  /** Bytes that have yet to arrive of a message that is too long. */
  #skipped = 0;
  #serial = 0;
  #closed = false;
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => this.#end(new BusError('closed', 'The connection to the bus is closed')));
    socket.on('error', () => {}); // "close" follows and rejects the pending calls.
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.unref();
  }

  /** Connects, authenticates and sends Hello. */
  static async open(path: string, { timeoutMs = 5_000 }: BusConnectOptions = {}): Promise<BusConnection> {
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

  /** The values of the response. */
  call(call: BusCall, signal?: AbortSignal): Promise<readonly Json[]> {
    if (this.#closed) return Promise.reject(new BusError('closed', 'The connection to the bus is closed'));
    if (this.#pending.size >= maxPending)
      return Promise.reject(new BusError('busy', 'Too many pending calls to the bus'));
    const serial = ++this.#serial;
    const { body = [], ...message } = call;
    const bytes = encodeMessage({ type: 'call', serial, ...message }, body);
    return new Promise((resolve, reject) => {
      const stop = (error: Error): void => {
        this.#settle(serial)?.reject(error);
      };
      const timer = setTimeout(
        () => stop(new BusError('timeout', `${call.destination} did not respond within ${this.#timeoutMs} ms`)),
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

  /** Receives every signal that the bus sends; match rules decide which. */
  onSignal(listener: (signal: ReadMessage) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#socket.destroy();
  }

  #settle(serial: number): PendingBusCall | undefined {
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
    const rest = chunk.subarray(Math.min(this.#skipped, chunk.length));
    this.#skipped -= chunk.length - rest.length;
    this.#received = this.#received.length === 0 ? rest : Buffer.concat([this.#received, rest]);
    try {
      if (this.#received.length > maxMessageBytes * 2)
        throw new RangeError('The bus sends data faster than it can be read');
      for (let length = messageLength(this.#received); length !== undefined; length = messageLength(this.#received)) {
        const isTooLong = length.total > maxMessageBytes;
        if (this.#received.length < (isTooLong ? length.header : length.total)) return;
        const bytes = this.#received.subarray(0, length.total);
        this.#received = this.#received.subarray(bytes.length);
        this.#skipped = length.total - bytes.length;
        if (isTooLong) this.#reject(bytes, length.total);
        else this.#take(decodeMessage(bytes));
      }
    } catch (error) {
      // After a message that cannot be decoded, the start of the next one is unknown.
      this.#end(new BusError('format', (error as Error).message, error));
      this.#socket.destroy();
    }
  }

  /** A message that is too long fails its own call; the calls to other services continue. */
  #reject(bytes: Buffer, length: number): void {
    const { type, replySerial = 0 } = decodeHeader(bytes);
    if (type !== 'reply' && type !== 'error') return;
    this.#settle(replySerial)?.reject(new BusError('format', `The response has ${length} bytes, which is too long`));
  }

  #take(message: ReadMessage): void {
    const { type, replySerial = 0, body } = message;
    if (type === 'reply') this.#settle(replySerial)?.resolve(body);
    else if (type === 'error') {
      const said = typeof body[0] === 'string' ? body[0] : 'no reason given';
      this.#settle(replySerial)?.reject(new BusError(message.errorName ?? 'unknown', said));
    } else if (type === 'signal') for (const listener of this.#listeners) listener(message);
    // Calls to us get no response: we offer no methods, and the caller has its own time limit.
  }
}

/** The bus itself as a service. */
export const theBus = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

/** Authenticates: a zero byte, then lines. */
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
    const timer = setTimeout(() => fail(new Error(`no response to authentication within ${timeoutMs} ms`)), timeoutMs);
    socket.once('error', fail);
    socket.once('connect', () => socket.write(`\0AUTH EXTERNAL ${identity}\r\n`));
    const listen = (chunk: Buffer): void => {
      said += chunk.toString('latin1');
      if (!said.includes('\r\n') && said.length < 1024) return;
      if (!said.startsWith('OK '))
        return fail(new Error(`it rejected the authentication (${JSON.stringify(said.slice(0, 100))})`));
      clearTimeout(timer);
      socket.off('data', listen);
      socket.off('error', fail);
      socket.write('BEGIN\r\n');
      resolve(socket);
    };
    socket.on('data', listen);
  });
}
