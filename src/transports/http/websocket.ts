// WebSockets at the path of the endpoint: one text frame is one message, the connection is the session, and requests of
// either era may be in flight at once. There is no official binding; this one obeys the rules for custom transports.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { wireErrors } from '../../protocol/errors.ts';
import type { Outlet, Principal, SessionChannel } from '../../protocol/exchange.ts';
import { loadWebSocketLibrary } from '../websocket-library.ts';
import type { Endpoint } from './endpoint.ts';
import { HttpPeer } from './exchange.ts';
import { NodeRequest } from './node-request.ts';
import { refuseUpgrade } from './upgrade-refusal.ts';

const subprotocol = 'mcp';
/** Close codes: RFC 6455 §7.4.1 and the registry of IANA. */
const goingAway = 1001;
const notText = 1003;
const tryAgainLater = 1013;

export class WebSockets {
  readonly #endpoint: Endpoint;
  readonly #path: string;
  readonly #open = new Map<WebSocket, SessionChannel>();
  #server: Promise<WebSocketServer> | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;

  constructor(endpoint: Endpoint, path: string) {
    this.#endpoint = endpoint;
    this.#path = path;
    endpoint.onDrain((graceMs) => this.#drain(graceMs));
  }

  get size(): number {
    return this.#open.size;
  }

  /** Everything a request has to pass is checked before the protocol changes. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const request = new NodeRequest(incoming);
    const { host, state, limits, draining } = this.#endpoint;
    const refuse = (status: number, message: string, ...headers: string[]): void => {
      const text = host.refusal(wireErrors.transport(message), (name) => request.get(name));
      refuseUpgrade(socket, status, text, headers);
    };
    this.#endpoint.admit(request, (admission) => {
      if (admission.ok) {
        if (request.path !== this.#path) return refuse(404, 'Not Found: there is no WebSocket at this path');
        if (request.get('upgrade')?.toLowerCase() !== 'websocket') return refuse(400, 'Bad Request: only WebSocket');
        if (draining) return refuse(503, 'Service Unavailable: the server is shutting down');
        if (state.beat.size + this.#open.size >= limits.maxStreams) {
          return refuse(503, 'Service Unavailable: too many streams are open', 'Retry-After', '1');
        }
        return this.#accept(incoming, socket, head, request, admission.principal);
      }
      const { status, message, headers } = admission;
      refuse(status, message, ...headers);
    });
  }

  #accept(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    request: NodeRequest,
    principal: Principal | undefined,
  ): void {
    this.#server ??= this.#load();
    this.#server.then(
      (server) => {
        if (socket.destroyed) return;
        server.handleUpgrade(incoming, socket, head, (webSocket) => this.#serve(webSocket, request, principal));
      },
      (error: unknown) => {
        this.#endpoint.logger.error('WebSockets can not be served', { error });
        socket.destroy();
      },
    );
  }

  async #load(): Promise<WebSocketServer> {
    const { WebSocketServer } = await loadWebSocketLibrary();
    return new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#endpoint.limits.maxBodyBytes,
      handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
    });
  }

  #serve(webSocket: WebSocket, request: NodeRequest, principal: Principal | undefined): void {
    const { host, limits } = this.#endpoint;
    const channel = host.connect(
      new HttpPeer(request, principal, 'websocket'),
      new SocketOutlet(webSocket, limits.maxQueuedBytes),
    );
    this.#open.set(webSocket, channel);
    this.#beat ??= this.#startBeat();
    if (principal?.expiresAtMs !== undefined) endAt(webSocket, principal.expiresAtMs);
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) webSocket.close(notText, 'Only text frames are served');
      else channel.receiveText(data.toString('utf8'));
    });
    webSocket.on('pong', () => alive.add(webSocket));
    alive.add(webSocket);
    // The library closes with the fitting code: too large, not UTF-8, a broken frame.
    webSocket.on('error', (error) => this.#endpoint.logger.debug('a WebSocket failed', { error }));
    webSocket.on('close', () => {
      this.#open.delete(webSocket);
      if (this.#open.size === 0) this.#stopBeat();
      channel.close();
    });
  }

  #startBeat(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => {
      for (const webSocket of this.#open.keys()) {
        // No answer since the last beat: the peer is gone without having said so.
        if (!alive.delete(webSocket)) webSocket.terminate();
        else webSocket.ping();
      }
    }, this.#endpoint.limits.heartbeatMs);
    timer.unref();
    return timer;
  }

  #stopBeat(): void {
    clearInterval(this.#beat);
    this.#beat = undefined;
  }

  async #drain(graceMs: number): Promise<void> {
    const open = [...this.#open];
    await Promise.all(open.map(([, channel]) => channel.drain(graceMs)));
    await Promise.all(open.map(([webSocket]) => closed(webSocket)));
    this.#stopBeat();
  }
}

/** Those that have answered the last ping. */
const alive = new WeakSet<WebSocket>();

function endAt(webSocket: WebSocket, atMs: number): void {
  // Timers count in 32 bits; what expires later than that will have been closed for another reason.
  const timer = setTimeout(
    () => webSocket.close(goingAway, 'The token has expired'),
    Math.min(atMs - Date.now(), 2 ** 31 - 1),
  );
  timer.unref();
  webSocket.once('close', () => clearTimeout(timer));
}

/** Says goodbye and waits for the other side to say so too, for a moment. */
function closed(webSocket: WebSocket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => webSocket.terminate(), 500);
    webSocket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    if (webSocket.readyState === webSocket.CLOSED) webSocket.emit('close');
    else webSocket.close(goingAway, 'The server is shutting down');
  });
}

class SocketOutlet implements Outlet {
  readonly #webSocket: WebSocket;
  readonly #maxQueuedBytes: number;
  #paused = false;

  constructor(webSocket: WebSocket, maxQueuedBytes: number) {
    this.#webSocket = webSocket;
    this.#maxQueuedBytes = maxQueuedBytes;
  }

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
