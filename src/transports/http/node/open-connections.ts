// The connections of a server: counted and limited, in total and by address.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from '../limits.ts';
import { isReparsed } from './ignored-upgrade.ts';
import { storeAddress } from './request.ts';

export class OpenConnections {
  /** How many are open. */
  size = 0;
  readonly #byAddress = new Map<string, number>();
  readonly #limits: HttpLimits;
  #onNone: (() => void) | undefined;

  constructor(server: Server, limits: HttpLimits) {
    this.#limits = limits;
    // Rejects them before they become an event. Connections that another process passed on are not counted there.
    server.maxConnections = limits.maxConnections;
    server.on('connection', (socket: Socket) => this.#add(socket));
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
    const address = storeAddress(socket) ?? '';
    const count = (this.#byAddress.get(address) ?? 0) + 1;
    if (this.size >= this.#limits.maxConnections || count > this.#limits.maxConnectionsPerAddress) {
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
