// Sends the messages of a process: those of one turn of the event loop together, and in order. Messages that could not be
// sent are sent again. They may arrive twice; readers recognize duplicates by their numbers.

import type { Logger } from '../../common/logger.ts';
import { append, type BusMessage } from './bus-messages.ts';
import type { RedisConnection } from './connection.ts';

/** Entries of a stream that are kept: a process that was disconnected for longer has missed some. */
const maxEntries = 10_000;
/** How long a mailbox outlives the process that it belongs to. */
export const mailboxMs = 60_000;
/** A longer message is stored under a key: a stream of these would fill the memory of Redis. */
const maxEntryLength = 256 * 1024;
/** How long it is stored there. */
const largeMs = 60_000;
/** Messages in one script: Redis serves nothing else meanwhile. */
const maxBatch = 200;
/** Messages and characters that wait while Redis is not reachable; stops them from filling the memory. */
const maxWaiting = 20_000;
const maxWaitingLength = 32 * 1024 * 1024;

const firstRetryMs = 50;
const maxRetryMs = 1_000;

interface WaitingMessage {
  readonly stream: string;
  readonly number: number;
  readonly text: string;
}

export interface BusKeys {
  readonly stream: string;
  mailbox(process: string): string;
  large(process: string, number: number): string;
}

export class BusWriter {
  readonly #redis: RedisConnection;
  readonly #keys: BusKeys;
  readonly #process: string;
  readonly #position: () => number;
  readonly #logger: Logger;
  #waiting: WaitingMessage[] = [];
  #waitingLength = 0;
  #numbers = 0;
  #isSending = false;
  #closed = false;
  /** All messages up to this number are in Redis, or were discarded. */
  sent = 0;

  /** `position`: that of the last published message that this process has received. */
  constructor(redis: RedisConnection, keys: BusKeys, process: string, position: () => number, logger: Logger) {
    this.#redis = redis;
    this.#position = position;
    this.#keys = keys;
    this.#process = process;
    this.#logger = logger;
  }

  /** `to`: a process; undefined: all. Returns the number of the message. */
  add(to: string | undefined, message: BusMessage): number {
    const number = ++this.#numbers;
    const stream = to === undefined ? this.#keys.stream : this.#keys.mailbox(to);
    const text = JSON.stringify(message);
    this.#waiting.push({ stream, number, text });
    this.#waitingLength += text.length;
    if (this.#waiting.length > maxWaiting || this.#waitingLength > maxWaitingLength) this.#giveUp();
    if (!this.#isSending) {
      this.#isSending = true;
      queueMicrotask(() => void this.#sendAll());
    }
    return number;
  }

  /** Discards the waiting messages, and tells the other processes that some are missing. */
  #giveUp(): void {
    this.#logger.error('messages to other processes were discarded: Redis was not reachable for too long', {
      messages: this.#waiting.length,
    });
    const text = JSON.stringify({ type: 'gap' } satisfies BusMessage);
    this.#waiting = [{ stream: this.#keys.stream, number: ++this.#numbers, text }];
    this.#waitingLength = text.length;
  }

  async #sendAll(): Promise<void> {
    let retryMs = firstRetryMs;
    while (this.#waiting.length > 0 && !this.#closed) {
      const batch = this.#waiting.slice(0, maxBatch);
      try {
        await this.#send(batch);
        retryMs = firstRetryMs;
      } catch (error) {
        this.#logger.debug('messages to other processes could not be sent and are sent again', { error });
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
        retryMs = Math.min(retryMs * 2, maxRetryMs);
        continue;
      }
      const last = batch.at(-1)?.number ?? 0;
      this.sent = Math.max(this.sent, last);
      // Some may have been discarded meanwhile.
      this.#waiting = this.#waiting.filter(({ number }) => number > last);
      this.#waitingLength = this.#waiting.reduce((sum, { text }) => sum + text.length, 0);
    }
    this.#isSending = false;
  }

  async #send(batch: readonly WaitingMessage[]): Promise<void> {
    const streams = [...new Set([this.#keys.stream, ...batch.map(({ stream }) => stream)])];
    const args: (string | number)[] = [this.#process, maxEntries, mailboxMs, this.#position()];
    for (const { stream, number, text } of batch) {
      const at = streams.indexOf(stream) + 1;
      if (text.length <= maxEntryLength) args.push(at, number, 'm', text);
      else {
        const key = this.#keys.large(this.#process, number);
        await this.#redis.send('SET', key, text, 'PX', String(largeMs));
        args.push(at, number, 'k', key);
      }
    }
    await this.#redis.run(append, streams, args);
  }

  /** Resolves when everything has been sent, or after a while. */
  async drain(timeoutMs: number): Promise<void> {
    const untilMs = performance.now() + timeoutMs;
    while (this.#waiting.length > 0 && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  close(): void {
    this.#closed = true;
  }
}
