// Turns observed bytes and texts into messages of the feed. It only reads copies: what is relayed is never changed.

import { parseJson } from '../../protocol/parse-json.ts';
import { LineReader } from '../../transports/line-reader.ts';
import { findRejectedLineId, idSearchBytes } from '../../transports/rejected-line-id.ts';
import type { FeedEntry } from '../api.ts';
import type { Feed } from '../feed.ts';
import type { FeedPeer } from '../peers.ts';

/** Longer texts are recorded without being parsed: stops large results from holding up the relay. */
const maxParsedChars = 4 * 1024 * 1024;
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
    this.#feed.record({ direction, peer: this.peer, message: parse(text), text, exchange });
  }

  /** A stream of lines, one message each. */
  lines(direction: FeedEntry['direction']): { push(chunk: Uint8Array): void; end(): void } {
    return new LineReader(
      {
        onLine: (text) => this.record(direction, text),
        onRejected: (reason) =>
          this.#feed.record({
            direction,
            peer: this.peer,
            message: undefined,
            text: '',
            reason: `the line is ${reason}`,
          }),
      },
      maxLineBytes,
    );
  }
}

/** The message; undefined if it is not JSON. Of a message that is too long to parse: its id and kind, to find its counterpart. */
function parse(text: string): unknown {
  if (text.length > maxParsedChars) {
    const { id, isResponse } = findRejectedLineId(text.slice(0, idSearchBytes), text.slice(-idSearchBytes));
    return isResponse ? { id, result: {} } : { id, method: 'too large to show' };
  }
  return parseJson(text);
}
