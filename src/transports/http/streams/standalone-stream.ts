// The GET stream of a session: messages that belong to no request. While it is not connected, changes are buffered.

import type { Outlet } from '../../../protocol/exchange.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import type { EventStream } from './event-stream.ts';
import { type EventPosition, ResumableStream, replay } from './resumable-stream.ts';

/** Characters of all changes that are buffered for a session; stops long URIs from filling the memory. */
const maxMissedLength = 128 * 1024;

export class StandaloneStream implements Outlet {
  readonly #session: string;
  readonly #log: EventLog | undefined;
  readonly #maxMissed: number;
  readonly #caller: () => string;
  readonly #process: string | undefined;
  #stream: ResumableStream | undefined;
  /** Texts of changes, without duplicates. */
  #missed: Set<string> | undefined;
  #missedLength = 0;

  /**
   * `caller`: returns the caller of the session, whose limits logged events count against. `process`: the name of this
   * process on the bus.
   */
  constructor(session: string, log: EventLog | undefined, maxMissed: number, caller: () => string, process?: string) {
    this.#process = process;
    this.#session = session;
    this.#log = log;
    this.#maxMissed = maxMissed;
    this.#caller = caller;
  }

  get connected(): boolean {
    return this.#stream?.connected === true;
  }

  /** Input requests are sent on the stream of their call. */
  get duplex(): boolean {
    return false;
  }

  push(text: string): boolean {
    if (this.#stream?.connected === true) return this.#stream.push(text);
    this.#missed ??= new Set();
    const space = this.#missed.size < this.#maxMissed && this.#missedLength + text.length <= maxMissedLength;
    if (space && !this.#missed.has(text)) {
      this.#missed.add(text);
      this.#missedLength += text.length;
    }
    return true;
  }

  /** Not used: messages here are not responses. */
  end(): void {}

  /**
   * Replaces the connection: two would carry each change twice, and the former one may be lost without notice. `from`:
   * later events of that stream are sent first.
   */
  async open(connection: EventStream, primed: boolean, from: EventPosition | undefined): Promise<void> {
    this.#stream?.closeEarly(undefined);
    const current = this.#stream;
    if (from !== undefined && current?.name === from.stream && (await current.resume(connection, from.sequence))) {
      return this.#sendMissed(current);
    }
    if (from !== undefined && this.#log !== undefined) {
      await replay(this.#log, this.#session, from, () => connection);
    }
    // A newer connection may have been opened while the log was read; it is replaced like any other.
    this.#stream?.closeEarly(undefined);
    const stream = new ResumableStream('standalone', this.#session, this.#log, this.#caller(), this.#process);
    this.#stream = stream;
    stream.open(connection, primed);
    this.#sendMissed(stream);
  }

  #sendMissed(stream: ResumableStream): void {
    for (const text of this.takeMissed()) stream.push(text);
  }

  takeMissed(): Iterable<string> {
    const missed = this.#missed;
    this.#missed = undefined;
    this.#missedLength = 0;
    return missed ?? [];
  }

  /** True while that connection carries the stream. */
  carriedBy(connection: EventStream): boolean {
    return this.#stream?.carriedBy(connection) === true;
  }

  /** Continues without a connection that is about to end. */
  detach(connection: EventStream): void {
    this.#stream?.detach(connection);
  }

  /** False when it is not the current connection any more. */
  lost(connection: EventStream): boolean {
    return this.#stream?.lost(connection) === true;
  }

  /** Ends the connection: the client has opened the stream elsewhere. */
  release(): void {
    this.#stream?.closeEarly(undefined);
  }

  close(): void {
    this.#stream?.end();
  }
}
