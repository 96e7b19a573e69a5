// One HTTP request of a client of `mooring dev --http`, forwarded to the process of the server and, if it opened an event
// stream that outlives requests, forwarded again to the process that replaces it.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { nodeHttp } from '../../common/builtins.ts';
import { parseJson } from '../../common/parse-json.ts';
import { errorRows } from '../../protocol/errors.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { List } from './http-messages.ts';
import { callOf, type RelayedCall } from './relayed-call.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages of clients are forwarded as they are, not validated
type Message = any;

/** The process of a server that accepts requests. */
export interface ListeningServer {
  readonly port: number;
  readonly lists: readonly List[];
}

/** Headers that are about one connection. */
const connectionHeaders = /^(?:connection|keep-alive|transfer-encoding|proxy-connection|upgrade)$/i;

export class ForwardedRequest {
  readonly #incoming: IncomingMessage;
  readonly #body: Buffer;
  readonly #response: ServerResponse;
  readonly #onFailed: (call: RelayedCall) => void;
  readonly #sinceMs = performance.now();
  readonly #messages: readonly Message[];
  /** A stream that outlives requests: that of a session, or a subscription. */
  readonly #isStream: boolean;
  #sent: ClientRequest | undefined;
  /** The response is a stream of events. */
  #hasEvents = false;

  /** `onFailed`: what `fail` responds to. The server reports all other calls. */
  constructor(
    incoming: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    onFailed: (call: RelayedCall) => void,
  ) {
    this.#incoming = incoming;
    this.#body = body;
    this.#response = response;
    this.#onFailed = onFailed;
    // A body that is not JSON is left to the server, which rejects it.
    this.#messages = [parseJson(body.toString())].flat();
    this.#isStream = incoming.method === 'GET' || this.#messages[0]?.method === 'subscriptions/listen';
  }

  get isSent(): boolean {
    return this.#sent !== undefined;
  }

  /** A stream that the client has open. */
  get isOpenStream(): boolean {
    return this.#isStream && this.#hasEvents;
  }

  /** Forwards the request. Resolves when the response begins, or when it is certain that there is none. */
  send(server: ListeningServer): Promise<void> {
    return new Promise((resolve) => this.#send(server, resolve));
  }

  #send({ port, lists }: ListeningServer, begun: () => void): void {
    if (this.#response.writableEnded) return begun();
    const again = this.#response.headersSent;
    const { method, url, rawHeaders } = this.#incoming;
    const headers: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string;
      // The new server does not know the events of the one before.
      if (connectionHeaders.test(name) || (again && /^last-event-id$/i.test(name))) continue;
      headers.push(name, rawHeaders[at + 1] as string);
    }
    const sent = nodeHttp().request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (reply) => {
      if (again) this.#continue(reply, lists);
      else this.#begin(reply);
      begun();
    });
    this.#sent = sent;
    // The process has ended: `interrupt` or `fail` decides what the client gets.
    sent.on('error', begun);
    sent.on('close', begun);
    sent.end(this.#body);
  }

  #begin(reply: IncomingMessage): void {
    const headers: string[] = [];
    for (let at = 0; at < reply.rawHeaders.length; at += 2) {
      if (connectionHeaders.test(reply.rawHeaders[at] as string)) continue;
      headers.push(reply.rawHeaders[at] as string, reply.rawHeaders[at + 1] as string);
    }
    this.#hasEvents = reply.headers['content-type']?.startsWith('text/event-stream') === true;
    this.#response.writeHead(reply.statusCode ?? 502, headers);
    // The client of an event stream waits for them, and the first event may come much later.
    this.#response.flushHeaders();
    this.#pipe(reply);
  }

  /** The stream is open again, on a restarted server whose lists may have changed. */
  #continue(reply: IncomingMessage, lists: readonly List[]): void {
    if (reply.statusCode !== 200) {
      this.#response.end();
      return;
    }
    const [listen] = this.#messages;
    const filter = listen?.params?.notifications;
    const params = listen === undefined ? {} : { params: { _meta: { [metaKeys.subscriptionId]: listen.id } } };
    for (const list of lists) {
      if (listen !== undefined && filter?.[`${list}ListChanged`] !== true) continue;
      this.#event({ jsonrpc: '2.0', method: `notifications/${list}/list_changed`, ...params });
    }
    if (listen === undefined) this.#pipe(reply);
    else this.#pipeAfterAcknowledgement(reply);
  }

  #pipe(reply: IncomingMessage): void {
    reply.on('data', (chunk: Buffer) => {
      if (!this.#response.write(chunk)) {
        reply.pause();
        this.#response.once('drain', () => reply.resume());
      }
    });
    reply.once('end', () => this.#response.end());
    reply.on('error', () => {}); // As for the request.
  }

  /** Skips the acknowledgement, which the client already got from the server before the restart. */
  #pipeAfterAcknowledgement(reply: IncomingMessage): void {
    let text = '';
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\n\n');
      if (end === -1) return;
      reply.off('data', read);
      const isAcknowledgement = text.slice(0, end).includes('notifications/subscriptions/acknowledged');
      this.#response.write(Buffer.from(isAcknowledgement ? text.slice(end + 2) : text, 'latin1'));
      this.#pipe(reply);
    };
    reply.on('data', read);
    reply.on('error', () => {});
  }

  /** The process that it was sent to is being replaced. A stream continues, and so does a request that was not sent yet. */
  interrupt(message: string): void {
    if (this.#sent === undefined) return;
    this.#sent.destroy();
    this.#sent = undefined;
    if (this.isOpenStream) return;
    if (this.#incoming.method === 'POST') this.fail(message);
    // Other requests are sent again, unless the client has a part of the response.
    else if (this.#response.headersSent) this.#response.destroy();
  }

  /** Responds with an error, unless it is a stream. */
  fail(message: string): void {
    if (this.#response.writableEnded || this.isOpenStream) return;
    const requests = this.#messages.filter((each) => each?.method !== undefined && each.id !== undefined);
    for (const each of requests) this.#onFailed(callOf(each, performance.now() - this.#sinceMs, message));
    const errors = requests.map(({ id }) => ({
      jsonrpc: '2.0',
      id,
      error: { code: errorRows.application.code, message },
    }));
    const [first] = errors;
    if (this.#hasEvents) {
      for (const each of errors) this.#event(each);
      this.#response.end();
    } else if (this.#response.headersSent) {
      this.#response.destroy();
    } else if (first === undefined) {
      this.#response.writeHead(503, { 'Content-Type': 'text/plain' }).end(message);
    } else {
      const body = errors.length === 1 ? first : errors;
      this.#response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    }
  }

  #event(message: object): void {
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** The client has disconnected. */
  close(): void {
    this.#sent?.destroy();
  }
}
