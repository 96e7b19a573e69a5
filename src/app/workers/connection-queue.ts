// Connections that wait for a worker, and those that were passed to a worker that has not accepted them yet. This
// process keeps each connection open until then. If the worker is killed before, the connection is passed to another
// worker.
//
// Not node:cluster: it does not notice the end of a worker to which a connection is on its way (the event `disconnect` of a
// child process waits for the acknowledgement of the connection), and the client would wait forever.

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ToWorker } from './worker-messages.ts';

/** Stops a flood of connections, while no worker accepts any, from using up the descriptors and memory of this process. */
const maxWaiting = 10_000;
/** A worker without free descriptors never receives a connection; the client must not wait for it forever. */
const acceptTimeoutMs = 30_000;

interface PassedConnection {
  readonly number: number;
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
}

export class ConnectionQueue {
  readonly #waiting: Socket[] = [];
  readonly #workers = new Set<ChildProcess>();
  /** Workers that have accepted all connections passed to them, in the order in which they get the next ones. */
  readonly #free = new Set<ChildProcess>();
  readonly #passed = new Map<ChildProcess, PassedConnection>();
  #numbers = 0;

  get workers(): number {
    return this.#workers.size;
  }

  add(socket: Socket): void {
    // The connection may break while it waits.
    socket.on('error', () => socket.destroy());
    if (this.#waiting.length >= maxWaiting) {
      socket.destroy();
      return;
    }
    this.#waiting.push(socket);
    this.#pass();
  }

  addWorker(worker: ChildProcess): void {
    this.#workers.add(worker);
    this.#free.add(worker);
    this.#pass();
  }

  /** The worker gets no more connections. It may still accept or reject one that is on its way. */
  removeWorker(worker: ChildProcess): void {
    this.#workers.delete(worker);
    this.#free.delete(worker);
  }

  /** The worker has ended, and all its messages have been received: connections that it has not accepted go to another worker. */
  onEnd(worker: ChildProcess): void {
    this.removeWorker(worker);
    const passed = this.#passed.get(worker);
    if (passed !== undefined) this.onResponse(worker, passed.number, false);
  }

  /** A worker has accepted a connection, or rejected it because it is closing. */
  onResponse(worker: ChildProcess, number: number, accepted: boolean): void {
    const passed = this.#passed.get(worker);
    if (passed?.number !== number) return;
    this.#take(worker, passed);
    if (accepted) passed.socket.destroy();
    else this.#waiting.unshift(passed.socket);
    this.#pass();
  }

  /** Ends the connections that wait. */
  close(): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  #pass(): void {
    for (const worker of this.#free) {
      const socket = this.#waiting.shift();
      if (socket === undefined) return;
      this.#free.delete(worker);
      const number = ++this.#numbers;
      const timer = setTimeout(() => this.#onTimeout(worker, number), acceptTimeoutMs);
      this.#passed.set(worker, { number, socket, timer });
      const message: ToWorker = { type: 'connection', number };
      // If it cannot be sent, the worker has ended: `onEnd` follows.
      worker.send(message, socket, { keepOpen: true }, () => {});
    }
  }

  #onTimeout(worker: ChildProcess, number: number): void {
    const passed = this.#passed.get(worker);
    if (passed?.number !== number) return;
    this.#take(worker, passed);
    // It is not passed to another worker, because this one may still read from it.
    passed.socket.destroy();
    this.#pass();
  }

  #take(worker: ChildProcess, { timer }: PassedConnection): void {
    clearTimeout(timer);
    this.#passed.delete(worker);
    if (this.#workers.has(worker)) this.#free.add(worker);
  }
}
