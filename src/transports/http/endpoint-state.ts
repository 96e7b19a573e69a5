// What all parts of one HTTP endpoint share: its limits, and what counts against them.

import { CallerBudget, callerKey } from '../../protocol/caller-budget.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { Logger } from '../../protocol/logger.ts';
import { methods } from '../../protocol/methods.ts';
import type { EventLog } from '../../protocol/ports.ts';
import { BufferedBytes } from './buffered-bytes.ts';
import type { AdmittedRequest } from './exchange.ts';
import { FairTurns } from './fair-turns.ts';
import type { HttpLimits } from './limits.ts';
import { Heartbeat } from './streams/event-stream.ts';

/** What a client sends to find out whether there is a server, and to begin: served in a crowd too. */
const reserved: ReadonlySet<unknown> = new Set([methods.ping.name, methods.initialize.name, methods.discover.name]);

/** Why a request can not be served now. */
export type Crowd = 'requests' | 'bytes';

export class EndpointState {
  readonly limits: HttpLimits;
  readonly logger: Logger;
  readonly log: EventLog | undefined;
  readonly beat: Heartbeat;
  /** Requests that wait for their answer. */
  readonly requests: CallerBudget;
  /** Event streams and WebSockets. */
  readonly streams: CallerBudget;
  readonly buffered: BufferedBytes;
  readonly turns = new FairTurns();

  constructor(limits: HttpLimits, logger: Logger, log: EventLog | undefined) {
    this.limits = limits;
    this.logger = logger;
    this.log = log;
    this.requests = new CallerBudget(limits.maxInFlight, limits.maxInFlightPerCaller);
    this.streams = new CallerBudget(limits.maxStreams, limits.maxStreamsPerCaller);
    this.buffered = new BufferedBytes(limits);
    this.beat = new Heartbeat(limits, this.streams, this.buffered, logger);
  }

  /** No caller can be served for now, whatever its share. */
  get overloaded(): boolean {
    return this.requests.held >= this.limits.maxInFlight || this.buffered.exhausted;
  }

  /** Something waits somewhere, so that `crowd` has to be asked. */
  get busy(): boolean {
    return this.requests.held > 0 || this.buffered.held > 0;
  }

  /** Whether the caller of a request may open one more stream. */
  mayStream(request: AdmittedRequest): boolean {
    return this.streams.held === 0 || !this.streams.isFull(callerKey(request));
  }

  /** What keeps a message from being served now, if anything. Only requests are kept back: the rest ends something. */
  crowd(request: AdmittedRequest, message: unknown): Crowd | undefined {
    if (!this.busy) return undefined;
    const { requests, buffered } = this;
    const wanted = demandOf(message);
    if (wanted === 'nothing') return undefined;
    const caller = callerKey(request);
    if (wanted === 'sign of life') {
      return requests.isFull(caller, this.limits.inFlightReserve) ? 'requests' : undefined;
    }
    if (requests.isFull(caller)) return 'requests';
    return buffered.isFull(caller) ? 'bytes' : undefined;
  }

  /** Sees to it that what fails after its request has been answered is logged, and does not end the process. */
  settle(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.logger.error('an exchange could not be ended', { error }));
  }
}

/** How much a message asks of us. */
function demandOf(message: unknown): 'work' | 'sign of life' | 'nothing' {
  if (Array.isArray(message)) return message.some((each) => demandOf(each) !== 'nothing') ? 'work' : 'nothing';
  if (!isObject(message) || message['method'] === undefined || message['id'] === undefined) return 'nothing';
  return reserved.has(message['method']) ? 'sign of life' : 'work';
}
