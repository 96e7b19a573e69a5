// What no request asked for: the GET stream of a session. While it is down, changes wait for the next one.

import type { Outlet } from '../../../protocol/exchange.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import type { EventStream } from './event-stream.ts';
import { type EventPosition, ResumableStream, replay } from './resumable-stream.ts';

/** Characters of all changes that wait for a session: its resources may have long URIs. */
const maxMissedLength = 128 * 1024;

export class StandaloneStream implements Outlet {
  readonly #session: string;
  readonly #log: EventLog | undefined;
  readonly #maxMissed: number;
  readonly #caller: () => string;
  #stream: ResumableStream | undefined;
  /** Texts of changes; the same change twice is one. */
  #missed: Set<string> | undefined;
  #missedLength = 0;

  /** `caller`: who the session belongs to, when something is kept for it. */
  constructor(session: string, log: EventLog | undefined, maxMissed: number, caller: () => string) {
    this.#session = session;
    this.#log = log;
    this.#maxMissed = maxMissed;
    this.#caller = caller;
  }

  get connected(): boolean {
    return this.#stream?.connected === true;
  }

  /** Questions belong to calls and go with them. */
  get duplex(): boolean {
    return false;
  }

  push(text: string): boolean {
    if (this.#stream?.connected === true) return this.#stream.push(text);
    this.#missed ??= new Set();
    const room = this.#missed.size < this.#maxMissed && this.#missedLength + text.length <= maxMissedLength;
    if (room && !this.#missed.has(text)) {
      this.#missed.add(text);
      this.#missedLength += text.length;
    }
    return true;
  }

  /** Nothing unasked is ever finished. */
  end(): void {}

  /**
   * Takes a connection in the place of the former one: two would carry each change twice, and the former may be broken
   * without anybody having noticed. `from`: what followed there is told first.
   */
  async open(connection: EventStream, primed: boolean, from: EventPosition | undefined): Promise<void> {
    this.#stream?.closeEarly(undefined);
    const current = this.#stream;
    if (from !== undefined && current?.name === from.stream && (await current.resume(connection, from.sequence))) {
      return this.#catchUp(current);
    }
    if (from !== undefined && this.#log !== undefined) {
      await replay(this.#log, this.#session, from, () => connection);
    }
    // A newer connection may have come while the log was read; this one then gives way like any older one.
    this.#stream?.closeEarly(undefined);
    const stream = new ResumableStream('standing', this.#session, this.#log, this.#caller());
    this.#stream = stream;
    stream.open(connection, primed);
    this.#catchUp(stream);
  }

  #catchUp(stream: ResumableStream): void {
    for (const text of this.takeMissed()) stream.push(text);
  }

  takeMissed(): Iterable<string> {
    const missed = this.#missed;
    this.#missed = undefined;
    this.#missedLength = 0;
    return missed ?? [];
  }

  /** Goes on without a connection that is about to end. */
  detach(connection: EventStream): void {
    this.#stream?.detach(connection);
  }

  lost(connection: EventStream): void {
    this.#stream?.lost(connection);
  }

  close(): void {
    this.#stream?.end();
  }
}
