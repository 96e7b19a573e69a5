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
  open: (server, port, host) => listen(server, { port, host }),
  // Not `close` of node:http, which also ends idle connections: a request may be on its way on one of them.
  stop: (server) => void NetServer.prototype.close.call(server),
};

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
