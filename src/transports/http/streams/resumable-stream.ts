// An event stream that survives its connection: events carry ids and go to the log, and a client that comes back with
// the last id it saw gets what followed. Without a log it is a plain stream.

import type { WireError } from '../../../protocol/errors.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import { type EventStream, eventText } from './event-stream.ts';

/** `post`: what one request is answered with. `standing`: what no request asked for. */
export type StreamKind = 'post' | 'standing';

const prefixes: Readonly<Record<StreamKind, string>> = { post: 'p', standing: 's' };
/** Ids must not repeat within a session, restarts and replicas included. */
const processPart = crypto.randomUUID().slice(0, 8);
let counter = 0;

/** Where in a stream an event stands. */
export interface EventPosition {
  readonly kind: StreamKind;
  readonly stream: string;
  readonly sequence: number;
}

/** Reads an id given out earlier; undefined for anything else. */
export function parseEventId(id: string): EventPosition | undefined {
  const match = /^([ps][0-9a-f]{8}-[0-9a-z]{1,12})\.(\d{1,15})$/.exec(id);
  if (match === null) return undefined;
  const stream = match[1] as string;
  return { kind: stream.startsWith(prefixes.post) ? 'post' : 'standing', stream, sequence: Number(match[2]) };
}

/** A call whose stream a client may come back to. */
export interface Resumable {
  /** Gives the stream a new connection; what the client missed comes first. False: that place is not known. */
  resume(connection: EventStream, after: number): Promise<boolean>;
  /** That connection broke; the call goes on. */
  lostConnection(connection: EventStream): void;
  /** That connection is about to be ended by the server: the call ends too unless its client can come back for it. */
  ending(connection: EventStream, error: WireError): void;
}

export class ResumableStream {
  readonly name: string;
  readonly #session: string;
  readonly #log: EventLog | undefined;
  readonly #caller: string | undefined;
  #connection: EventStream | undefined;
  #sequence = 0;

  constructor(kind: StreamKind, session: string, log: EventLog | undefined, caller: string | undefined) {
    this.name = `${prefixes[kind]}${processPart}-${(counter++).toString(36)}`;
    this.#session = session;
    this.#log = log;
    this.#caller = caller;
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** True while a client can still get what is pushed, now or later. */
  get reachable(): boolean {
    return this.#connection !== undefined || this.#log !== undefined;
  }

  /** Connects for the first time. `primed`: the client is given an id at once, so that it can come back. */
  open(connection: EventStream, primed: boolean, retryMs?: number): void {
    this.#connection = connection;
    if (!primed || this.#log === undefined) return;
    this.#log.append(this.#session, this.name, { sequence: 0, text: '' }, this.#caller);
    const retry = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
    connection.write(`id: ${this.name}.0\n${retry}data: \n\n`);
  }

  /** False when nobody will ever see it. */
  push(text: string): boolean {
    if (this.#log === undefined) return this.#connection?.send(text) ?? false;
    const sequence = ++this.#sequence;
    this.#log.append(this.#session, this.name, { sequence, text }, this.#caller);
    this.#connection?.send(text, `${this.name}.${sequence}`);
    return true;
  }

  /** Ends the connection and goes on without one; the client was told when to come back. */
  closeEarly(retryMs: number | undefined): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (retryMs !== undefined) connection?.write(`retry: ${retryMs}\n\n`);
    connection?.end();
  }

  /** True while that connection is the one that carries the stream. */
  carriedBy(connection: EventStream): boolean {
    return this.#connection === connection;
  }

  /** Goes on without a connection that is about to end. */
  detach(connection: EventStream): void {
    if (this.#connection === connection) this.#connection = undefined;
  }

  /** The connection broke. False when it is not the current one any more. */
  lost(connection: EventStream): boolean {
    connection.gone();
    if (this.#connection !== connection) return false;
    this.#connection = undefined;
    return true;
  }

  end(): void {
    this.#connection?.end();
    this.#connection = undefined;
  }

  /** Takes a new connection in the place of the old one and tells it what followed `after`. False: not known. */
  async resume(connection: EventStream, after: number): Promise<boolean> {
    if (after > this.#sequence) return false;
    this.closeEarly(undefined);
    let announced = after;
    while (announced < this.#sequence) {
      // While a log takes its time, new events only go there; the next round finds them.
      const events = await this.#log?.after(this.#session, this.name, announced);
      if (events === undefined) return false;
      for (const { sequence, text } of events) {
        if (text !== '') connection.send(text, `${this.name}.${sequence}`);
        announced = sequence;
      }
    }
    // Whoever resumed it meanwhile is the same client, and comes later.
    this.closeEarly(undefined);
    this.#connection = connection;
    return true;
  }
}

/** Tells a connection what followed in a stream that has ended, or is unknown to this process. False: not known. */
export async function replay(
  log: EventLog,
  session: string,
  { stream, sequence }: EventPosition,
  connection: () => EventStream,
): Promise<boolean> {
  const events = await log.after(session, stream, sequence);
  if (events === undefined) return false;
  const open = connection();
  for (const each of events) {
    if (each.text !== '') open.write(eventText(each.text, `${stream}.${each.sequence}`));
  }
  return true;
}
