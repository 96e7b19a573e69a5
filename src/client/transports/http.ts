// Streamable HTTP from the client's side, with sessions and without: every message is a POST, a response is one JSON body
// or a stream of events. What sessions add (a standalone stream, resumed streams) is http-streams.ts.

import { SlotSet } from '../../common/slot-set.ts';
import type { HttpBinding } from '../../protocol/revisions/client-revisions.ts';
import { AuthError } from '../auth/errors.ts';
import { ClientError, clientErrors } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { clean } from '../untrusted-text.ts';
import { HttpClient, maxPosted, mediaType, readText, toErrorInfo } from './http-client.ts';
import { readEvents, resumeStream, ServerMessageStream } from './http-streams.ts';
import type { HttpReply } from './http-wire.ts';
import { LongBodies } from './long-bodies.ts';
import type { Outgoing, Transport, TransportListener } from './transport.ts';

const jsonHeaders = ['Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream'];
const none: readonly string[] = [];
const defaultBinding: HttpBinding = { headers: [], mirrored: false, sessions: false, closingCancels: false };
/** Messages without a response have a time limit, too. */
const notificationTimeoutMs = 30_000;
/** How long the server may take to end a session. */
const deleteTimeoutMs = 2_000;

/** Gets the function that ends a request. */
type OnSent = (abort: () => void) => void;

/** A request without a response yet. */
interface OpenHttpRequest {
  readonly id: number;
  /** Undefined until it is sent. */
  abort: (() => void) | undefined;
}

/** A server at one URL. */
export class HttpTransport implements Transport {
  readonly kind = 'http';
  readonly address: string;
  /** What messages call it. */
  readonly #server: string;
  readonly #url: URL;
  readonly #options: ConnectOptions;
  readonly #maxMessageBytes: number;
  readonly #open = new SlotSet<OpenHttpRequest>();
  readonly #notices = new Set<() => void>();
  #posted = 0;
  readonly #longBodies = new LongBodies();
  #client!: HttpClient;
  #listener!: TransportListener;
  #binding = defaultBinding;
  #session: string | undefined;
  #fixed: readonly string[] | undefined;
  #serverMessages: ServerMessageStream | undefined;
  #lastNotice: Promise<void> | undefined;
  #closed = false;
  #closing: Promise<void> | undefined;
  #stopGoodbye = (): void => {};

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

  get sessionId(): string | undefined {
    return this.#session;
  }

  async open(listener: TransportListener): Promise<void> {
    this.#listener = listener;
    this.#client = await HttpClient.create(this.#url, this.#options, listener);
  }

  setBinding(manners: HttpBinding): void {
    this.#binding = manners;
    this.#fixed = undefined;
  }

  async ready(): Promise<void> {
    if (!this.#binding.sessions) return;
    // Messages that open the connection must arrive before any that rely on them.
    await this.#lastNotice;
    if (this.#closed) return;
    this.#serverMessages = new ServerMessageStream(this.#client, this.#listener, {
      headers: () => this.#sessionHeaders(),
      session: this.#session !== undefined,
      maxLength: this.#maxMessageBytes,
    });
    const opened = this.#serverMessages.open();
    // A server may send input requests on this stream during a call, so it must be open by then.
    if (Object.keys(this.#options.handlers ?? {}).length > 0) await opened;
  }

  send(message: Outgoing): void {
    if (this.#closed || (message.droppable === true && this.#posted >= maxPosted)) return;
    if (message.id === undefined) this.#lastNotice = this.#notify(message);
    else void this.#request(message, message.id);
  }

  abandon(id: number): void {
    this.#open
      .values()
      .find((each) => each.id === id)
      ?.abort?.();
  }

  close(graceMs: number = deleteTimeoutMs): Promise<void> {
    if (graceMs < deleteTimeoutMs) setTimeout(() => this.#stopGoodbye(), graceMs).unref();
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closed = true;
    this.#serverMessages?.close();
    for (const { abort } of this.#open.values()) abort?.();
    for (const abort of [...this.#notices]) abort();
    if (this.#session !== undefined) await this.#endSession();
    this.#client?.close();
  }

  // Requests.

  async #request(message: Outgoing, id: number): Promise<void> {
    const { text, method = 'a request', headers = none, standing = false } = message;
    const open: OpenHttpRequest = { id, abort: undefined };
    const slot = this.#open.add(open);
    const onSent = (abort: () => void): void => {
      open.abort = abort;
    };
    try {
      const reply = await this.#client.send({
        what: method,
        method: 'POST',
        headers: headers.length === 0 ? this.#postHeaders() : [...this.#postHeaders(), ...headers],
        body: text,
        long: standing,
        onSent,
      });
      await this.#readAnswer(reply, id, method, onSent);
      // The HTTP response had no JSON-RPC response: without this, the call would wait for its time limit.
      if (this.#listener.isPending(id)) {
        const why = 'a body without the response';
        this.#listener.fail(id, clientErrors.unexpectedResponse(this.#server, method, why, { status: reply.status }));
      }
    } catch (error) {
      this.#listener.fail(id, this.#toError(error));
    } finally {
      this.#open.delete(slot, open);
    }
  }

  async #readAnswer(reply: HttpReply, id: number, method: string, onSent: OnSent): Promise<void> {
    const { status } = reply;
    if (status < 200 || status > 299) {
      throw await toErrorInfo(this.#server, method, reply, this.#session !== undefined);
    }
    this.#adoptSession(reply);
    const type = mediaType(reply);
    if (type === 'application/json') {
      const text = await readText(reply, this.#maxMessageBytes, this.#longBodies);
      if (text === undefined) throw clientErrors.tooLarge(`The response to ${method}`, this.#maxMessageBytes);
      if (text !== '') this.#listener.receive(text, id);
    } else if (type === 'text/event-stream') await this.#readStream(reply, id, method, onSent);
    else {
      const body = (await readText(reply, 4096).catch(() => '')) ?? 'something long';
      const kind = type === '' ? 'a body without Content-Type' : type;
      const what = body === '' ? 'an empty body' : `${kind}: "${clean(body, 120)}"`;
      throw clientErrors.unexpectedResponse(this.#server, method, `HTTP ${status} and ${what}`, { status });
    }
  }

  async #readStream(reply: HttpReply, id: number, method: string, onSent: OnSent): Promise<void> {
    const listener = this.#listener;
    let end = await readEvents(reply, listener, this.#maxMessageBytes, undefined, id, this.#longBodies);
    if (this.#binding.sessions) {
      end = await resumeStream(this.#client, listener, end, {
        headers: () => this.#sessionHeaders(),
        maxLength: this.#maxMessageBytes,
        during: id,
        wanted: () => !this.#closed && listener.isPending(id),
        onSent,
      });
    }
    if (end.tooLarge) throw clientErrors.tooLarge(`An event of ${method}`, this.#maxMessageBytes);
    if (listener.isPending(id)) {
      const why = end.error?.message ?? `the stream of ${method} ended without a response`;
      throw clientErrors.lost(this.#server, why, '', end.error);
    }
  }

  // Messages without a response.

  async #notify({ text, method = 'a message' }: Outgoing): Promise<void> {
    let abort = (): void => {};
    const timer = setTimeout(() => abort(), notificationTimeoutMs);
    timer.unref();
    this.#posted++;
    try {
      const reply = await this.#client.send({
        what: method,
        method: 'POST',
        headers: this.#postHeaders(),
        body: text,
        long: true,
        onSent: (stop) => {
          abort = stop;
          this.#notices.add(stop);
        },
      });
      if (reply.status >= 200 && reply.status < 300) reply.discard();
      else {
        const error = await toErrorInfo(this.#server, method, reply, this.#session !== undefined);
        this.#listener.reportUnexpected(`an error response to ${method}: ${error.message}`);
      }
    } catch (error) {
      if (!this.#closed)
        this.#listener.reportUnexpected(`${method} could not be delivered: ${(error as Error).message}`);
    } finally {
      clearTimeout(timer);
      this.#posted--;
      this.#notices.delete(abort);
    }
  }

  // Sessions.

  #sessionHeaders(): readonly string[] {
    const { headers } = this.#binding;
    return this.#session === undefined ? headers : [...headers, 'Mcp-Session-Id', this.#session];
  }

  /** The same for every message until a revision is negotiated again. */
  #postHeaders(): readonly string[] {
    return (this.#fixed ??= [...jsonHeaders, ...this.#sessionHeaders()]);
  }

  #adoptSession(reply: HttpReply): void {
    if (!this.#binding.sessions || this.#session !== undefined) return;
    const id = reply.header('mcp-session-id');
    if (id === undefined) return;
    // It goes back as a header with every request.
    if (/^[\x21-\x7e]{1,8192}$/.test(id)) {
      this.#session = id;
      this.#fixed = undefined;
    } else this.#listener.reportUnexpected('a session id that is not visible ASCII');
  }

  async #endSession(): Promise<void> {
    const timer = setTimeout(() => this.#stopGoodbye(), deleteTimeoutMs);
    try {
      const headers = this.#sessionHeaders();
      const onSent = (stop: () => void): void => {
        this.#stopGoodbye = stop;
      };
      (await this.#client.send({ what: 'DELETE', method: 'DELETE', headers, long: true, onSent })).discard();
    } catch {
      // The session will expire by itself; closing must not fail for it.
    } finally {
      clearTimeout(timer);
    }
  }

  /** Client errors and sign-in errors are reported as they are. */
  #toError(error: unknown): ClientError {
    if (error instanceof ClientError || error instanceof AuthError) return error as ClientError;
    return clientErrors.lost(this.#server, error instanceof Error ? error.message : String(error), '', error);
  }
}
