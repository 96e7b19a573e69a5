// The old transport of two endpoints: an event stream that names a second URL, to which messages are posted. The stream
// is the session; when it ends, so does the connection.

import { type ClientError, clientErrors } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { EventReader } from './event-stream.ts';
import { HttpClient, maxPosted, mediaType, toErrorInfo } from './http-client.ts';
import type { HttpReply } from './http-wire.ts';
import type { Outgoing, Transport, TransportListener } from './transport.ts';

/** How long the server may take to name the second URL. */
const endpointMs = 15_000;
/** Messages without a response have a time limit, too. */
const notificationTimeoutMs = 30_000;

/** A server at two URLs, of which the first names the second. */
export class SseTransport implements Transport {
  readonly kind = 'sse';
  readonly address: string;
  /** What messages call it. */
  readonly #server: string;
  readonly #url: URL;
  readonly #options: ConnectOptions;
  readonly #maxMessageBytes: number;
  /** POSTs in flight that belong to a request, and those that do not. */
  readonly #open = new Map<number, () => void>();
  readonly #notices = new Set<() => void>();
  #posted = 0;
  #client!: HttpClient;
  #listener!: TransportListener;
  #endpoint: URL | undefined;
  #abortStream = (): void => {};
  #closed = false;

  constructor(url: URL, options: ConnectOptions, maxMessageBytes: number) {
    this.#url = url;
    this.address = url.href;
    this.#server = options.serverName ?? url.href;
    this.#options = options;
    this.#maxMessageBytes = maxMessageBytes;
  }

  get protocolVersion(): string | undefined {
    return this.#client?.httpVersion;
  }

  async open(listener: TransportListener): Promise<void> {
    this.#listener = listener;
    this.#client = await HttpClient.create(this.#url, this.#options, listener);
    const reply = await this.#client.send({
      what: 'the event stream',
      method: 'GET',
      headers: ['Accept', 'text/event-stream'],
      long: true,
      onSent: (abort) => {
        this.#abortStream = abort;
      },
    });
    const { status } = reply;
    if (status !== 200) throw await toErrorInfo(this.#server, 'the event stream', reply, false);
    const type = mediaType(reply);
    if (type !== 'text/event-stream') {
      reply.discard();
      const why = `${type || 'no'} content instead of events`;
      throw clientErrors.unexpectedResponse(this.#server, 'GET', why, { status });
    }
    // Only now: a sign-in may have been necessary before the response.
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#abortStream();
    }, endpointMs);
    try {
      await this.#follow(reply);
    } catch (error) {
      if (late)
        throw clientErrors.unexpectedResponse(this.#server, 'GET', 'a stream that names no endpoint', { status: 200 });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  send(message: Outgoing): void {
    if (this.#closed || (message.droppable === true && this.#posted >= maxPosted)) return;
    if (message.id === undefined) void this.#notify(message);
    else void this.#request(message, message.id);
  }

  abandon(id: number): void {
    this.#open.get(id)?.();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#abortStream();
    for (const abort of [...this.#open.values(), ...this.#notices]) abort();
    this.#client?.close();
  }

  /** Reads the stream for good; resolves when the endpoint is known. */
  #follow(reply: HttpReply): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error: ClientError): void => {
        reader.close();
        reject(error);
        if (!this.#closed && this.#endpoint !== undefined) this.#listener.lost(error);
      };
      const reader = new EventReader(
        {
          event: (data, type) => {
            if (type === 'message') this.#listener.receive(data);
            else if (type === 'endpoint' && this.#endpoint === undefined) {
              try {
                this.#endpoint = this.#checkEndpoint(data);
                resolve();
              } catch (error) {
                reply.discard();
                end(error as ClientError);
              }
            }
          },
          tooLarge: () => {
            reply.discard();
            end(clientErrors.tooLarge('An event', this.#maxMessageBytes));
          },
        },
        this.#maxMessageBytes,
      );
      reply.read({
        chunk: (bytes) => reader.push(bytes),
        end: (error) => end(clientErrors.lost(this.#server, error?.message ?? 'the event stream ended', '', error)),
      });
    });
  }

  /** Messages, and credentials with them, go to the origin that was given and to no other. */
  #checkEndpoint(data: string): URL {
    if (!URL.canParse(data, this.#client.url.href)) {
      throw clientErrors.unexpectedResponse(this.#server, 'GET', `an endpoint that is not a URL: ${data}`, {});
    }
    const endpoint = new URL(data, this.#client.url);
    if (endpoint.origin === this.#client.url.origin) return endpoint;
    throw clientErrors.redirect(this.#server, endpoint.href, 'the endpoint of its messages is on another origin');
  }

  async #request(message: Outgoing, id: number): Promise<void> {
    try {
      await this.#post(message, (abort) => this.#open.set(id, abort));
    } catch (error) {
      if (!this.#closed) this.#listener.fail(id, error as ClientError);
    } finally {
      this.#open.delete(id);
    }
  }

  async #notify(message: Outgoing): Promise<void> {
    let abort = (): void => {};
    const timer = setTimeout(() => abort(), notificationTimeoutMs);
    timer.unref();
    this.#posted++;
    try {
      await this.#post(message, (stop) => {
        abort = stop;
        this.#notices.add(stop);
      });
    } catch (error) {
      const { method = 'a message' } = message;
      if (!this.#closed)
        this.#listener.reportUnexpected(`${method} could not be delivered: ${(error as Error).message}`);
    } finally {
      clearTimeout(timer);
      this.#posted--;
      this.#notices.delete(abort);
    }
  }

  async #post({ text, method = 'a message' }: Outgoing, onSent: (abort: () => void) => void): Promise<void> {
    const reply = await this.#client.send({
      what: method,
      method: 'POST',
      url: this.#endpoint as URL,
      headers: ['Content-Type', 'application/json'],
      body: text,
      onSent,
    });
    if (reply.status < 200 || reply.status > 299) throw await toErrorInfo(this.#server, method, reply, false);
    reply.discard();
  }
}
