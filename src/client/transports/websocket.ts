// A server over a WebSocket: one text frame is one message, both ways.

import type { Agent, IncomingMessage } from 'node:http';
import type { Socket as Connection } from 'node:net';
import type { WebSocket as Socket } from 'ws';
import { retryAfterMs } from '../../common/retry-after.ts';
import { findProxy, ProxyError } from '../../transports/proxy/environment.ts';
import { loadWebSocketLibrary } from '../../transports/websocket-library.ts';
import { type AuthorizationHeaders, type Authorizer, headerOf } from '../auth/authorizer.ts';
import { type ClientError, clientErrors } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { clean } from '../untrusted-text.ts';
import { sendAuthorized } from './authorized.ts';
import { isNoTls, noTls } from './no-tls.ts';
import { ReadTurns } from './read-turns.ts';
import type { Outgoing, Transport, TransportListener } from './transport.ts';

/** How often the other side is pinged. If nothing arrives until the next time, the connection ends; a pong may be behind long results. */
const beatMs = 30_000;
const closeMs = 2_000;
const handshakeMs = 30_000;
/** Unsent text at which requests fail: a peer that does not read would have us fill our memory for it. */
const maxBacklogBytes = 64 * 1024 * 1024;
/** Close code of a frame that exceeds the limit. */
const tooBig = 1009;

/** What came of an attempt to connect. */
type ConnectAttempt =
  | { readonly status: 101; readonly headers: Record<string, never>; readonly socket: Socket }
  | { readonly status: number; readonly headers: IncomingMessage['headers']; readonly socket: undefined };

/** A server behind one socket. */
export class WebSocketTransport implements Transport {
  readonly kind = 'websocket';
  /** RFC 6455, section 4.1. */
  readonly protocolVersion = '13';
  readonly address: string;
  /** What messages call it. */
  readonly #server: string;
  readonly #url: URL;
  readonly #options: ConnectOptions;
  readonly #maxMessageBytes: number;
  #listener!: TransportListener;
  #socket: Socket | undefined;
  /** What the WebSocket reads from. */
  #connection: Connection | undefined;
  #beat: NodeJS.Timeout | undefined;
  /** Ends the wait for a sign-in. */
  #abort = (): void => {};
  #closed = false;

  constructor(url: URL, options: ConnectOptions, maxMessageBytes: number) {
    this.#url = url;
    this.address = url.href;
    this.#server = options.serverName ?? url.href;
    this.#options = options;
    this.#maxMessageBytes = maxMessageBytes;
  }

  async open(listener: TransportListener): Promise<void> {
    this.#listener = listener;
    const { WebSocket } = await loadWebSocketLibrary();
    const agent = await this.#proxyAgent();
    const { authorizer } = this.#options;
    const attempt = await (authorizer === undefined
      ? this.#attempt(WebSocket, agent, {})
      : this.#authorized(authorizer, (credentials) => this.#attempt(WebSocket, agent, credentials)));
    if (attempt.socket === undefined) throw this.#upgradeError(attempt);
    this.#follow(attempt.socket);
    if (this.#closed) attempt.socket.terminate();
  }

  send({ text, id, droppable = false }: Outgoing): void {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState !== socket.OPEN) return;
    const isFull = socket.bufferedAmount > maxBacklogBytes;
    if (isFull && droppable) return;
    if (isFull && id !== undefined) {
      const error = clientErrors.lost(this.#server, `it does not read; ${maxBacklogBytes} bytes are waiting`);
      queueMicrotask(() => this.#listener.fail(id, error));
    } else socket.send(text);
  }

  async close(graceMs: number = closeMs): Promise<void> {
    this.#closed = true;
    this.#abort();
    clearInterval(this.#beat);
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === socket.CLOSED) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.terminate(), Math.min(graceMs, closeMs));
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      if (socket.readyState === socket.CONNECTING) socket.terminate();
      else socket.close(1000);
    });
  }

  #authorized(
    authorizer: Authorizer,
    send: (headers: AuthorizationHeaders) => Promise<ConnectAttempt>,
  ): Promise<ConnectAttempt> {
    return sendAuthorized<ConnectAttempt>({
      authorizer,
      url: this.#url,
      method: 'GET',
      hold: () => this.#listener.pauseTimeouts(),
      onSent: (abort) => {
        this.#abort = abort;
      },
      send: (credentials) => send(credentials),
      discard: (attempt) => attempt.socket?.terminate(),
    });
  }

  /** A WebSocket goes through a tunnel with TLS and without, so that the proxy does not read or buffer its frames. */
  async #proxyAgent(): Promise<Agent | undefined> {
    try {
      const proxy = findProxy(this.#url);
      if (proxy === undefined) return undefined;
      const { tunnelAgent } = await import('../../transports/proxy/agent.ts');
      return new (await tunnelAgent(proxy, this.#url.protocol === 'wss:'))();
    } catch (error) {
      if (error instanceof ProxyError) throw clientErrors.configuration(error.message, error);
      throw error;
    }
  }

  #attempt(
    WebSocket: typeof Socket,
    agent: Agent | undefined,
    credentials: AuthorizationHeaders,
  ): Promise<ConnectAttempt> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(this.#url, ['mcp'], {
        agent,
        headers: { ...this.#options.headers, ...credentials },
        maxPayload: this.#maxMessageBytes,
        // Compression gains little for short messages, and a short frame could expand into a very long one.
        perMessageDeflate: false,
        handshakeTimeout: handshakeMs,
        followRedirects: false,
      });
      this.#socket = socket;
      socket.once('upgrade', (response) => {
        this.#connection = response.socket;
      });
      socket.once('open', () => resolve({ status: 101, headers: {}, socket }));
      socket.once('unexpected-response', (request, response) => {
        request.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, socket: undefined });
      });
      socket.on('error', (cause) => {
        const why = isNoTls(cause) ? noTls(new URL(socket.url)) : cause.message;
        reject(clientErrors.unreachable(this.#server, why, cause));
      });
    });
  }

  #upgradeError({ status, headers }: ConnectAttempt): ClientError {
    const location = status >= 300 && status < 400 ? headerOf(headers, 'location') : undefined;
    if (location !== undefined) return clientErrors.redirect(this.#server, location, 'a WebSocket is never redirected');
    if (status === 401 || status === 403) return clientErrors.unauthorized(this.#server, { status });
    if (status >= 500 || status === 429) {
      const afterMs = retryAfterMs(headerOf(headers, 'retry-after'));
      const retry = afterMs === undefined ? {} : { retryAfterMs: afterMs };
      return clientErrors.http(this.#server, 'the WebSocket', { status, ...retry });
    }
    return clientErrors.noWebSocket(this.#server, this.#url.href.replace(/^ws/, 'http'), { status });
  }

  #follow(socket: Socket): void {
    let failure: Error | undefined;
    socket.removeAllListeners('error');
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.#listener.reportUnexpected('a binary frame');
      else this.#listener.receive(String(data));
    });
    const turns = new ReadTurns();
    this.#connection?.on('data', ({ length }: Uint8Array) => {
      const turn = turns.after(length);
      if (turn === undefined) return;
      socket.pause();
      void turn.then(() => socket.resume());
    });
    socket.on('close', (code, reason) => {
      clearInterval(this.#beat);
      if (!this.#closed) this.#listener.lost(this.#explain(code, String(reason), failure));
    });
    let bytesAtPing = -1;
    this.#beat = setInterval(() => {
      const { bytesRead = 0 } = this.#connection ?? {};
      if (bytesRead === bytesAtPing) return socket.terminate();
      bytesAtPing = bytesRead;
      socket.ping();
    }, beatMs);
    this.#beat.unref();
  }

  #explain(code: number, reason: string, failure: Error | undefined): ClientError {
    if (
      code === tooBig ||
      (failure as NodeJS.ErrnoException | undefined)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
    ) {
      return clientErrors.tooLarge('A message', this.#maxMessageBytes);
    }
    const why = failure?.message ?? `closed with code ${code}${reason === '' ? '' : ` (${clean(reason)})`}`;
    return clientErrors.lost(this.#server, why, '', failure);
  }
}
