// What all parts of one HTTP endpoint share: its limits, and what counts against them.

import type { EventLog } from '../../protocol/ports.ts';
import type { Heartbeat } from './event-stream.ts';
import type { HttpLimits } from './limits.ts';

export interface EndpointState {
  readonly limits: HttpLimits;
  readonly beat: Heartbeat;
  readonly log: EventLog | undefined;
  /** Exchanges of the whole endpoint that wait for their answer. */
  inFlight: number;
}
