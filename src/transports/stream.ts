// One MCP connection on a pair of byte streams: a pipe, a Unix socket, a TCP connection. What concerns the process
// (signals, exit codes, the stdout guard) is in stdio.ts.

import type { Readable, Writable } from 'node:stream';
import type { CachedText } from '../common/cached-text.ts';
import { monotonicMs } from '../common/clock.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import { errorRows, wireErrors } from '../protocol/errors.ts';
import type { Channel, Host, Outlet, Peer } from '../protocol/exchange.ts';
import { errorText } from '../protocol/json-rpc.ts';
import { defaultMaxMessageBytes, LineReader, type LineRejection } from './line-reader.ts';
import { defaultPauseBytes, LineWriter } from './line-writer.ts';
import { receive, receiveText, reject } from './receive.ts';
import { findRejectedLineId, idSearchBytes, type RejectedLineId } from './rejected-line-id.ts';

/** Limits of a connection over streams. */
export interface StreamOptions {
  /** Longer lines are rejected unread; stops one message from filling the memory. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Unread output at which the server stops reading input. Default 1 MiB. */
  readonly pauseBytes?: number;
  /** Unread output beyond which notifications and requests of the server are not sent. Default 16 MiB. */
  readonly maxBacklogBytes?: number;
  /**
   * Unread output beyond which a large response is replaced by an error; stops calls that were running when reading
   * paused from filling the memory. Default 128 MiB.
   */
  readonly maxUnreadBytes?: number;
  /** How long open calls may continue after the end of the input. Default 5 s. */
  readonly graceMs?: number;
  /** Where errors are reported. Default: nowhere. */
  readonly logger?: Logger;
}

/** Why a connection ended: the input ended, the output failed, or the server stopped it. */
export type StreamEnd = 'end-of-input' | 'output-closed' | 'stopped';

/** A connection that is being served. */
export interface StreamServer {
  /** Resolves when the connection has ended and all responses have been written. Never rejects. */
  readonly closed: Promise<StreamEnd>;
  /** Stops reading, lets open calls finish within the grace period, then ends. */
  stop(): Promise<void>;
  /** Shortens the grace period of a connection that is ending already. */
  shortenGrace(withinMs: number): void;
  /** Ends immediately: open calls are aborted, nothing more is written. */
  close(): void;
}

export const defaultGraceMs = 5_000;
const defaultMaxBacklogBytes = 16 * 1024 * 1024;
const defaultMaxUnreadBytes = 128 * 1024 * 1024;
/** A response up to this length is written however much is unread. */
const smallResponse = 128 * 1024;

/**
 * Serves one peer on a pair of streams. It does not close them: that is up to the caller. Sockets need `allowHalfOpen`,
 * or responses are lost when the client ends its side.
 */
export function serveStream(
  host: Host,
  input: Readable,
  output: Writable,
  peer: Peer = { transport: 'stdio' },
  options: StreamOptions = {},
): StreamServer {
  return new ByteStreamConnection(host, input, output, peer, options);
}

class ByteStreamConnection implements StreamServer, Outlet {
  readonly closed: Promise<StreamEnd>;
  readonly #resolveClosed: (end: StreamEnd) => void;
  readonly #input: Readable;
  readonly #logger: Logger;
  readonly #maxMessageBytes: number;
  readonly #maxBacklogBytes: number;
  readonly #maxUnreadBytes: number;
  readonly #graceMs: number;
  readonly #reader: LineReader;
  readonly #writer: LineWriter;
  readonly #channel: Channel;
  #ending: StreamEnd | undefined;
  #drained = false;
  #over = false;
  #abort: () => void = () => {};

  constructor(host: Host, input: Readable, output: Writable, peer: Peer, options: StreamOptions) {
    const { promise, resolve } = deferred<StreamEnd>();
    this.closed = promise;
    this.#resolveClosed = resolve;
    this.#input = input;
    this.#logger = options.logger ?? silentLogger;
    this.#maxMessageBytes = options.maxMessageBytes ?? defaultMaxMessageBytes;
    this.#maxBacklogBytes = options.maxBacklogBytes ?? defaultMaxBacklogBytes;
    this.#maxUnreadBytes = options.maxUnreadBytes ?? defaultMaxUnreadBytes;
    this.#graceMs = options.graceMs ?? defaultGraceMs;
    this.#reader = new LineReader(
      {
        parse: (text) => this.#channel.parse?.(text),
        onLine: (text, parsed) => receiveText(this.#channel, text, this.#logger, undefined, parsed),
        onRejected: (reason, found) => this.#reject(reason, found),
        onEnd: () => void this.#end('end-of-input'),
      },
      this.#maxMessageBytes,
    );
    this.#writer = new LineWriter(
      output,
      { onFull: () => this.#pause(), onReady: () => this.#resume(), onClosed: (error) => this.#onOutputClosed(error) },
      { pauseBytes: options.pauseBytes ?? defaultPauseBytes },
    );
    this.#channel = host.connect(peer, this);
    input.on('data', this.#onData);
    input.on('end', this.#onInputEnd);
    input.on('close', this.#onInputEnd);
    input.on('error', this.#onInputError);
  }

  // The outlet: one for all messages of the pipe.

  readonly duplex = true;

  push(text: string): boolean {
    if (this.#writer.closed || this.#writer.backlog > this.#maxBacklogBytes) return false;
    this.#writer.write(text);
    return true;
  }

  end(text: string | undefined): void {
    if (text === undefined) return;
    if (this.#hasRoomFor(text.length)) this.#writer.write(text);
    else this.#writer.write(unreadText(text));
  }

  endCached(head: string, cached: CachedText, tail: string): void {
    if (this.#hasRoomFor(cached.bytes.length)) this.#writer.writeBytes(head, cached.bytes, tail);
    else this.#writer.write(unreadText(head));
  }

  #hasRoomFor(length: number): boolean {
    return length <= smallResponse || this.#writer.backlog <= this.#maxUnreadBytes;
  }

  // The end.

  async stop(): Promise<void> {
    await this.#end('stopped');
    await this.closed;
  }

  shortenGrace(withinMs: number): void {
    if (this.#ending !== undefined) setTimeout(() => this.#abort(), withinMs).unref();
  }

  close(): void {
    this.#finish(this.#ending ?? 'stopped');
  }

  async #end(end: StreamEnd): Promise<void> {
    if (this.#ending !== undefined) return;
    this.#ending = end;
    this.#stopReading();
    const { promise: aborted, resolve } = deferred<void>();
    this.#abort = resolve;
    const deadline = monotonicMs() + this.#graceMs;
    try {
      const drained = this.#channel.drain(this.#graceMs).then(() => {
        this.#drained = true;
      });
      await Promise.race([drained, aborted]);
    } catch (error) {
      this.#logger.error('draining failed', { error });
    }
    // A peer that has stopped reading does not delay the end beyond the grace period.
    const timer = setTimeout(resolve, Math.max(deadline - monotonicMs(), lastWriteMs));
    await Promise.race([this.#writer.flushed(), aborted]);
    clearTimeout(timer);
    this.#finish(end);
  }

  #finish(end: StreamEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#ending = end;
    this.#abort();
    this.#stopReading();
    this.#reader.close();
    if (!this.#drained) this.#channel.close();
    this.#writer.close();
    this.#resolveClosed(end);
  }

  #onOutputClosed(error: Error | undefined): void {
    this.#logger.debug('the peer closed the output', error === undefined ? {} : { error });
    this.#finish('output-closed');
  }

  // The input.

  #onData = (chunk: Uint8Array): void => this.#writer.collect(() => this.#reader.push(chunk));

  #onInputEnd = (): void => this.#reader.end();

  #onInputError = (error: Error): void => {
    this.#logger.debug('reading failed', { error });
    this.#reader.end();
  };

  #reject(reason: LineRejection, found: RejectedLineId): void {
    const error =
      reason === 'too-large' ? wireErrors.tooLarge(this.#maxMessageBytes) : wireErrors.parse('the line is not UTF-8');
    if (found.isResponse && found.id !== undefined) {
      // The request of this server that waits for it fails. An error sent back would be taken for the response to a
      // request of the peer with the same id.
      const response = {
        jsonrpc: '2.0',
        id: found.id,
        error: { code: errorRows.invalidRequest.code, message: error.message },
      };
      receive(this.#channel, response, this.#logger);
    } else {
      reject(this.#channel, error, found.isResponse ? undefined : found.id, this.#logger);
    }
  }

  #pause(): void {
    if (this.#ending !== undefined) return;
    this.#reader.pause();
    this.#input.pause();
  }

  #resume(): void {
    if (this.#over) return;
    this.#reader.resume();
    if (this.#ending === undefined) this.#input.resume();
  }

  #stopReading(): void {
    this.#input.off('data', this.#onData);
    this.#input.off('end', this.#onInputEnd);
    this.#input.off('close', this.#onInputEnd);
    this.#input.pause();
    // The error listener stays: a socket may fail later, and an unhandled error would end the process.
  }
}

/** In place of a response that is not buffered, because the peer has not read those before it. */
function unreadText(response: string): string {
  const { id = null } = findRejectedLineId(response.slice(0, idSearchBytes), '');
  return errorText(id, wireErrors.tooMuchUnread());
}

/** How long responses that were written may take to leave when the grace period is over. */
const lastWriteMs = 250;

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
