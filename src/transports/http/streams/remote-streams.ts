// Streams whose call runs in one process and whose client has reconnected to another: the process of the call sends the
// events over the bus, and the one with the connection writes them.

import { isObject } from '../../../protocol/json-rpc.ts';
import type { Json, RequestId } from '../../../protocol/model.ts';
import type { Bus } from '../../../protocol/ports.ts';
import type { EventStream, StreamConnection } from './event-stream.ts';
import { type EventPosition, processOf, type Resumable } from './resumable-stream.ts';

/** How long the process of a call may take to continue its stream elsewhere. If it ends meanwhile, that is noticed before. */
const timeoutMs = 15_000;

/** A client connection here, for a call elsewhere. */
export interface RemoteCall {
  readonly process: string;
  readonly session: string;
  readonly stream: string;
  /** The last event that was written. */
  sequence: number;
  readonly connection: EventStream;
  /** The requests that wait for a response; they are answered with an error if their process ends. */
  requests: readonly RequestId[];
}

/** Finds the running call behind a stream of this process. */
export type FindCall = (session: string, stream: string) => Resumable | undefined;

/** Sends the rest of a stream whose process has ended, and ends the connection. */
export type Recover = (call: RemoteCall) => void;

/** Whether a stream was continued: its call still runs, or it has ended and the rest of its events is in the log. */
export type Continued = 'running' | 'ended' | 'unknown' | 'recovered';

export class RemoteStreams {
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #recover: Recover;
  /** Connections of this process, by the id that the other process knows them by. */
  readonly #here = new Map<string, RemoteCall>();
  /** Calls of this process, by process and id of the connection. */
  readonly #elsewhere = new Map<string, { readonly call: Resumable; readonly connection: StreamConnection }>();
  #ids = 0;

  constructor(bus: Bus, serverName: string, find: FindCall, recover: Recover) {
    this.#bus = bus;
    this.#recover = recover;
    this.#topic = `streams ${serverName}`;
    bus.listen(this.#topic, (data, from) => this.#receive(data as unknown as StreamMessage, from, find));
    bus.onLeave((process) => this.#left(process));
    // Events may be missing: the clients reconnect, and get them from the log.
    bus.onGap(() => {
      for (const [id, { process, connection }] of this.#here) {
        this.#here.delete(id);
        this.#bus.send(process, this.#topic, { type: 'lost', id });
        connection.end();
      }
    });
  }

  /** Whether a stream belongs to a call of another process that is still there. */
  isElsewhere({ stream }: EventPosition): boolean {
    const process = processOf(stream);
    return process !== this.#bus.process && this.#bus.processes.has(process);
  }

  /** Continues the stream of a call of another process on a connection of this one. */
  async resume(session: string, { stream, sequence }: EventPosition, connection: EventStream): Promise<Continued> {
    const process = processOf(stream);
    const id = (++this.#ids).toString(36);
    const call: RemoteCall = { process, session, stream, sequence, connection, requests: [] };
    this.#here.set(id, call);
    const request: StreamMessage = { type: 'resume', session, stream, sequence, id };
    const found = await this.#bus
      .request(process, this.#topic, request as unknown as Json, timeoutMs)
      .catch((): Json => ({ continued: 'unknown' }));
    const { continued = 'unknown', requests = [] } = (isObject(found) ? found : {}) as Partial<ResumeResponse>;
    call.requests = requests;
    const isHere = this.#here.has(id);
    if (isHere && continued === 'running' && this.#bus.processes.has(process)) return continued;
    this.#here.delete(id);
    if (this.#bus.processes.has(process)) return continued;
    // Its process has ended, which may have been noticed before the response.
    if (isHere) this.#recover(call);
    return 'recovered';
  }

  /** The client of a connection of this process is gone, or the connection is about to end. */
  lost(connection: EventStream): void {
    connection.gone();
    for (const [id, call] of this.#here) {
      if (call.connection !== connection) continue;
      this.#here.delete(id);
      this.#bus.send(call.process, this.#topic, { type: 'lost', id });
    }
  }

  #receive(message: StreamMessage, from: string, find: FindCall): Json | undefined | Promise<Json> {
    switch (message.type) {
      case 'resume':
        return this.#continue(message, from, find(message.session, message.stream));
      case 'write': {
        const call = this.#here.get(message.id);
        if (call?.process !== from) return undefined;
        call.connection.write(message.text);
        call.sequence = sequenceOf(message.text) ?? call.sequence;
        return undefined;
      }
      case 'end': {
        const call = this.#here.get(message.id);
        if (call?.process !== from) return undefined;
        this.#here.delete(message.id);
        call.connection.end();
        return undefined;
      }
      case 'lost': {
        const key = `${from} ${message.id}`;
        const lost = this.#elsewhere.get(key);
        this.#elsewhere.delete(key);
        if (lost !== undefined) lost.call.lostConnection(lost.connection);
        return undefined;
      }
      default:
        return undefined;
    }
  }

  async #continue(message: ResumeMessage, from: string, call: Resumable | undefined): Promise<Json> {
    if (call === undefined) return { continued: 'ended' };
    const { id, sequence } = message;
    const key = `${from} ${id}`;
    const send = (sent: StreamMessage): void => this.#bus.send(from, this.#topic, sent as unknown as Json);
    const connection = new RemoteConnection(send, id, () => this.#elsewhere.delete(key));
    this.#elsewhere.set(key, { call, connection });
    const isKnown = await call.resume(connection, sequence);
    if (!isKnown) this.#elsewhere.delete(key);
    const response: ResumeResponse = { continued: isKnown ? 'running' : 'unknown', requests: call.requestIds };
    return response as unknown as Json;
  }

  #left(process: string): void {
    for (const [id, call] of this.#here) {
      if (call.process !== process) continue;
      this.#here.delete(id);
      this.#recover(call);
    }
    for (const [key, { call, connection }] of this.#elsewhere) {
      if (!key.startsWith(`${process} `)) continue;
      this.#elsewhere.delete(key);
      call.lostConnection(connection);
    }
  }
}

/** The sequence number in the id of an event, if it has one. */
function sequenceOf(text: string): number | undefined {
  const match = /^id: \S+\.(\d+)$/m.exec(text);
  return match === null ? undefined : Number(match[1]);
}

interface ResumeMessage {
  readonly type: 'resume';
  readonly session: string;
  readonly stream: string;
  readonly sequence: number;
  /** Names the connection in later messages. */
  readonly id: string;
}

interface ResumeResponse {
  readonly continued: Continued;
  readonly requests: readonly RequestId[];
}

type StreamMessage =
  | ResumeMessage
  | { readonly type: 'write'; readonly id: string; readonly text: string }
  | { readonly type: 'end' | 'lost'; readonly id: string };

/** A connection of another process, as the stream of a call sees it. */
class RemoteConnection implements StreamConnection {
  readonly #send: (message: StreamMessage) => void;
  readonly #id: string;
  readonly #onEnd: () => void;
  #open = true;

  constructor(send: (message: StreamMessage) => void, id: string, onEnd: () => void) {
    this.#send = send;
    this.#id = id;
    this.#onEnd = onEnd;
  }

  write(text: string): boolean {
    if (this.#open) this.#send({ type: 'write', id: this.#id, text });
    return this.#open;
  }

  end(): void {
    if (!this.#open) return;
    this.gone();
    this.#send({ type: 'end', id: this.#id });
  }

  gone(): void {
    this.#open = false;
    this.#onEnd();
  }
}
