// The open pages: each is an event stream that gets the feed in batches. A slow reader loses entries and gets the number of
// those it lost; it never delays a call.

import { monotonicMs } from '../../common/clock.ts';
import type { CallUpdate, ConnectionState, FeedBatch, FeedEntry, SubscriptionRow } from '../api.ts';
import type { ConsoleSink } from '../contract.ts';
import type { Feed } from './feed.ts';

/** How often new entries are sent. */
const batchMs = 100;
/** One batch, so that the page can draw between two of them. */
const maxBatchEntries = 500;
const maxBatchChars = 256 * 1024;
/** Batches that are sent in one turn to a reader that keeps up. */
const maxBatchesAtOnce = 8;
/** A reader with this many unread bytes gets nothing more until it has read some. Stops it from filling the memory. */
const maxQueuedBytes = 1024 * 1024;
/** A reader that reads nothing for this long is disconnected. */
const stallMs = 60_000;
/** Longer texts are not in the feed; the page requests the entry. */
const maxFeedTextChars = 16 * 1024;
/** A comment is sent after this time without events, so that a lost connection is noticed. */
const heartbeatMs = 15_000;
/** Stops pages that are opened again and again from filling the memory. */
export const maxReaders = 32;

/** What readers get besides entries. */
export interface ReaderState {
  readonly callVersion: number;
  callsSince(version: number): readonly CallUpdate[];
  readonly subscriptionVersion: number;
  subscriptions(): readonly SubscriptionRow[];
  readonly connection: ConnectionState | undefined;
}

interface Reader {
  readonly sink: ConsoleSink;
  /** The number of the last entry that was sent or dropped. */
  last: number;
  peerVersion: number;
  callVersion: number;
  subscriptionVersion: number;
  connection: ConnectionState | undefined;
  sentAtMs: number;
}

export class Readers {
  readonly #feed: Feed;
  readonly #state: ReaderState;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;

  constructor(feed: Feed, state: ReaderState) {
    this.#feed = feed;
    this.#state = state;
  }

  get size(): number {
    return this.#readers.size;
  }

  /** Starts to send everything after an entry. Returns a function that ends it. */
  add(sink: ConsoleSink, after: number): () => void {
    // A number from before a restart is larger than any there is.
    const last = after > this.#feed.last ? 0 : after;
    const versions = { peerVersion: 0, callVersion: 0, subscriptionVersion: 0 };
    const reader: Reader = { sink, last, ...versions, connection: undefined, sentAtMs: monotonicMs() };
    this.#readers.add(reader);
    this.#send(reader, true);
    this.#timer ??= setInterval(() => this.#tick(), batchMs);
    return () => this.#remove(reader);
  }

  close(): void {
    for (const reader of [...this.#readers]) {
      this.#remove(reader);
      reader.sink.end();
    }
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const isSecond = ++this.#ticks % (1_000 / batchMs) === 0;
    for (const reader of this.#readers) this.#send(reader, isSecond);
  }

  #send(reader: Reader, withRates: boolean): void {
    for (let count = 0; count < maxBatchesAtOnce; count++) {
      if (reader.sink.queued > maxQueuedBytes) {
        if (monotonicMs() - reader.sentAtMs > stallMs) this.#disconnect(reader);
        return;
      }
      const batch = this.#batch(reader, withRates && count === 0);
      if (batch === undefined) break;
      reader.sink.write(`id: ${reader.last}\ndata: ${JSON.stringify(batch)}\n\n`);
      reader.sentAtMs = monotonicMs();
      if (reader.last >= this.#feed.last) break;
    }
    if (monotonicMs() - reader.sentAtMs < heartbeatMs) return;
    reader.sink.write(': \n\n');
    reader.sentAtMs = monotonicMs();
  }

  #disconnect(reader: Reader): void {
    this.#remove(reader);
    reader.sink.destroy();
  }

  /** Undefined if there is nothing new. */
  #batch(reader: Reader, withRates: boolean): FeedBatch | undefined {
    const isFirst = reader.callVersion === 0 && reader.peerVersion === 0;
    const { entries, last } = this.#entriesAfter(reader.last);
    const dropped = last - reader.last - entries.length;
    const peers = this.#feed.peers.changedSince(reader.peerVersion);
    const calls = this.#state.callsSince(reader.callVersion);
    const { connection } = this.#state;
    const now = withRates ? this.#feed.rates.now(this.size) : undefined;
    const isNew = connection !== reader.connection;
    const { subscriptionVersion } = this.#state;
    const hasChanges = subscriptionVersion !== reader.subscriptionVersion;
    const hasNews = entries.length > 0 || dropped > 0 || peers.length > 0 || calls.length > 0 || isNew || hasChanges;
    if (!hasNews && now === undefined && !isFirst) return undefined;
    reader.last = last;
    reader.peerVersion = Math.max(this.#feed.peers.version, 1);
    reader.callVersion = Math.max(this.#state.callVersion, 1);
    reader.connection = connection;
    reader.subscriptionVersion = subscriptionVersion;
    return {
      entries,
      peers,
      dropped,
      calls,
      ...(hasChanges ? { subscriptions: this.#state.subscriptions() } : {}),
      ...(isNew && connection !== undefined ? { connection } : {}),
      ...(now === undefined ? {} : { now }),
    };
  }

  /** The next entries that are still in the buffer, and the number of the last entry they account for. */
  #entriesAfter(after: number): { entries: FeedEntry[]; last: number } {
    const { ring, last } = this.#feed;
    const entries: FeedEntry[] = [];
    let chars = 0;
    // Entries that left the buffer are counted as dropped by the difference of the numbers.
    for (const entry of ring.entries(after)) {
      const shown = forFeed(entry);
      entries.push(shown);
      chars += shown.text?.length ?? 0;
      if (entries.length >= maxBatchEntries || chars >= maxBatchChars) return { entries, last: entry.number };
    }
    return { entries, last };
  }
}

function forFeed(entry: FeedEntry): FeedEntry {
  if ((entry.text?.length ?? 0) <= maxFeedTextChars) return entry;
  const { text: _omitted, ...rest } = entry;
  return rest;
}
