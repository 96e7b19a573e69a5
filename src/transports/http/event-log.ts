// The in-memory EventLog: what the streams of all sessions carried lately, bounded by count, bytes and age. Ends with
// the process, so streams can not be resumed after a restart.

import type { EventLog, LoggedEvent } from '../../protocol/ports.ts';

export interface EventLogLimits {
  /** Stops many small events from filling the memory. */
  readonly maxEvents: number;
  /** Stops a few large ones from doing so. Two bytes per character are counted. */
  readonly maxBytes: number;
  /** A client that has not come back by then starts anew. */
  readonly maxAgeMs: number;
}

export const defaultEventLogLimits: EventLogLimits = {
  maxEvents: 20_000,
  maxBytes: 32 * 1024 * 1024,
  maxAgeMs: 5 * 60_000,
};

interface Entry extends LoggedEvent {
  readonly stream: Stream;
  readonly atMs: number;
}

interface Stream {
  readonly session: string;
  readonly name: string;
  readonly events: Entry[];
  /** The newest event that is not here any more; what followed it is complete. */
  forgotten: number;
}

const entryBytes = 120;

/** Makes a log that forgets the oldest events of all streams first. */
export function createEventLog(limits: Partial<EventLogLimits> = {}, now: () => number = Date.now): EventLog {
  const { maxEvents, maxBytes, maxAgeMs } = { ...defaultEventLogLimits, ...limits };
  const sessions = new Map<string, Map<string, Stream>>();
  // A queue of all events by age: a list with a moving head, cut off when the head has become its larger part.
  let queue: (Entry | undefined)[] = [];
  let head = 0;
  let bytes = 0;
  let count = 0;

  function streamOf(session: string, name: string): Stream {
    let streams = sessions.get(session);
    if (streams === undefined) sessions.set(session, (streams = new Map()));
    let stream = streams.get(name);
    if (stream === undefined) streams.set(name, (stream = { session, name, events: [], forgotten: -1 }));
    return stream;
  }

  function drop(entry: Entry): void {
    const { stream } = entry;
    // Events of a stream leave in the order they came; one whose session was forgotten has left already.
    if (stream.events[0] !== entry) return;
    stream.events.shift();
    stream.forgotten = entry.sequence;
    count--;
    bytes -= sizeOf(entry);
    if (stream.events.length > 0) return;
    const streams = sessions.get(stream.session);
    streams?.delete(stream.name);
    if (streams?.size === 0) sessions.delete(stream.session);
  }

  function makeRoom(): void {
    const oldest = now() - maxAgeMs;
    while (head < queue.length) {
      const entry = queue[head] as Entry;
      if (count <= maxEvents && bytes <= maxBytes && entry.atMs > oldest) break;
      queue[head++] = undefined;
      drop(entry);
    }
    if (head > 1024 && head * 2 > queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
  }

  return {
    append(session, name, { sequence, text }) {
      const stream = streamOf(session, name);
      const entry: Entry = { stream, sequence, text, atMs: now() };
      stream.events.push(entry);
      queue.push(entry);
      count++;
      bytes += sizeOf(entry);
      makeRoom();
    },
    after(session, name, sequence) {
      makeRoom();
      const stream = sessions.get(session)?.get(name);
      if (stream === undefined || sequence < stream.forgotten) return undefined;
      const last = stream.events.at(-1)?.sequence ?? stream.forgotten;
      if (sequence > last) return undefined;
      return stream.events.filter((each) => each.sequence > sequence).map(({ sequence, text }) => ({ sequence, text }));
    },
    forget(session) {
      for (const stream of sessions.get(session)?.values() ?? []) {
        for (const entry of stream.events) {
          count--;
          bytes -= sizeOf(entry);
        }
        stream.events.length = 0;
      }
      sessions.delete(session);
    },
  };
}

function sizeOf({ text }: LoggedEvent): number {
  return text.length * 2 + entryBytes;
}
