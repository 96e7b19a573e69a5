// Streams of events over HTTP, with what sessions add: a standalone stream for messages that no request asked for, and resuming a
// broken stream up again where it broke.

import { type ClientError, clientErrors } from '../errors.ts';
import { EventReader } from './event-stream.ts';
import { type HttpClient, mediaType, toErrorInfo } from './http-client.ts';
import type { HttpReply } from './http-wire.ts';
import { LongBodies, type LongBody } from './long-bodies.ts';
import type { TransportListener } from './transport.ts';

/** How a stream ended, and where it could continue. */
export interface EventStreamEnd {
  readonly lastEventId: string | undefined;
  readonly retryMs: number | undefined;
  readonly error: Error | undefined;
  readonly tooLarge: boolean;
  /** Something arrived: distinguishes a server that works from one that only breaks connections. */
  readonly receivedAny: boolean;
}

/** Pause before reconnecting, unless the server asks for another. */
const defaultRetryMs = 1_000;
const maxRetryMs = 30_000;
/** Attempts in a row that bring nothing. */
const maxFailedAttempts = 6;
/** Some servers send nothing before the first event; how long to wait for a sign of the stream. */
const openMs = 3_000;

/**
 * Reads a reply to its end, or to the response. `during`: the request that it responds to. `longBodies`: a long event counts as a
 * long body while it is read. Never rejects.
 */
export function readEvents(
  reply: HttpReply,
  listener: TransportListener,
  maxLength: number,
  before?: EventStreamEnd,
  during?: number,
  longBodies = new LongBodies(),
): Promise<EventStreamEnd> {
  return new Promise((resolve) => {
    let receivedAny = false;
    let tooLarge = false;
    let long: LongBody | undefined;
    const endLong = (): void => {
      long?.end();
      long = undefined;
    };
    const reader = new EventReader(
      {
        event(data, type) {
          receivedAny = true;
          if (type === 'message') listener.receive(data, during);
          // Nothing follows the response. A server that leaves the stream open must not use up the connections.
          if (during === undefined || listener.isPending(during)) return;
          reply.discard();
          finish();
        },
        tooLarge() {
          tooLarge = true;
          reply.discard();
          finish();
        },
      },
      maxLength,
    );
    reader.lastEventId = before?.lastEventId;
    reader.retryMs = before?.retryMs;
    const finish = (error?: Error): void => {
      endLong();
      reader.close();
      const { lastEventId, retryMs } = reader;
      resolve({
        lastEventId,
        retryMs,
        error,
        tooLarge,
        receivedAny: receivedAny || lastEventId !== before?.lastEventId,
      });
    };
    reply.read({
      chunk(bytes) {
        reader.push(bytes);
        if (!longBodies.isLong(reader.unfinished)) endLong();
        else if (long === undefined) {
          long = longBodies.begin();
          return long.turn;
        }
        return undefined;
      },
      end: finish,
    });
  });
}

interface EventStreamOptions {
  readonly headers: () => readonly string[];
  readonly maxLength: number;
}

function openStream(
  client: HttpClient,
  { headers }: EventStreamOptions,
  lastEventId: string | undefined,
  onSent: (abort: () => void) => void,
): Promise<HttpReply> {
  const resume = lastEventId === undefined ? [] : ['Last-Event-ID', lastEventId];
  return client.send({
    what: 'the event stream',
    method: 'GET',
    headers: ['Accept', 'text/event-stream', ...headers(), ...resume],
    long: true,
    onSent,
  });
}

/** Continues to read a stream that ended before the response came, for as long as it is wanted. */
export async function resumeStream(
  client: HttpClient,
  listener: TransportListener,
  first: EventStreamEnd,
  options: EventStreamOptions & {
    readonly during: number;
    readonly wanted: () => boolean;
    readonly onSent: (abort: () => void) => void;
  },
): Promise<EventStreamEnd> {
  let end = first;
  for (let vain = 0; vain < maxFailedAttempts && end.lastEventId !== undefined && !end.tooLarge && options.wanted(); ) {
    await readRest(waitMs(end, vain), options.onSent);
    if (!options.wanted()) return end;
    try {
      const reply = await openStream(client, options, end.lastEventId, options.onSent);
      if (!isStream(reply)) throw await toErrorInfo(client.url.href, 'to continue a stream', reply, true);
      end = await readEvents(reply, listener, options.maxLength, end, options.during);
      vain = end.receivedAny ? 0 : vain + 1;
    } catch (error) {
      const { code, serverError: { status } = {} } = error as ClientError;
      // A request whose response has begun may have run, so it must not be sent again as one that was rejected.
      if (code === 'session-lost')
        throw clientErrors.lost(client.url.href, 'its session ended before the response', '', error);
      if (status !== undefined && status < 500) throw error;
      end = { ...end, error: error as Error };
      vain++;
    }
  }
  return end;
}

/** The stream for messages that no request asked for. */
export class ServerMessageStream {
  readonly #client: HttpClient;
  readonly #listener: TransportListener;
  readonly #options: EventStreamOptions & { readonly session: boolean };
  #abort = (): void => {};
  #onOpen = (): void => {};
  #closed = false;

  constructor(
    client: HttpClient,
    listener: TransportListener,
    options: EventStreamOptions & { readonly session: boolean },
  ) {
    this.#client = client;
    this.#listener = listener;
    this.#options = options;
  }

  /** Opens it and keeps it open. Resolves when it is, when there is none, or when it takes long: then without it. */
  open(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, openMs);
      this.#onOpen = () => {
        clearTimeout(timer);
        resolve();
      };
      void this.#run().finally(this.#onOpen);
    });
  }

  /** Until closed, or until the server has none. */
  async #run(): Promise<void> {
    let end: EventStreamEnd | undefined;
    for (let vain = 0; !this.#closed; ) {
      try {
        const reply = await openStream(this.#client, this.#options, end?.lastEventId, (abort) => {
          this.#abort = abort;
        });
        if (this.#closed) return reply.discard();
        if (!isStream(reply)) {
          await this.#rejected(reply);
          return;
        }
        this.#onOpen();
        end = await readEvents(reply, this.#listener, this.#options.maxLength, end);
        vain = end.receivedAny ? 0 : vain + 1;
      } catch (error) {
        if (this.#closed || isFinal(error)) return;
        vain++;
      }
      if (this.#closed) return;
      if (vain > maxFailedAttempts) {
        this.#listener.reportUnexpected('an event stream that ends as soon as it is opened');
        return;
      }
      await readRest(waitMs(end, vain), (wake) => {
        this.#abort = wake;
      });
    }
  }

  close(): void {
    this.#closed = true;
    this.#abort();
  }

  /** Most errors mean that the server has no such stream, which is allowed; an unknown session ends ours. */
  async #rejected(reply: HttpReply): Promise<void> {
    if (!this.#options.session || ![400, 404].includes(reply.status)) return reply.discard();
    const error = await toErrorInfo(this.#client.url.href, 'the event stream', reply, true);
    if (error.code === 'session-lost' && !this.#closed) this.#listener.lost(error);
  }
}

function isStream(reply: HttpReply): boolean {
  return reply.status === 200 && mediaType(reply) === 'text/event-stream';
}

/** Retrying would change nothing: the credentials or the request are rejected. */
function isFinal(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string };
  return name === 'AuthError' || code === 'configuration' || code === 'redirect-rejected' || code === 'unauthorized';
}

function waitMs(end: EventStreamEnd | undefined, vain: number): number {
  // A pause that the server asks for is kept exactly; without messages, pauses grow.
  const base = end?.retryMs ?? defaultRetryMs;
  return vain === 0 ? base : Math.min(Math.max(base, 100) * 2 ** vain, Math.max(maxRetryMs, base));
}

/** Waits; the function that aborts a request also ends the pause. */
function readRest(ms: number, onRest: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    onRest(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
