// The port that the workers share. The supervisor opens it and passes connections on to the workers in turn.
// Where the system can distribute connections without losing any, each worker opens the port itself.

import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { listen } from '../../transports/http/node/listener.ts';
import { ConnectionQueue } from './connection-queue.ts';

export class SharedPort {
  readonly port: number;
  /** Undefined: each worker opens the port itself. */
  readonly #server: Server | undefined;
  readonly #queue: ConnectionQueue;
  #isLast = false;

  private constructor(port: number, server: Server | undefined, queue: ConnectionQueue) {
    this.port = port;
    this.#server = server;
    this.#queue = queue;
  }

  /** Fails if another program uses the port, even if that program allows sharing. */
  static async open(host: string, port: number): Promise<SharedPort> {
    const queue = new ConnectionQueue();
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => queue.add(socket));
    const opened = await listen(server, { port, host });
    if (!(await canReusePort())) return new SharedPort(opened, server, queue);
    await new Promise((resolve) => server.close(resolve));
    return new SharedPort(opened, undefined, queue);
  }

  get reusePort(): boolean {
    return this.#server === undefined;
  }

  add(worker: ChildProcess): void {
    this.#queue.addWorker(worker);
  }

  /** The worker is closing. */
  remove(worker: ChildProcess): void {
    this.#queue.removeWorker(worker);
    this.#closeAfterLast();
  }

  onResponse(worker: ChildProcess, number: number, accepted: boolean): void {
    this.#queue.onResponse(worker, number, accepted);
    this.#closeAfterLast();
  }

  /** The worker has ended, and all its messages have been received. */
  onEnd(worker: ChildProcess): void {
    this.#queue.onEnd(worker);
    this.#closeAfterLast();
  }

  /** Closes when no worker accepts connections any more. Until then they wait for the next worker. */
  closeAfterLast(): void {
    this.#isLast = true;
    this.#closeAfterLast();
  }

  #closeAfterLast(): void {
    if (!this.#isLast || this.#queue.workers > 0) return;
    this.#server?.close();
    this.#queue.close();
  }
}

/** If 1, connections that wait for a process that ends are moved to another process on the port. Otherwise they break. */
const moveSetting = '/proc/sys/net/ipv4/tcp_migrate_req';

/** Whether several processes can listen on one port (Linux, Node.js 22.12 or later) without losing connections when one ends. */
async function canReusePort(): Promise<boolean> {
  try {
    if (readFileSync(moveSetting, 'utf8').trim() !== '1') return false;
  } catch {
    return false; // Another system, or an older one.
  }
  const [first, second] = [createServer(), createServer()];
  try {
    const port = await listen(first, { port: 0, host: '127.0.0.1', reusePort: true });
    await listen(second, { port, host: '127.0.0.1', reusePort: true });
    return true;
  } catch {
    return false; // Node.js ignores the option, so the second one could not listen.
  } finally {
    first.close();
    second.close();
  }
}
