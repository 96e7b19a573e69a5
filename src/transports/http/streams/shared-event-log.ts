// The event log of a process on a bus: its own events are here, those of other processes are requested from them. With a log that
// all processes share, the events of a process that has ended are read there; without one they are lost.

import { isObject } from '../../../protocol/json-rpc.ts';
import type { Json, RequestId } from '../../../protocol/model.ts';
import type { Bus, EventLog, LoggedEvent, SharedEventLog, SharedStream } from '../../../protocol/ports.ts';
import { createEventLog } from './event-log.ts';
import { isPostStream, processOf } from './resumable-stream.ts';

/** How long another process may take to send logged events. */
const timeoutMs = 5_000;

export function shareEventLog(bus: Bus, serverName: string, shared?: SharedEventLog): EventLog {
  const topic = `events ${serverName}`;
  const own = createEventLog({}, Date.now, (session, stream, sequence) => {
    if (isPostStream(stream)) shared?.remove(session, stream, sequence);
  });
  bus.listen(topic, async (data) => {
    if (!isObject(data)) return null;
    const { session, stream, sequence } = data as { session: string; stream: string; sequence: number };
    return ((await own.after(session, stream, sequence)) ?? null) as Json;
  });
  const afterEnd = async (session: string, stream: string, sequence: number) =>
    eventsAfter(await shared?.read(session, stream), sequence);
  const log: EventLog = {
    append(session, stream, event, caller) {
      own.append(session, stream, event, caller);
      // Standalone streams carry changes, which every process remembers by itself: one change may reach thousands of streams.
      if (isPostStream(stream)) shared?.append(session, stream, event);
    },
    forget: (session) => own.forget(session),
    after(session, stream, sequence) {
      const process = processOf(stream);
      if (process === bus.process) return own.after(session, stream, sequence);
      if (!bus.processes.has(process)) return afterEnd(session, stream, sequence);
      return bus.request(process, topic, { session, stream, sequence }, timeoutMs).then(
        (events) => (events as unknown as readonly LoggedEvent[] | null) ?? undefined,
        // It has ended or does not respond; without a shared log the position is as unknown as after a restart.
        () => afterEnd(session, stream, sequence),
      );
    },
  };
  if (shared === undefined) return log;
  return {
    ...log,
    begin: (session, stream, requests) => shared.begin(session, stream, requests),
    finish: (session, stream) => shared.finish(session, stream),
    async unanswered(session, stream) {
      const process = processOf(stream);
      if (process === bus.process || bus.processes.has(process)) return [];
      const found = await shared.read(session, stream);
      return found === undefined || found.finished ? [] : unansweredOf(found);
    },
  };
}

function eventsAfter(stream: SharedStream | undefined, sequence: number): readonly LoggedEvent[] | undefined {
  const first = stream?.events[0];
  if (stream === undefined || first === undefined || sequence < first.sequence - 1) return undefined;
  // A later position than the last one is known too: its event was sent, and the process ended before it was copied.
  return stream.events.filter((event) => event.sequence > sequence);
}

function unansweredOf({ events, requests }: SharedStream): readonly RequestId[] {
  const answered = new Set<unknown>();
  for (const { text } of events) {
    // A batch is answered with a list.
    for (const message of text === '' ? [] : [JSON.parse(text) as unknown].flat()) {
      if (isObject(message) && message['method'] === undefined) answered.add(message['id']);
    }
  }
  return requests.filter((id) => !answered.has(id));
}
