// WebSockets at the path of the endpoint: one text frame is one message, the connection is the session, and requests of
// both eras may be in flight at once. There is no official binding; this one follows the rules for custom transports.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import type { Principal } from '../../../protocol/callers/principal.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Peer, SessionHost } from '../../../protocol/exchange.ts';
import { loadWebSocketLibrary } from '../../websocket-library.ts';
import type { Admission, Endpoint } from '../endpoint.ts';
import { rejectUpgrade } from './reject-upgrade.ts';
import { NodeRequest } from './request.ts';
import { WebSocketConnection } from './websocket-connection.ts';

const subprotocol = 'mcp';
/** RFC 6455 §7.4.1. */
const internalError = 1011;
/** Frames of one message. Each takes over a hundred bytes, which are not counted for the caller. */
const maxFragments = 2048;

/** Whether an upgrade request is for a WebSocket. */
export function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
}

export class WebSockets {
  readonly #endpoint: Endpoint;
  readonly #open = new Set<WebSocketConnection>();
  #server: Promise<WebSocketServer> | undefined;
  #heartbeat: ReturnType<typeof setInterval> | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    endpoint.onDrain((graceMs) => this.#drain(graceMs));
    endpoint.onRevoke((match, error) => this.#revoke(match, error));
    endpoint.addSessionControl({
      streams: ({ peer }) => (this.#connectionWith(peer) === undefined ? undefined : 1),
      end: ({ peer }) => this.#end(peer),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Makes all checks of a request before the protocol changes. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const request = new NodeRequest(incoming);
    const { host, state, draining } = this.#endpoint;
    const reject = (status: number, message: string, ...headers: string[]): void => {
      const text = host.errorText(wireErrors.transport(message), (name) => request.get(name));
      rejectUpgrade(socket, status, text, headers);
    };
    const failed = (error: unknown): void => {
      this.#endpoint.logger.error('a WebSocket could not be opened', { error });
      reject(500, 'Internal error');
    };
    const decide = (admission: Admission): void => {
      if (!admission.ok) return reject(admission.status, admission.message, ...admission.headers);
      const target = this.#endpoint.hostAt(request.path);
      if (target === undefined) return reject(404, 'Not Found: there is no WebSocket at this path');
      if (draining) return reject(503, 'Service Unavailable: the server is shutting down');
      request.principal = admission.principal;
      if (!state.mayStream(request)) {
        return reject(503, 'Service Unavailable: too many streams are open', 'Retry-After', '1');
      }
      const caller = callerKey(request);
      state.streams.charge(caller);
      socket.once('close', () => state.streams.release(caller));
      this.#accept(incoming, socket, head, request, target, failed);
    };
    try {
      this.#endpoint.admit(request, (admission) => {
        try {
          decide(admission);
        } catch (error) {
          failed(error);
        }
      });
    } catch (error) {
      failed(error);
    }
  }

  #accept(
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    request: NodeRequest,
    host: SessionHost,
    failed: (error: unknown) => void,
  ): void {
    this.#server ??= this.#load();
    this.#server
      .then((server) => {
        if (socket.destroyed) return;
        server.handleUpgrade(incoming, socket, head, (webSocket) => this.#serve(webSocket, socket, request, host));
      })
      .catch(failed);
  }

  async #load(): Promise<WebSocketServer> {
    const { WebSocketServer } = await loadWebSocketLibrary();
    return new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#endpoint.limits.maxBodyBytes,
      maxFragments,
      handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
    });
  }

  #serve(webSocket: WebSocket, socket: Duplex, request: NodeRequest, host: SessionHost): void {
    let connection: WebSocketConnection;
    try {
      connection = new WebSocketConnection(this.#endpoint, host, webSocket, socket, request);
    } catch (error) {
      this.#endpoint.logger.error('a WebSocket could not be served', { error });
      webSocket.close(internalError, 'Internal error');
      return;
    }
    this.#open.add(connection);
    this.#heartbeat ??= this.#startHeartbeat();
    const drain = async (graceMs: number): Promise<void> => {
      await connection.channel.drain(graceMs);
      await connection.close();
    };
    host.drains.add(drain);
    webSocket.on('close', () => {
      host.drains.delete(drain);
      this.#open.delete(connection);
      if (this.#open.size === 0) this.#stopHeartbeat();
    });
  }

  #startHeartbeat(): ReturnType<typeof setInterval> {
    const { heartbeatMs } = this.#endpoint.limits;
    const timer = setInterval(() => {
      for (const connection of this.#open) connection.heartbeat(heartbeatMs);
    }, heartbeatMs);
    timer.unref();
    return timer;
  }

  #stopHeartbeat(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  /** Ends the connections of principals for which `match` is true, with that error. */
  #revoke(match: (principal: Principal) => boolean, error: WireError): void {
    for (const connection of [...this.#open]) {
      if (connection.principal !== undefined && match(connection.principal)) connection.endEarly(error);
    }
  }

  #connectionWith(peer: Peer | undefined): WebSocketConnection | undefined {
    return [...this.#open].find(({ channel }) => channel.peer === peer);
  }

  async #end(peer: Peer | undefined): Promise<boolean> {
    const connection = this.#connectionWith(peer);
    if (connection === undefined) return false;
    await connection.channel.drain(0, wireErrors.unknownSession());
    await connection.close();
    return true;
  }

  async #drain(graceMs: number): Promise<void> {
    const open = [...this.#open];
    await Promise.all(open.map(({ channel }) => channel.drain(graceMs)));
    await Promise.all(open.map((connection) => connection.close()));
    this.#stopHeartbeat();
  }
}
