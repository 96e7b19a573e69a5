// The old transport of two endpoints: an event stream that names a second URL, to which messages are posted. The stream
// is the session; when it ends, so does the conversation.

import { type ClientError, clientErrors } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { EventReader } from './event-stream.ts';
import { HttpClient, mediaType, toRefusal } from './http-client.ts';
import type { HttpReply } from './http-wire.ts';
import type { Outgoing, Transport, TransportListener } from './transport.ts';

/** How long the server may take to name the second URL. */
const endpointMs = 15_000;
const noticeMs = 30_000;

export class SseTransport implements Transport {
  readonly kind = 'sse';
  readonly address: string;
  readonly #url: URL;
  readonly #options: ConnectOptions;
  readonly #maxMessageBytes: number;
  readonly #open = new Set<() => void>();
  #client!: HttpClient;
  #listener!: TransportListener;
  #endpoint: URL | undefined;
  #abortStream = (): void => {};
  #closed = false;

  constructor(url: URL, options: ConnectOptions, maxMessageBytes: number) {
    this.#url = url;
    this.address = url.href;
    this.#options = options;
    this.#maxMessageBytes = maxMessageBytes;
  }

  async open(listener: TransportListener): Promise<void> {
    this.#listener = listener;
    this.#client = await HttpClient.create(this.#url, this.#options);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#abortStream();
    }, endpointMs);
    try {
      const reply = await this.#client.send({
        what: 'the event stream',
        method: 'GET',
        headers: ['Accept', 'text/event-stream'],
        long: true,
        onSent: (abort) => {
          this.#abortStream = abort;
        },
      });
      if (reply.status !== 200) throw await toRefusal(this.address, 'the event stream', reply, false);
      if (mediaType(reply) !== 'text/event-stream') {
        reply.discard();
        const said = { status: reply.status };
        throw clientErrors.notAnAnswer(
          this.address,
          'GET',
          `${mediaType(reply) || 'no'} content instead of events`,
          said,
        );
      }
      await this.#follow(reply);
    } catch (error) {
      if (late) throw clientErrors.notAnAnswer(this.address, 'GET', 'a stream that names no endpoint', { status: 200 });
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  send(message: Outgoing): void {
    if (!this.#closed) void this.#post(message);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#abortStream();
    for (const abort of this.#open) abort();
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
        end: (error) => end(clientErrors.lost(this.address, error?.message ?? 'the event stream ended', '', error)),
      });
    });
  }

  /** Messages, and credentials with them, go to the origin that was asked for and to no other. */
  #checkEndpoint(data: string): URL {
    if (!URL.canParse(data, this.#client.url.href)) {
      throw clientErrors.notAnAnswer(this.address, 'GET', `an endpoint that is no URL: ${data}`, {});
    }
    const endpoint = new URL(data, this.#client.url);
    if (endpoint.origin === this.#client.url.origin) return endpoint;
    throw clientErrors.redirect(this.address, endpoint.href, 'the endpoint of its messages is on another origin');
  }

  async #post({ text, id, method = 'a message' }: Outgoing): Promise<void> {
    let abort = (): void => {};
    const timer = setTimeout(() => abort(), noticeMs);
    timer.unref();
    try {
      const reply = await this.#client.send({
        what: method,
        method: 'POST',
        url: this.#endpoint as URL,
        headers: ['Content-Type', 'application/json'],
        body: text,
        onSent: (stop) => {
          abort = stop;
          this.#open.add(stop);
        },
      });
      if (reply.status >= 200 && reply.status < 300) reply.discard();
      else throw await toRefusal(this.address, method, reply, false);
    } catch (error) {
      if (this.#closed) return;
      if (id === undefined) this.#listener.note(`${method} could not be delivered: ${(error as Error).message}`);
      else this.#listener.fail(id, error as ClientError);
    } finally {
      clearTimeout(timer);
      this.#open.delete(abort);
    }
  }
}
