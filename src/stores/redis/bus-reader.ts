// Reads the messages for a process: published ones and those in its mailbox, with one command that waits for both.

import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import { WireError } from '../../protocol/errors.ts';
import { type BusEntry, type BusMessage, parseEntry, parseMessage } from './bus-messages.ts';
import type { RedisConnection } from './connection.ts';
import type { Reply } from './driver.ts';

/** How long Redis waits for an entry before it replies that there is none, which shows that none was missed. */
const blockMs = 250;
/** Entries that one command reads. */
const maxEntries = 1_000;

const firstRetryMs = 50;
const maxRetryMs = 1_000;

/** How far a stream has been read. */
interface Cursor {
  readonly key: string;
  id: string;
  /** The index of the entry that was read last. */
  index: number;
  /** The highest number that was received from each sender. */
  readonly numbers: Map<string, number>;
}

export interface BusReceiver {
  /** `position`: of a published message; undefined: it was sent to this process. */
  receive(message: BusMessage, from: string, number: number, position: number | undefined): void;
  /** Messages may have been missed. */
  gap(): void;
  /** Messages cannot be read at the moment. */
  lost(): void;
}

export class BusReader {
  readonly #redis: RedisConnection;
  readonly #receiver: BusReceiver;
  readonly #logger: Logger;
  readonly #published: Cursor;
  readonly #sent: Cursor;
  /** Everything that was published before this time has been received. */
  freshAtMs = monotonicMs();
  #closed = false;

  /** `last`: the newest published entry; entries after it are received. */
  constructor(
    redis: RedisConnection,
    keys: { readonly stream: string; readonly mailbox: string },
    last: BusEntry | undefined,
    receiver: BusReceiver,
    logger: Logger,
  ) {
    this.#redis = redis;
    this.#receiver = receiver;
    this.#logger = logger;
    this.#published = { key: keys.stream, id: last?.id ?? '0-0', index: last?.index ?? 0, numbers: new Map() };
    this.#sent = { key: keys.mailbox, id: '0-0', index: 0, numbers: new Map() };
    void this.#readAll();
  }

  close(): void {
    this.#closed = true;
  }

  /** A process has ended: its numbers are not needed any more. */
  forget(process: string): void {
    this.#published.numbers.delete(process);
    this.#sent.numbers.delete(process);
  }

  async #readAll(): Promise<void> {
    let retryMs = firstRetryMs;
    while (!this.#closed) {
      try {
        await this.#read();
        retryMs = firstRetryMs;
      } catch (error) {
        if (this.#closed) return;
        this.#receiver.lost();
        this.#logger.debug('messages of other processes could not be read', { error });
        await new Promise((resolve) => setTimeout(resolve, retryMs).unref());
        retryMs = Math.min(retryMs * 2, maxRetryMs);
      }
    }
  }

  async #read(): Promise<void> {
    // Not the time of the reply: a process that was stopped meanwhile would take an old reply for a new one.
    const askedAtMs = monotonicMs();
    const streams = [this.#published, this.#sent];
    const reply = await this.#redis.block(
      blockMs,
      ...['XREAD', 'COUNT', String(maxEntries), 'BLOCK', String(blockMs), 'STREAMS'],
      ...streams.map(({ key }) => key),
      ...streams.map(({ id }) => id),
    );
    if (this.#closed) return;
    const found = new Map((reply ?? []) as unknown as readonly [string, readonly Reply[]][]);
    const published = found.get(this.#published.key) ?? [];
    for (const entry of published) await this.#receive(this.#published, entry);
    // A message to this process follows what its sender had published before, so that must have been read.
    if (published.length >= maxEntries) return;
    this.freshAtMs = askedAtMs;
    for (const entry of found.get(this.#sent.key) ?? []) await this.#receive(this.#sent, entry);
  }

  async #receive(cursor: Cursor, reply: Reply): Promise<void> {
    const entry = parseEntry(reply);
    if ('unknown' in entry) {
      cursor.id = entry.unknown;
      cursor.index++;
      return;
    }
    // Read before the cursor moves: if that fails, the entry is read again.
    const message = await this.#messageOf(entry);
    cursor.id = entry.id;
    const isNext = entry.index === cursor.index + 1;
    cursor.index = entry.index;
    if (!isNext) this.#receiver.gap();
    const last = cursor.numbers.get(entry.from) ?? 0;
    // A duplicate: its sender did not know that Redis had received it.
    if (entry.number <= last) return;
    cursor.numbers.set(entry.from, entry.number);
    if (message === undefined) return;
    const position = cursor === this.#published ? entry.position : undefined;
    this.#receiver.receive(message, entry.from, entry.number, position);
  }

  async #messageOf({ text, key }: BusEntry): Promise<BusMessage | undefined> {
    if (text !== undefined) return parseMessage(text);
    try {
      const stored = key === undefined ? null : await this.#redis.send('GET', key);
      if (stored !== null) return parseMessage(stored as string);
      this.#logger.warn('a large message of another process had expired before it was read');
    } catch (error) {
      // Redis is not reachable at the moment.
      if (error instanceof WireError) throw error;
      this.#logger.warn('a large message of another process cannot be read', { error });
    }
    return { type: 'gap' };
  }
}
