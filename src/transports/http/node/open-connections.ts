// The connections of a server: counted and limited, in total and by address.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from '../limits.ts';
import type { TrustedProxies } from '../trusted-proxies.ts';
import { isReparsed } from './ignored-upgrade.ts';
import { isFromProxy, storeAddress } from './request.ts';

export class OpenConnections {
  /** How many are open. */
  size = 0;
  readonly #byAddress = new Map<string, number>();
  readonly #limits: HttpLimits;
  readonly #trusted: TrustedProxies | undefined;
  #onNone: (() => void) | undefined;

  constructor(server: Server, limits: HttpLimits, trusted: TrustedProxies | undefined) {
    this.#limits = limits;
    this.#trusted = trusted;
    // Rejects them before they become an event. Connections that another process passed on are not counted there.
    server.maxConnections = limits.maxConnections;
    server.on('connection', (socket: Socket) => this.#add(socket));
    // With TLS, requests have a socket of their own.
    server.on('secureConnection', (socket: Socket) => storeAddress(socket, trusted));
  }

  /** Resolves when none is open. */
  none(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onNone = resolve;
    });
  }

  #add(socket: Socket): void {
    if (isReparsed(socket)) return;
    const address = storeAddress(socket, this.#trusted) ?? '';
    const count = (this.#byAddress.get(address) ?? 0) + 1;
    // The connections of a proxy are those of many clients.
    const isTooMany = count > this.#limits.maxConnectionsPerAddress && !isFromProxy(socket);
    if (this.size >= this.#limits.maxConnections || isTooMany) {
      socket.destroy();
      return;
    }
    this.size++;
    this.#byAddress.set(address, count);
    socket.once('close', () => this.#remove(address));
  }

  #remove(address: string): void {
    const left = (this.#byAddress.get(address) ?? 1) - 1;
    if (left === 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, left);
    if (--this.size === 0) this.#onNone?.();
  }
}
