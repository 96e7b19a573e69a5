// Where a server gets its connections from: a port that it opens itself, unless another process passes them on to it.

import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, type ListenOptions, Server as NetServer } from 'node:net';

/** Where a server gets its connections from. */
export interface Listener {
  /** Resolves with the port. */
  open(server: HttpServer, port: number, host: string): Promise<number>;
  /** Accepts no more connections; those that are open stay. */
  stop(server: HttpServer): void;
}

/** A port of this process. */
export const ownPort: Listener = {
  open: (server, port, host) =>
    listen(server, { port, host }).catch((cause: NodeJS.ErrnoException) => {
      const { code } = cause;
      const explanation = explainListenError(code, port, host);
      throw explanation === undefined ? cause : Object.assign(new Error(explanation, { cause }), { code });
    }),
  // Not `close` of node:http, which also ends idle connections: a request may be on its way on one of them.
  // On Bun, servers of node:http have only that one.
  stop: (server: HttpServer | NetServer) =>
    void (server instanceof NetServer ? NetServer.prototype.close.call(server) : (server as HttpServer).close()),
};

/** What is wrong, and what to do; undefined for what is not known. */
function explainListenError(code: string | undefined, port: number, host: string): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is already in use. Choose another with "port" (0 picks a free one), or stop the process that uses it`;
    case 'EACCES':
      return `You are not allowed to listen on port ${port}. Choose a "port" of 1024 or above`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose another "host", such as 127.0.0.1`;
    default:
      return undefined;
  }
}

/** `reusePort`: other processes may listen on the port too (Node.js 22.12 or later; earlier versions ignore it). */
export interface PortOptions extends ListenOptions {
  readonly reusePort?: boolean;
}

/** Listens, and resolves with the port. */
export function listen(server: NetServer, options: PortOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
