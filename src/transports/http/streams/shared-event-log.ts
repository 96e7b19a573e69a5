// The event log of a process on a bus: its own events are here, those of other processes are requested from them. What a
// process has logged is lost when it ends.

import { isObject } from '../../../protocol/json-rpc.ts';
import type { Json } from '../../../protocol/model.ts';
import type { Bus, EventLog, LoggedEvent } from '../../../protocol/ports.ts';
import { processOf } from './resumable-stream.ts';

/** How long another process may take to send logged events. */
const timeoutMs = 5_000;

export function shareEventLog(own: EventLog, bus: Bus, serverName: string): EventLog {
  const topic = `events ${serverName}`;
  bus.listen(topic, async (data) => {
    if (!isObject(data)) return null;
    const { session, stream, sequence } = data as { session: string; stream: string; sequence: number };
    return ((await own.after(session, stream, sequence)) ?? null) as Json;
  });
  return {
    append: (session, stream, event, caller) => own.append(session, stream, event, caller),
    forget: (session) => own.forget(session),
    after(session, stream, sequence) {
      const process = processOf(stream);
      if (process === bus.process) return own.after(session, stream, sequence);
      if (!bus.processes.has(process)) return undefined;
      return bus.request(process, topic, { session, stream, sequence }, timeoutMs).then(
        (events) => (events as unknown as readonly LoggedEvent[] | null) ?? undefined,
        // It has ended or does not respond; then the position is as unknown as after a restart.
        () => undefined,
      );
    },
  };
}
