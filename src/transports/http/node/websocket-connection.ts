// One WebSocket connection: its messages, its responses, its heartbeat, and its end.

import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import { WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Outlet, Principal, SessionChannel, SessionHost } from '../../../protocol/exchange.ts';
import { parseMessage } from '../../../protocol/json-rpc.ts';
import { receive, receiveText, reject } from '../../receive.ts';
import type { HeldBytes } from '../buffered-bytes.ts';
import type { Endpoint } from '../endpoint.ts';
import { type AdmittedRequest, HttpPeer } from '../exchange.ts';
import { smallResponse } from '../fair-turns.ts';
import { OpenCalls } from '../open-calls.ts';
import { requestIds } from '../responses.ts';

/** Close codes: RFC 6455 §7.4.1 and the registry of IANA. */
const goingAway = 1001;
const notText = 1003;
const tryAgainLater = 1013;
const unauthorized = 3000;

/** How long a peer may take to complete the closing handshake. */
const closeTimeoutMs = 500;

/** What is usually in transit in either direction, and not counted. */
const freeBytes = 128 * 1024;

/** What a chunk takes besides its bytes, measured: a frame may arrive in packets of one byte each. */
const chunkBytes = 512;

/** The header of a ping or pong of a client, and the longest one as a whole. */
const controlHeaderBytes = 6;
const maxControlBytes = controlHeaderBytes + 125;

/**
 * How many messages are served at once. A packet may contain hundreds of them, and all would have their results in memory
 * at the same time.
 */
const groupSize = 4;

type Pause = 'forUnsent' | 'forRoom' | 'forTurn';

export class WebSocketConnection implements Outlet {
  readonly principal: Principal | undefined;
  readonly channel: SessionChannel;
  readonly #endpoint: Endpoint;
  readonly #host: SessionHost;
  readonly #webSocket: WebSocket;
  readonly #request: AdmittedRequest;
  readonly #calls: OpenCalls;
  /** Responses that were not read yet, and messages that are not complete yet. */
  readonly #unsent: HeldBytes;
  readonly #unfinished: HeldBytes;
  /** Messages of the chunk that is being read that are being served. */
  #serving = 0;
  /** Messages that wait for the turn of their caller, and how many turns came while too many responses were unread. */
  readonly #waiting: string[] = [];
  #missedTurns = 0;
  /** The memory of what was received since the last complete message. */
  #received = 0;
  /** Bytes of the pings and pongs in the chunk that is being read. */
  #control = 0;
  /** Something was received since the last heartbeat. */
  #alive = true;
  /** Why reading is paused. */
  readonly #paused: Record<Pause, boolean> = { forUnsent: false, forRoom: false, forTurn: false };
  /** Messages that still arrive are not served. */
  #ended = false;
  #expiry: ReturnType<typeof setTimeout> | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(endpoint: Endpoint, host: SessionHost, webSocket: WebSocket, socket: Duplex, request: AdmittedRequest) {
    const { state, limits } = endpoint;
    const caller = callerKey(request);
    this.principal = request.principal;
    this.#endpoint = endpoint;
    this.#host = host;
    this.#webSocket = webSocket;
    this.#request = request;
    this.#calls = new OpenCalls(state.requests, caller);
    this.#unsent = state.buffered.open(caller);
    this.#unfinished = state.buffered.open(caller);
    this.channel = host.connect(new HttpPeer(request, 'websocket'), this);
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      this.#received = 0;
      this.#unfinished.release();
      if (this.#ended) return;
      if (isBinary) webSocket.close(notText, 'Only text frames are supported');
      else this.#receive(data.toString('utf8'));
    });
    // Any data shows that the peer is alive: a large message may take longer than the heartbeat interval.
    socket.on('data', (chunk: Buffer) => {
      this.#alive = true;
      // Pings and pongs are no part of a message: an idle connection receives one with each heartbeat. The library has read the chunk
      // already. If there is anything else in it, all of it stays in memory.
      const isControl = chunk.length <= maxControlBytes && chunk.length === this.#control;
      this.#control = 0;
      if (isControl) return;
      this.#received += chunk.length + chunkBytes;
      if (this.#received > freeBytes) this.#holdUnfinished();
    });
    const onControl = (data: Buffer): void => {
      this.#control += controlHeaderBytes + data.length;
    };
    webSocket.on('ping', onControl);
    webSocket.on('pong', onControl);
    // The library closes with the matching code: too large, not UTF-8, an invalid frame.
    webSocket.on('error', (error) => endpoint.logger.debug('a WebSocket failed', { error }));
    webSocket.on('close', () => this.#close());
    this.#expireSoon(limits.heartbeatMs);
  }

  #close(): void {
    this.#ended = true;
    clearTimeout(this.#expiry);
    this.#stopWaiting?.();
    this.channel.close();
    this.#calls.close();
    this.#unsent.release();
    this.#unfinished.release();
  }

  #receive(text: string): void {
    const { turns } = this.#endpoint.state;
    const isTurn = !turns.arrive() || !turns.mustWait(this.#unsent.caller);
    if (isTurn && this.#serving < groupSize && this.#waiting.length === 0) {
      if (this.#serving++ === 0) process.nextTick(this.#forgetServing);
      return this.#take(text);
    }
    if (!this.#paused.forTurn) this.#pause('forTurn');
    // One turn for each group of them.
    if (this.#waiting.length % groupSize === 0) this.#awaitTurn();
    this.#waiting.push(text);
  }

  readonly #forgetServing = (): void => {
    this.#serving = 0;
  };

  #awaitTurn(): void {
    this.#endpoint.state.turns.wait(this.#unsent.caller, () => {
      if (this.#ended) return;
      if (this.#paused.forUnsent) {
        this.#missedTurns++;
        return;
      }
      const group = this.#waiting.splice(0, groupSize);
      if (this.#waiting.length === 0) this.#resume('forTurn');
      for (const text of group) this.#take(text);
    });
  }

  #take(text: string): void {
    const { state, logger } = this.#endpoint;
    this.#calls.begin();
    this.#calls.settle(state.busy ? this.#receiveIfAllowed(text) : receiveText(this.channel, text, logger));
  }

  #receiveIfAllowed(text: string): boolean {
    const { logger } = this.#endpoint;
    const message = parseMessage(text, this.#host.limits);
    const failure = message instanceof WireError ? message : this.#limitError(message);
    if (failure === undefined) return receive(this.channel, message, logger, { text });
    return reject(this.channel, failure, Array.isArray(message) ? undefined : requestIds(message)[0], logger);
  }

  #limitError(message: unknown): WireError | undefined {
    return this.#endpoint.state.exceededLimit(this.#request, message) === undefined
      ? undefined
      : wireErrors.overloaded(1_000);
  }

  /** Sends a ping, or ends the connection of a peer that has sent nothing since the last one. */
  heartbeat(intervalMs: number): void {
    if (!this.#alive) return this.#webSocket.terminate();
    this.#alive = false;
    this.#webSocket.ping();
    this.#expireSoon(intervalMs);
  }

  /** A connection whose token expires before the next heartbeat gets a timer of its own. */
  #expireSoon(intervalMs: number): void {
    const leftMs = (this.principal?.expiresAtMs ?? Number.POSITIVE_INFINITY) - Date.now();
    if (leftMs > intervalMs) return;
    this.#expiry ??= setTimeout(() => this.endEarly(wireErrors.tokenEnded('expired')), Math.max(0, leftMs));
    this.#expiry.unref();
  }

  /** Ends the connection early: open calls are answered with the error, and the peer gets it as the close reason. */
  endEarly(error: WireError): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#endpoint.state.logRejection(this.channel.drain(0, error));
    this.#webSocket.close(unauthorized, error.message);
    setTimeout(() => this.#webSocket.terminate(), closeTimeoutMs).unref();
  }

  /** Closes the connection and waits a moment for the peer to do the same. */
  close(): Promise<void> {
    const webSocket = this.#webSocket;
    return new Promise((resolve) => {
      const timer = setTimeout(() => webSocket.terminate(), closeTimeoutMs);
      webSocket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      if (webSocket.readyState === webSocket.CLOSED) webSocket.emit('close');
      else webSocket.close(goingAway, 'The server is shutting down');
    });
  }

  // Reading pauses while too much is buffered in either direction.

  #pause(reason: Pause): void {
    this.#paused[reason] = true;
    this.#webSocket.pause();
  }

  #resume(reason: Pause): void {
    this.#paused[reason] = false;
    if (!Object.values(this.#paused).includes(true)) this.#webSocket.resume();
  }

  /** Counts a message that is not complete yet, and continues to read only while there is space for it. */
  #holdUnfinished(): void {
    const { buffered } = this.#endpoint.state;
    const { caller } = this.#unfinished;
    if (!buffered.isFull(caller)) return this.#unfinished.set(this.#received);
    if (this.#paused.forRoom) return;
    this.#pause('forRoom');
    this.#stopWaiting = buffered.whenRoom(caller, (hasRoom) => {
      if (!hasRoom) return this.#cutOff('Too many bytes are buffered');
      this.#unfinished.set(this.#received);
      this.#resume('forRoom');
    });
  }

  #cutOff(reason: string): void {
    this.#webSocket.close(tryAgainLater, reason);
    this.#webSocket.terminate();
  }

  // The outlet.

  get duplex(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  push(text: string): boolean {
    return this.#send(text, this.#endpoint.limits.maxQueuedBytes);
  }

  end(text: string | undefined): void {
    this.#calls.ended();
    // The client requested these, and sends no more while some are unread: so more may be buffered than of pushed messages.
    if (text !== undefined) this.#send(text, this.#endpoint.limits.maxBufferedBytesPerConnection);
  }

  #send(text: string, maxBytes: number): boolean {
    const webSocket = this.#webSocket;
    if (webSocket.readyState !== webSocket.OPEN) return false;
    const { bufferedAmount } = webSocket;
    const { maxQueuedBytes } = this.#endpoint.limits;
    if (text.length > smallResponse) this.#endpoint.state.turns.spent(text.length);
    // One response may be larger than the limit; only what is buffered before it counts.
    const isMuch = bufferedAmount > freeBytes || text.length > freeBytes;
    if (bufferedAmount > maxBytes || (isMuch && this.#isOverfull)) {
      this.#cutOff('The client does not read');
      return false;
    }
    if (bufferedAmount + text.length < maxQueuedBytes / 2) webSocket.send(text);
    else this.#sendSlowly(text);
    return true;
  }

  get #isOverfull(): boolean {
    return this.#endpoint.state.buffered.isOverfull(this.#unsent.caller);
  }

  /** Stops reading from a peer that does not read its responses. */
  #sendSlowly(text: string): void {
    const webSocket = this.#webSocket;
    if (!this.#paused.forUnsent) this.#pause('forUnsent');
    webSocket.send(text, () => {
      this.#countUnsent();
      if (!this.#paused.forUnsent || webSocket.bufferedAmount > this.#endpoint.limits.maxQueuedBytes / 4) return;
      this.#resume('forUnsent');
      for (; this.#missedTurns > 0; this.#missedTurns--) this.#awaitTurn();
    });
    this.#countUnsent();
  }

  #countUnsent(): void {
    const { bufferedAmount } = this.#webSocket;
    if (!this.#ended) this.#unsent.set(bufferedAmount > freeBytes ? bufferedAmount : 0);
  }
}
