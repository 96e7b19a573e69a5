// Keeps connections to one server and hands them to requests. Node's own agent serves many servers and watches each
// socket for itself, which costs a third of a small request; here everything goes to one place. An agent is whatever has
// `addRequest`, which gives the request a socket by `onSocket` and hears of its end by `free`.

import type { Agent, ClientRequest } from 'node:http';
import { isIP, type Socket } from 'node:net';

/** Idle connections are let go before servers do so (Node's after 5 s), which would race with the next request. */
const idleMs = 4_000;
const lookEveryMs = 1_000;

type Connect = (options: object) => Socket;

/** A request as an agent sees it. */
type WaitingRequest = ClientRequest & { onSocket(socket: Socket | undefined): void };

interface Pooled {
  addRequest(request: WaitingRequest): void;
}

/** The connections to one server, idle and in use. */
export class SocketPool {
  /** To be given to requests. */
  readonly agent: Agent;
  readonly #connect: Connect;
  readonly #options: object;
  readonly #maxSockets: number;
  readonly #open = new Set<Socket>();
  /** Last in, first out: the others grow old and are let go. */
  readonly #idle: { readonly socket: Socket; readonly since: number }[] = [];
  readonly #waiting: WaitingRequest[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** `agent` is Node's, plain or TLS: it makes the connections. Requests beyond `maxSockets` wait for their turn. */
  constructor(agent: Agent, host: string, port: number, maxSockets: number) {
    this.agent = agent;
    this.#connect = (agent as unknown as { createConnection: Connect }).createConnection.bind(agent);
    this.#maxSockets = maxSockets;
    // `path` would mean a socket in the file system.
    this.#options = { host, port, path: null, noDelay: true, ...(isIP(host) === 0 ? { servername: host } : {}) };
    (agent as unknown as Pooled).addRequest = (request) => this.#add(request);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const socket of this.#open) socket.destroy();
    for (const request of this.#waiting.splice(0)) fail(request);
  }

  #add(request: WaitingRequest): void {
    const oldest = performance.now() - idleMs;
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      const { socket, since } = idle;
      if (socket.destroyed || !socket.writable) continue;
      // Whoever was busy for long may not have looked in time.
      if (since < oldest) {
        socket.destroy();
        continue;
      }
      socket.ref();
      request.reusedSocket = true;
      request.onSocket(socket);
      return;
    }
    if (this.#closed) fail(request);
    else if (this.#open.size < this.#maxSockets) this.#dial(request);
    else this.#waiting.push(request);
  }

  #dial(request: WaitingRequest): void {
    const socket = this.#connect(this.#options);
    this.#open.add(socket);
    socket.on('free', () => this.#free(socket));
    socket.on('close', () => this.#gone(socket));
    socket.on('error', () => {}); // The request it happens to is told by Node; an idle one is simply gone.
    request.onSocket(socket);
  }

  #free(socket: Socket): void {
    if (socket.destroyed || !socket.writable) return;
    const next = this.#nextWaiting();
    if (next !== undefined) {
      next.reusedSocket = true;
      next.onSocket(socket);
      return;
    }
    // An idle connection is no reason for a process to stay.
    socket.unref();
    this.#idle.push({ socket, since: performance.now() });
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
    this.#timer.unref();
  }

  #gone(socket: Socket): void {
    this.#open.delete(socket);
    const next = this.#nextWaiting();
    if (next !== undefined) this.#dial(next);
  }

  /** Requests may be given up while they wait. */
  #nextWaiting(): WaitingRequest | undefined {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!next.destroyed) return next;
      // Without a socket it only learns that it is over.
      next.onSocket(undefined);
    }
    return undefined;
  }

  #look(): void {
    const oldest = performance.now() - idleMs;
    while (this.#idle[0] !== undefined && this.#idle[0].since < oldest) this.#idle.shift()?.socket.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Without a socket a request hears of its end only this way. */
function fail(request: WaitingRequest): void {
  request.destroy(new Error('the connection was closed'));
  request.onSocket(undefined);
}
