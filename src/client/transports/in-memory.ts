// A client of a server in the same process.

import type { Host } from '../../protocol/exchange.ts';
import { assertHost } from '../../transports/assert-host.ts';
import { connectInMemory, type InMemoryConnection, type MemoryPeer } from '../../transports/in-memory.ts';
import type { Outgoing, Transport, TransportListener } from './transport.ts';

/**
 * Connects to a server in this process.
 *
 * @example
 * const client = await connect(inMemory(server));
 * const guest = await connect(inMemory(server, { principal: { id: 'guest' } }));
 */
export function inMemory(host: Host, peer: MemoryPeer = {}): () => Transport {
  assertHost('inMemory', host);
  return () => new InMemoryTransport(host, peer);
}

class InMemoryTransport implements Transport {
  readonly kind = 'memory';
  readonly address = 'in memory';
  readonly #host: Host;
  readonly #peer: MemoryPeer;
  #connection: InMemoryConnection | undefined;

  constructor(host: Host, peer: MemoryPeer) {
    this.#host = host;
    this.#peer = peer;
  }

  async open(listener: TransportListener): Promise<void> {
    this.#connection = connectInMemory(this.#host, { peer: this.#peer, onText: (text) => listener.receive(text) });
  }

  send({ text }: Outgoing): void {
    this.#connection?.send(text);
  }

  async close(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
