// One MCP connection on a pair of byte streams: a pipe, a Unix socket, a TCP connection. Knows streams, not the
// process: signals, exit codes and the guard of stdout are stdio.ts.

import type { Readable, Writable } from 'node:stream';
import type { CachedText } from '../protocol/cached-text.ts';
import { errorRows, wireErrors } from '../protocol/errors.ts';
import type { Channel, Host, Outlet, Peer } from '../protocol/exchange.ts';
import { errorText } from '../protocol/json-rpc.ts';
import { type Logger, silentLogger } from '../protocol/logger.ts';
import { defaultMaxMessageBytes, LineReader, type LineRejection } from './line-reader.ts';
import { defaultPauseBytes, LineWriter } from './line-writer.ts';
import { receive, receiveText, refuse } from './receive.ts';
import { findRejectedLineId, idSearchBytes, type RejectedLineId } from './rejected-line-id.ts';

export interface StreamOptions {
  /** Longer lines are refused unread: one peer can not fill the memory with one message. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Unread output at which we stop reading input. Default 1 MiB. */
  readonly pauseBytes?: number;
  /** Unread output beyond which what nobody waits for (notifications, requests of ours) is refused. Default 16 MiB. */
  readonly maxBacklogBytes?: number;
  /**
   * Unread output beyond which a large answer is replaced by an error: calls that were running when we stopped reading
   * must not fill the memory. Default 128 MiB.
   */
  readonly maxUnreadBytes?: number;
  /** How long open calls may go on after the end of the input. Default 5 s. */
  readonly graceMs?: number;
  readonly logger?: Logger;
}

/** Why a connection ended: the input did, the output broke, or we stopped it. */
export type StreamEnd = 'end-of-input' | 'output-closed' | 'stopped';

/** A connection being served. */
export interface StreamServer {
  /** Resolves when the connection is over and what was answered has been written. Never rejects. */
  readonly closed: Promise<StreamEnd>;
  /** Reads no more, lets open calls finish within the grace period, then ends. */
  stop(): Promise<void>;
  /** Gives an ending that is already under way at most this long. */
  shortenGrace(withinMs: number): void;
  /** Ends at once: open calls are aborted, nothing more is written. */
  close(): void;
}

export const defaultGraceMs = 5_000;
const defaultMaxBacklogBytes = 16 * 1024 * 1024;
const defaultMaxUnreadBytes = 128 * 1024 * 1024;
/** An answer as short as this is written whatever else waits. */
const smallAnswer = 128 * 1024;

/**
 * Serves one peer on a pair of streams. They are left open at the end; who made them closes them. Sockets want
 * `allowHalfOpen`, or the end of the client's requests takes their answers with it.
 */
export function serveStream(
  host: Host,
  input: Readable,
  output: Writable,
  peer: Peer = { transport: 'stdio' },
  options: StreamOptions = {},
): StreamServer {
  return new StreamConnection(host, input, output, peer, options);
}

class StreamConnection implements StreamServer, Outlet {
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
  #giveUp: () => void = () => {};

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
        onLine: (text) => receiveText(this.#channel, text, this.#logger),
        onRejected: (reason, clue) => this.#reject(reason, clue),
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

  // The outlet: one for all messages of the pipe, since any line may carry any answer.

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

  endCached(head: string, kept: CachedText, tail: string): void {
    if (this.#hasRoomFor(kept.bytes.length)) this.#writer.writeBytes(head, kept.bytes, tail);
    else this.#writer.write(unreadText(head));
  }

  #hasRoomFor(length: number): boolean {
    return length <= smallAnswer || this.#writer.backlog <= this.#maxUnreadBytes;
  }

  // The ends.

  async stop(): Promise<void> {
    await this.#end('stopped');
    await this.closed;
  }

  shortenGrace(withinMs: number): void {
    if (this.#ending !== undefined) setTimeout(() => this.#giveUp(), withinMs).unref();
  }

  close(): void {
    this.#finish(this.#ending ?? 'stopped');
  }

  async #end(end: StreamEnd): Promise<void> {
    if (this.#ending !== undefined) return;
    this.#ending = end;
    this.#stopReading();
    const { promise: givenUp, resolve } = deferred<void>();
    this.#giveUp = resolve;
    const deadline = Date.now() + this.#graceMs;
    try {
      const drained = this.#channel.drain(this.#graceMs).then(() => {
        this.#drained = true;
      });
      await Promise.race([drained, givenUp]);
    } catch (error) {
      this.#logger.error('draining failed', { error });
    }
    // A peer that has stopped reading does not keep us longer than open calls would.
    const timer = setTimeout(resolve, Math.max(deadline - Date.now(), lastWriteMs));
    await Promise.race([this.#writer.flushed(), givenUp]);
    clearTimeout(timer);
    this.#finish(end);
  }

  #finish(end: StreamEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#ending = end;
    this.#giveUp();
    this.#stopReading();
    this.#reader.close();
    if (!this.#drained) this.#channel.close();
    this.#writer.close();
    this.#resolveClosed(end);
  }

  #onOutputClosed(error: Error | undefined): void {
    this.#logger.debug('the peer closed our output', error === undefined ? {} : { error });
    this.#finish('output-closed');
  }

  // The input.

  #onData = (chunk: Uint8Array): void => this.#writer.gather(() => this.#reader.push(chunk));

  #onInputEnd = (): void => this.#reader.end();

  #onInputError = (error: Error): void => {
    this.#logger.debug('reading failed', { error });
    this.#reader.end();
  };

  #reject(reason: LineRejection, clue: RejectedLineId): void {
    const error =
      reason === 'too-large' ? wireErrors.tooLarge(this.#maxMessageBytes) : wireErrors.parse('the line is not UTF-8');
    if (clue.answer && clue.id !== undefined) {
      // Whoever waits for this answer learns that it was refused; an error sent back would meet an id of the peer's own.
      const answer = {
        jsonrpc: '2.0',
        id: clue.id,
        error: { code: errorRows.invalidRequest.code, message: error.message },
      };
      receive(this.#channel, answer, this.#logger);
    } else {
      refuse(this.#channel, error, clue.answer ? undefined : clue.id, this.#logger);
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
    // The error listener stays: a socket may fail later, and nobody else would catch it.
  }
}

/** In place of a response that is not buffered, because the peer has not read those before it. */
function unreadText(response: string): string {
  const { id = null } = findRejectedLineId(response.slice(0, idSearchBytes), '');
  return errorText(id, wireErrors.tooMuchUnread());
}

/** A last chance for answers already written, when the grace period is used up. */
const lastWriteMs = 250;

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
