// The in-memory EventLog: the recent events of the streams of all sessions, bounded by count, bytes and age. It is lost
// with the process, so streams cannot be resumed after a restart.

import type { EventLog, LoggedEvent } from '../../../protocol/ports.ts';

export interface EventLogLimits {
  /** Stops many small events from filling the memory. */
  readonly maxEvents: number;
  /** Stops a few large ones from doing so. Two bytes per character are counted. */
  readonly maxBytes: number;
  /** Stops one caller from pushing out the events of all others. */
  readonly maxEventsPerCaller: number;
  readonly maxBytesPerCaller: number;
  /** A client that reconnects later must send its request again. */
  readonly maxAgeMs: number;
}

const defaultEventLogLimits: EventLogLimits = {
  maxEvents: 20_000,
  maxBytes: 32 * 1024 * 1024,
  maxEventsPerCaller: 5_000,
  maxBytesPerCaller: 8 * 1024 * 1024,
  maxAgeMs: 5 * 60_000,
};

interface LoggedStreamEvent extends LoggedEvent {
  /** Undefined once the event was removed. */
  stream: Stream | undefined;
  text: string;
  readonly atMs: number;
}

interface Stream {
  readonly session: string;
  readonly name: string;
  readonly caller: string;
  readonly events: LoggedStreamEvent[];
  /** The newest event that was removed; all later ones are here. */
  removed: number;
}

const entryBytes = 120;

/** Events of a stream up to this one were removed, because there was no space for them; `Infinity`: all of them. */
export type OnRemoved = (session: string, stream: string, sequence: number) => void;

/** Creates a log that removes the oldest events first: of a caller that has too many, then of all. */
export function createEventLog(
  limits: Partial<EventLogLimits> = {},
  now: () => number = Date.now,
  onRemoved: OnRemoved = () => {},
): EventLog {
  const { maxEvents, maxBytes, maxEventsPerCaller, maxBytesPerCaller, maxAgeMs } = {
    ...defaultEventLogLimits,
    ...limits,
  };
  const sessions = new Map<string, Map<string, Stream>>();
  const all = new EventsByAge();
  const callers = new Map<string, EventsByAge>();

  /** A stream that is new here may have had earlier events, which were removed with it. */
  function streamOf(session: string, name: string, sequence: number, caller: string): Stream {
    let streams = sessions.get(session);
    if (streams === undefined) sessions.set(session, (streams = new Map()));
    let stream = streams.get(name);
    if (stream === undefined) {
      stream = { session, name, caller, events: [], removed: sequence - 1 };
      streams.set(name, stream);
    }
    return stream;
  }

  function entriesOf(caller: string): EventsByAge {
    let entries = callers.get(caller);
    if (entries === undefined) callers.set(caller, (entries = new EventsByAge()));
    return entries;
  }

  function remove(entry: LoggedStreamEvent, { caller }: Stream): void {
    all.remove(entry);
    const own = callers.get(caller);
    own?.remove(entry);
    if (own?.count === 0) callers.delete(caller);
    entry.stream = undefined;
    entry.text = '';
  }

  /** Removes the oldest event of a stream. */
  function drop(entry: LoggedStreamEvent): void {
    const stream = entry.stream as Stream;
    if (entry.atMs > now() - maxAgeMs) onRemoved(stream.session, stream.name, entry.sequence);
    stream.events.shift();
    stream.removed = entry.sequence;
    remove(entry, stream);
    if (stream.events.length > 0) return;
    const streams = sessions.get(stream.session);
    streams?.delete(stream.name);
    if (streams?.size === 0) sessions.delete(stream.session);
  }

  function dropOldest(entries: EventsByAge, isTooMuch: (oldest: LoggedStreamEvent) => boolean): void {
    for (let oldest = entries.oldest(); oldest !== undefined && isTooMuch(oldest); oldest = entries.oldest()) {
      drop(oldest);
    }
  }

  function makeRoom(): void {
    const tooOld = now() - maxAgeMs;
    dropOldest(all, ({ atMs }) => all.count > maxEvents || all.bytes > maxBytes || atMs <= tooOld);
  }

  return {
    append(session, name, { sequence, text }, caller = session) {
      const stream = streamOf(session, name, sequence, caller);
      const entry: LoggedStreamEvent = { stream, sequence, text, atMs: now() };
      const own = entriesOf(stream.caller);
      stream.events.push(entry);
      all.add(entry);
      own.add(entry);
      dropOldest(own, () => own.count > maxEventsPerCaller || own.bytes > maxBytesPerCaller);
      makeRoom();
    },
    after(session, name, sequence) {
      makeRoom();
      const stream = sessions.get(session)?.get(name);
      if (stream === undefined || sequence < stream.removed) return undefined;
      const last = stream.events.at(-1)?.sequence ?? stream.removed;
      if (sequence > last) return undefined;
      return stream.events.filter((each) => each.sequence > sequence).map(({ sequence, text }) => ({ sequence, text }));
    },
    forget(session) {
      for (const stream of sessions.get(session)?.values() ?? []) {
        for (const entry of stream.events) remove(entry, stream);
        onRemoved(session, stream.name, Number.POSITIVE_INFINITY);
      }
      sessions.delete(session);
      makeRoom();
    },
  };
}

/** Events by age, oldest first. Removed ones stay in the list as gaps until there are more gaps than events. */
class EventsByAge {
  #list: LoggedStreamEvent[] = [];
  #head = 0;
  count = 0;
  bytes = 0;

  add(entry: LoggedStreamEvent): void {
    this.#list.push(entry);
    this.count++;
    this.bytes += sizeOf(entry);
  }

  /** Must be called while the entry has its stream and text. */
  remove(entry: LoggedStreamEvent): void {
    this.count--;
    this.bytes -= sizeOf(entry);
  }

  oldest(): LoggedStreamEvent | undefined {
    while (this.#head < this.#list.length && this.#list[this.#head]?.stream === undefined) this.#head++;
    const gaps = this.#list.length - this.count;
    if (gaps > 64 && gaps * 2 > this.#list.length) {
      this.#list = this.#list.filter(({ stream }) => stream !== undefined);
      this.#head = 0;
    }
    return this.#list[this.#head];
  }
}

function sizeOf({ text }: LoggedEvent): number {
  return text.length * 2 + entryBytes;
}
