// What all parts of one HTTP endpoint share: its limits, and the budgets that count against them.

import type { Logger } from '../../common/logger.ts';
import { CallerBudget, callerKey } from '../../protocol/callers/caller-budget.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import type { Bus, EventLog } from '../../protocol/ports.ts';
import { BufferedBytes } from './buffered-bytes.ts';
import type { AdmittedRequest } from './exchange.ts';
import { FairTurns } from './fair-turns.ts';
import type { HttpLimits } from './limits.ts';
import { Heartbeat } from './streams/event-stream.ts';

/** What clients send to check whether a server is alive, and to start: served beyond the limits for other requests. */
const essential: ReadonlySet<unknown> = new Set([methods.ping.name, methods.initialize.name, methods.discover.name]);

/** Which limit keeps a request from being served now: requests in flight, or buffered bytes. */
export type ExceededLimit = 'requests' | 'bytes';

export class EndpointState {
  readonly limits: HttpLimits;
  readonly logger: Logger;
  readonly log: EventLog | undefined;
  /** Connects this process with others that serve the same sessions. */
  readonly bus: Bus | undefined;
  readonly heartbeat: Heartbeat;
  /** Requests in flight. */
  readonly requests: CallerBudget;
  /** Event streams and WebSockets. */
  readonly streams: CallerBudget;
  readonly buffered: BufferedBytes;
  readonly turns = new FairTurns();

  constructor(limits: HttpLimits, logger: Logger, log: EventLog | undefined, bus?: Bus) {
    this.bus = bus;
    this.limits = limits;
    this.logger = logger;
    this.log = log;
    this.requests = new CallerBudget(limits.maxInFlight, limits.maxInFlightPerCaller);
    this.streams = new CallerBudget(limits.maxStreams, limits.maxStreamsPerCaller);
    this.buffered = new BufferedBytes(limits);
    this.heartbeat = new Heartbeat(limits, this.streams, this.buffered, this.turns, logger);
  }

  /** The limits for all callers together are reached. */
  get overloaded(): boolean {
    return this.requests.held >= this.limits.maxInFlight || this.buffered.exhausted;
  }

  /** False: nothing is in flight or buffered, so no limit can be exceeded. */
  get busy(): boolean {
    return this.requests.held > 0 || this.buffered.held > 0;
  }

  /** Whether the caller of a request may open one more stream. */
  mayStream(request: AdmittedRequest): boolean {
    return this.streams.held === 0 || !this.streams.isFull(callerKey(request));
  }

  /** The limit that keeps a message from being served now. Only requests are limited: other messages free resources. */
  exceededLimit(request: AdmittedRequest, message: unknown): ExceededLimit | undefined {
    if (!this.busy) return undefined;
    const { requests, buffered } = this;
    const weight = weightOf(message);
    if (weight === 'none') return undefined;
    const caller = callerKey(request);
    if (weight === 'essential') {
      return requests.isFull(caller, this.limits.inFlightReserve) ? 'requests' : undefined;
    }
    if (requests.isFull(caller)) return 'requests';
    return buffered.isFull(caller) ? 'bytes' : undefined;
  }

  /** Logs the failure of work whose request was answered already, so that it does not end the process. */
  logRejection(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.logger.error('a call could not be ended', { error }));
  }
}

/** How a message counts: a request as `full`, a request that must get through as `essential`. */
function weightOf(message: unknown): 'full' | 'essential' | 'none' {
  if (Array.isArray(message)) return message.some((each) => weightOf(each) !== 'none') ? 'full' : 'none';
  if (!isObject(message) || message['method'] === undefined || message['id'] === undefined) return 'none';
  return essential.has(message['method']) ? 'essential' : 'full';
}
