// What all parts of one HTTP endpoint share: its limits, and what counts against them.

import type { Logger } from '../../protocol/log.ts';
import type { EventLog } from '../../protocol/ports.ts';
import { Heartbeat } from './event-stream.ts';
import type { HttpLimits } from './limits.ts';

export class EndpointState {
  readonly limits: HttpLimits;
  readonly logger: Logger;
  readonly beat: Heartbeat;
  readonly log: EventLog | undefined;
  /** Exchanges of the whole endpoint that wait for their answer. */
  inFlight = 0;

  constructor(limits: HttpLimits, logger: Logger, log: EventLog | undefined) {
    this.limits = limits;
    this.logger = logger;
    this.beat = new Heartbeat(limits.heartbeatMs, limits.maxQueuedBytes, logger);
    this.log = log;
  }

  /** Sees to it that what fails after its request has been answered is logged, and does not end the process. */
  settle(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.logger.error('an exchange could not be ended', { error }));
  }
}
