// One WebSocket being served: its messages, its answers, its signs of life, and its end.

import type { WebSocket } from 'ws';
import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { Outlet, Principal, SessionChannel } from '../../protocol/exchange.ts';
import { receiveText } from '../receive.ts';
import type { Endpoint } from './endpoint.ts';
import { type AdmittedRequest, HttpPeer } from './exchange.ts';

/** Close codes: RFC 6455 §7.4.1 and the registry of IANA. */
const goingAway = 1001;
const notText = 1003;
const tryAgainLater = 1013;
const unauthorized = 3000;

/** How long a peer may take to answer our goodbye. */
const lastWordsMs = 500;

export class WebSocketConnection implements Outlet {
  readonly principal: Principal | undefined;
  readonly channel: SessionChannel;
  readonly #endpoint: Endpoint;
  readonly #webSocket: WebSocket;
  readonly #maxQueuedBytes: number;
  /** Something came in since the last beat. */
  #alive = true;
  #paused = false;
  /** Nothing that still comes in is served. */
  #ended = false;
  #expiry: ReturnType<typeof setTimeout> | undefined;

  constructor(endpoint: Endpoint, webSocket: WebSocket, request: AdmittedRequest) {
    this.principal = request.principal;
    this.#endpoint = endpoint;
    this.#webSocket = webSocket;
    this.#maxQueuedBytes = endpoint.limits.maxQueuedBytes;
    this.channel = endpoint.host.connect(new HttpPeer(request, 'websocket'), this);
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (this.#ended) return;
      if (isBinary) webSocket.close(notText, 'Only text frames are served');
      else receiveText(this.channel, data.toString('utf8'), endpoint.logger);
    });
    webSocket.on('pong', () => {
      this.#alive = true;
    });
    // The library closes with the fitting code: too large, not UTF-8, a broken frame.
    webSocket.on('error', (error) => endpoint.logger.debug('a WebSocket failed', { error }));
    webSocket.on('close', () => {
      clearTimeout(this.#expiry);
      this.channel.close();
    });
    this.#expireSoon(endpoint.limits.heartbeatMs);
  }

  /** One beat: a ping, or the end of a peer that has been silent since the last one. */
  beat(intervalMs: number): void {
    if (!this.#alive) return this.#webSocket.terminate();
    this.#alive = false;
    this.#webSocket.ping();
    this.#expireSoon(intervalMs);
  }

  /** One that expires before the next beat gets a timer of its own. */
  #expireSoon(intervalMs: number): void {
    const leftMs = (this.principal?.expiresAtMs ?? Number.POSITIVE_INFINITY) - Date.now();
    if (leftMs > intervalMs) return;
    this.#expiry ??= setTimeout(() => this.endEarly(wireErrors.tokenEnded('expired')), Math.max(0, leftMs));
    this.#expiry.unref();
  }

  /** Ends the connection before its time: calls under way are answered with the reason, and so is the peer. */
  endEarly(error: WireError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#endpoint.state.settle(this.channel.drain(0, error));
    this.#webSocket.close(unauthorized, error.message);
    setTimeout(() => this.#webSocket.terminate(), lastWordsMs).unref();
  }

  /** Says goodbye and waits for the other side to say so too, for a moment. */
  close(): Promise<void> {
    const webSocket = this.#webSocket;
    return new Promise((resolve) => {
      const timer = setTimeout(() => webSocket.terminate(), lastWordsMs);
      webSocket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      if (webSocket.readyState === webSocket.CLOSED) webSocket.emit('close');
      else webSocket.close(goingAway, 'The server is shutting down');
    });
  }

  // The outlet.

  get duplex(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  push(text: string): boolean {
    const webSocket = this.#webSocket;
    if (webSocket.readyState !== webSocket.OPEN) return false;
    const queued = webSocket.bufferedAmount + text.length;
    // One answer may be larger than the limit; what may not grow is what waits before it.
    if (webSocket.bufferedAmount > this.#maxQueuedBytes) {
      webSocket.close(tryAgainLater, 'The client does not read');
      webSocket.terminate();
      return false;
    }
    if (queued < this.#maxQueuedBytes / 2) webSocket.send(text);
    else this.#sendSlowly(text);
    return true;
  }

  /** Takes no new messages from a peer that does not take our answers. */
  #sendSlowly(text: string): void {
    const webSocket = this.#webSocket;
    if (!this.#paused) {
      this.#paused = true;
      webSocket.pause();
    }
    webSocket.send(text, () => {
      if (!this.#paused || webSocket.bufferedAmount > this.#maxQueuedBytes / 4) return;
      this.#paused = false;
      webSocket.resume();
    });
  }

  end(text: string | undefined): void {
    if (text !== undefined) this.push(text);
  }
}
