// The connections to one server, kept open between requests: Node's agent with two of its documented methods overridden.
// Their defaults compose a name and parse the response's headers for every request, for many servers.

import type { AgentOptions, ClientRequest, Agent as HttpAgent } from 'node:http';
import type { Socket } from 'node:net';

/** Idle connections are closed before servers close them (Node's after 5 s), which would race with the next request. */
const idleMs = 4_000;

/** What Node.js reads ahead while a body is paused: four times as much by default from Node 22 on, and hundreds may be paused. */
const highWaterMark = 16 * 1024;

/** All connections lead to the same server. */
const serverName = 'server';

/** The connections to one server, idle and in use. */
export class SocketPool {
  readonly #agent: HttpAgent;
  readonly #idleSince = new WeakMap<object, number>();
  #closed = false;

  /** `Agent` is the class of node:http or node:https. Requests beyond `maxSockets` wait until a connection is free. */
  constructor(Agent: typeof HttpAgent, maxSockets: number) {
    const pool = this;
    // The newest idle connection is used first ('lifo', the default), so that the others reach their time limit.
    this.#agent = new (class extends Agent {
      override getName(): string {
        return serverName;
      }

      override keepSocketAlive(socket: Socket): boolean {
        pool.#idleSince.set(socket, performance.now());
        // An idle connection must not keep the process running.
        socket.unref();
        return true;
      }
    })({ keepAlive: true, maxSockets, timeout: idleMs, highWaterMark } as AgentOptions);
  }

  /** The agent to send the next request with. Throws once the pool is closed. */
  agent(): HttpAgent {
    if (this.#closed) throw closedError();
    const idle = this.#agent.freeSockets[serverName];
    if (idle !== undefined) this.#closeIfStale(idle);
    return this.#agent;
  }

  /** Closes all connections. Requests that wait for one fail. */
  close(): void {
    this.#closed = true;
    const waiting: readonly ClientRequest[] = Object.values(this.#agent.requests).flatMap((requests) => requests ?? []);
    for (const request of waiting) request.destroy(closedError());
    this.#agent.destroy();
  }

  /** A process that was busy for seconds has not run its timers: the server may have closed the connections. */
  #closeIfStale(idle: readonly Socket[]): void {
    const newest = idle.at(-1);
    if (newest === undefined || performance.now() - (this.#idleSince.get(newest) ?? 0) < idleMs) return;
    for (const socket of idle) socket.destroy();
  }
}

function closedError(): Error {
  return new Error('the connection was closed');
}
