// The connections of a worker: from a port that it opens itself, or from the process that started it.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type Listener, listen, ownPort } from '../../transports/http/node/listener.ts';
import type { FromWorker, OpenedPort } from './worker-messages.ts';

/** A worker, as its listener sees it. */
export interface WorkerChannel {
  /** Asks the process that started this one to open the port, or how to open it. */
  openPort(host: string, port: number): Promise<OpenedPort>;
  /** `socket` is undefined if the connection was lost on its way. */
  onConnection(listener: (number: number, socket: Socket | undefined) => void): void;
  /** `onSent` is called when the message has been handed to the system, or cannot be sent. */
  send(message: FromWorker, onSent?: (error: Error | null) => void): void;
}

/**
 * A socket begins to read when it is created, and Node.js creates it when the connection arrives; `pause` only keeps what was read.
 * The property is not documented, but all supported versions have it.
 */
interface InternalSocket {
  /** Null: the socket is closed. */
  readonly _handle: { readStart(): void; readStop(): void } | null | undefined;
}

export class PassedConnections implements Listener {
  readonly #channel: WorkerChannel;
  /** The server that connections are passed to. Undefined: none is accepted. */
  #server: Server | undefined;

  constructor(channel: WorkerChannel) {
    this.#channel = channel;
    channel.onConnection((number, socket) => this.#receive(number, socket));
  }

  async open(server: Server, port: number, host: string): Promise<number> {
    const opened = await this.#channel.openPort(host, port);
    if ('code' in opened) throw Object.assign(new Error(opened.message), { code: opened.code });
    if (opened.reusePort) return listen(server, { port: opened.port, host, reusePort: true });
    this.#server = server;
    // With this event node:http begins to enforce its time limits and to keep a list of its connections.
    server.emit('listening');
    return opened.port;
  }

  stop(server: Server): void {
    if (server.listening) return ownPort.stop(server);
    this.#server = undefined;
    this.#channel.send({ type: 'closing' });
  }

  #receive(number: number, socket: Socket | undefined): void {
    const server = this.#server;
    if (socket === undefined || server === undefined) {
      socket?.destroy();
      return this.#channel.send({ type: 'connection', number, accepted: false });
    }
    socket.allowHalfOpen = true;
    // Reading starts only when the process that started this one can know that it must not pass the connection on again. A
    // message is usually sent immediately, but not while that process is too busy to receive.
    const { _handle: handle } = socket as unknown as InternalSocket;
    handle?.readStop();
    this.#channel.send({ type: 'connection', number, accepted: true }, (error) => {
      if (error !== null) return void socket.destroy();
      handle?.readStart();
      server.emit('connection', socket);
    });
  }
}
