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
  /** Undefined once its session has been forgotten. */
  stream: Stream | undefined;
  text: string;
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
  let forgotten = 0;

  /** A stream that is new here may have had events before, which were forgotten with it. */
  function streamOf(session: string, name: string, sequence: number): Stream {
    let streams = sessions.get(session);
    if (streams === undefined) sessions.set(session, (streams = new Map()));
    let stream = streams.get(name);
    if (stream === undefined) streams.set(name, (stream = { session, name, events: [], forgotten: sequence - 1 }));
    return stream;
  }

  function drop(entry: Entry): void {
    const { stream } = entry;
    if (stream === undefined) {
      forgotten--;
      return;
    }
    // Events of a stream leave in the order they came.
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
    // What is gone from the front or the middle is given back once it is the larger part.
    if (head + forgotten > 1024 && (head + forgotten) * 2 > queue.length) {
      queue = queue.filter((each) => each?.stream !== undefined);
      head = 0;
      forgotten = 0;
    }
  }

  return {
    append(session, name, { sequence, text }) {
      const stream = streamOf(session, name, sequence);
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
          forgotten++;
          entry.text = '';
          entry.stream = undefined;
        }
      }
      sessions.delete(session);
      makeRoom();
    },
  };
}

function sizeOf({ text }: LoggedEvent): number {
  return text.length * 2 + entryBytes;
}
