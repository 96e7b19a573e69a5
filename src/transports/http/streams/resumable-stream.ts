// An event stream that outlives its connection: events have ids and are logged, and a client that reconnects with the last
// id it received gets the events after it. Without a log it is a plain stream.

import type { WireError } from '../../../protocol/errors.ts';
import type { RequestId } from '../../../protocol/model.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import { type EventStream, eventText, type StreamConnection } from './event-stream.ts';

/** `post`: the response to one POST. `standalone`: messages that belong to no request. */
export type StreamKind = 'post' | 'standalone';

const prefixes: Readonly<Record<StreamKind, string>> = { post: 'p', standalone: 's' };
/** Names this process where there is no bus. Ids must not repeat within a session, restarts and replicas included. */
const processPart = crypto.randomUUID().slice(0, 8);
let counter = 0;

/** The position of an event in its stream. */
export interface EventPosition {
  readonly kind: StreamKind;
  readonly stream: string;
  readonly sequence: number;
}

/** Parses an event id of this server; undefined for anything else. */
export function parseEventId(id: string): EventPosition | undefined {
  const match = /^([ps][0-9a-f]{8}-[0-9a-z]{1,12})\.(\d{1,15})$/.exec(id);
  if (match === null) return undefined;
  const stream = match[1] as string;
  return { kind: isPostStream(stream) ? 'post' : 'standalone', stream, sequence: Number(match[2]) };
}

/** Whether a stream began as the response to a POST, by its name. */
export const isPostStream = (stream: string): boolean => stream.startsWith(prefixes.post);

/** The process that a stream belongs to, by its name. */
export const processOf = (stream: string): string => stream.slice(1, 9);

/** A call whose stream a client may resume. */
export interface Resumable {
  /** The requests that are answered on the stream. */
  readonly requestIds: readonly RequestId[];
  /** Gives the stream a new connection and sends what the client missed. False: that position is not known. */
  resume(connection: StreamConnection, after: number): Promise<boolean>;
  /** That connection was lost; the call continues. */
  lostConnection(connection: StreamConnection): void;
  /** The server is about to end that connection: the call ends too, unless its client can reconnect. */
  ending(connection: EventStream, error: WireError): void;
}

export class ResumableStream {
  readonly name: string;
  readonly #session: string;
  readonly #log: EventLog | undefined;
  readonly #caller: string | undefined;
  #connection: StreamConnection | undefined;
  #sequence = 0;

  /** `process`: the name of this process on the bus. */
  constructor(
    kind: StreamKind,
    session: string,
    log: EventLog | undefined,
    caller: string | undefined,
    process = processPart,
  ) {
    this.name = `${prefixes[kind]}${process}-${(counter++).toString(36)}`;
    this.#session = session;
    this.#log = log;
    this.#caller = caller;
  }

  get connected(): boolean {
    return this.#connection !== undefined;
  }

  /** True while a client can receive what is pushed, now or later. */
  get reachable(): boolean {
    return this.#connection !== undefined || this.#log !== undefined;
  }

  /**
   * The stream will answer these requests. Called before it is opened. If a promise is returned, no event may reach the client
   * before it has settled.
   */
  begin(requests: readonly RequestId[]): void | Promise<void> {
    return this.#log?.begin?.(this.#session, this.name, requests);
  }

  /** Connects for the first time. `primed`: sends an event id immediately, so that the client can reconnect. */
  open(connection: StreamConnection, primed: boolean, retryMs?: number): void {
    this.#connection = connection;
    if (!primed || this.#log === undefined) return;
    this.#log.append(this.#session, this.name, { sequence: 0, text: '' }, this.#caller);
    const retry = retryMs === undefined ? '' : `retry: ${retryMs}\n`;
    connection.write(`id: ${this.name}.0\n${retry}data: \n\n`);
  }

  /** False when it cannot be received any more. */
  push(text: string): boolean {
    if (this.#log === undefined) return this.#connection?.write(eventText(text)) ?? false;
    const sequence = ++this.#sequence;
    this.#log.append(this.#session, this.name, { sequence, text }, this.#caller);
    this.#connection?.write(eventText(text, `${this.name}.${sequence}`));
    return true;
  }

  /** Ends the connection but not the stream; `retryMs` is when the client should reconnect. */
  closeEarly(retryMs: number | undefined): void {
    const connection = this.#connection;
    this.#connection = undefined;
    if (retryMs !== undefined) connection?.write(`retry: ${retryMs}\n\n`);
    connection?.end();
  }

  /** True while the stream uses that connection. */
  carriedBy(connection: StreamConnection): boolean {
    return this.#connection === connection;
  }

  /** Continues without a connection that is about to end. */
  detach(connection: StreamConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
  }

  /** The connection was lost. False when it is not the current one any more. */
  lost(connection: StreamConnection): boolean {
    connection.gone();
    if (this.#connection !== connection) return false;
    this.#connection = undefined;
    return true;
  }

  end(): void {
    this.#connection?.end();
    this.#connection = undefined;
  }

  /** Ends the stream with a last message; undefined: it has none. A promise is returned if its copy is waited for. */
  finish(text: string | undefined): void | Promise<void> {
    const log = this.#log;
    if (log?.finish === undefined || text === undefined) {
      if (text !== undefined) this.push(text);
      // Without a message there is nothing to wait for.
      void log?.finish?.(this.#session, this.name);
      return this.end();
    }
    const sequence = ++this.#sequence;
    log.append(this.#session, this.name, { sequence, text }, this.#caller);
    const connection = this.#connection;
    return log.finish(this.#session, this.name)?.then(() => {
      // A client that resumed the stream meanwhile has got the message from the log.
      if (this.#connection === connection) connection?.write(eventText(text, `${this.name}.${sequence}`));
      this.end();
    });
  }

  /** Replaces the connection and sends the events after `after` on the new one. False: that position is not known. */
  async resume(connection: StreamConnection, after: number): Promise<boolean> {
    if (after > this.#sequence) return false;
    this.closeEarly(undefined);
    let sent = after;
    while (sent < this.#sequence) {
      // Events that are pushed while the log is read are only logged; the next iteration finds them.
      const events = await this.#log?.after(this.#session, this.name, sent);
      if (events === undefined) return false;
      for (const { sequence, text } of events) {
        if (text !== '') connection.write(eventText(text, `${this.name}.${sequence}`));
        sent = sequence;
      }
    }
    // If the client resumed it on another connection meanwhile, this one replaces that.
    this.closeEarly(undefined);
    this.#connection = connection;
    return true;
  }
}

/** Sends the later events of a stream that has ended, or belongs to another process. False: not known. */
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
