// Turns observed bytes and texts into messages of the feed. It only reads copies: what is relayed is never changed.

import { LineReader } from '../../transports/line-reader.ts';
import type { FeedEntry } from '../api.ts';
import type { Feed } from '../feed/feed.ts';
import type { FeedPeer } from '../feed/peers.ts';

/** Longer lines are not recorded. */
const maxLineBytes = 64 * 1024 * 1024;

/** Records texts of one peer. */
export class Recorder {
  readonly #feed: Feed;
  readonly peer: FeedPeer;

  constructor(feed: Feed, peer: FeedPeer) {
    this.#feed = feed;
    this.peer = peer;
  }

  /** `exchange`: shared by a request and its response where ids of several clients may be the same. */
  record(direction: FeedEntry['direction'], text: string, exchange?: object): void {
    this.#feed.record({ direction, peer: this.peer, text, exchange });
  }

  /** A stream of lines, one message each. */
  lines(direction: FeedEntry['direction']): { push(chunk: Uint8Array): void; end(): void } {
    return new LineReader(
      {
        onLine: (text) => this.record(direction, text),
        onRejected: (reason) =>
          this.#feed.record({ direction, peer: this.peer, text: '', reason: `the line is ${reason}` }),
      },
      maxLineBytes,
    );
  }
}
