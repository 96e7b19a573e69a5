// A host that does as it is told, for tests of transports: methods are orders (echo, later, big, push, never).

import type { Channel, Host, Inbound, Outlet, Peer } from '../../src/protocol/exchange.ts';

export interface Order {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly ms?: number; readonly length?: number; readonly count?: number };
}

export class FakeHost implements Host {
  readonly channels: FakeChannel[] = [];
  closed = 0;
  /** Orders of a test's own; true = taken. */
  readonly onOrder: ((order: Order, outlet: Outlet) => boolean) | undefined;

  constructor(onOrder?: (order: Order, outlet: Outlet) => boolean) {
    this.onOrder = onOrder;
  }

  connect(peer: Peer, outlet: Outlet): FakeChannel {
    const channel = new FakeChannel(this, peer, outlet);
    this.channels.push(channel);
    return channel;
  }

  async close(): Promise<void> {
    this.closed++;
  }
}

export class FakeChannel implements Channel {
  readonly host: FakeHost;
  readonly peer: Peer;
  readonly outlet: Outlet;
  readonly texts: string[] = [];
  readonly parsed: unknown[] = [];
  readonly pushed: boolean[] = [];
  closed = false;
  #open = 0;
  #idle: (() => void) | undefined;

  constructor(host: FakeHost, peer: Peer, outlet: Outlet) {
    this.host = host;
    this.peer = peer;
    this.outlet = outlet;
  }

  get busy(): boolean {
    return this.#open > 0;
  }

  receiveText(text: string, inbound?: Inbound): void {
    this.texts.push(text);
    const outlet = inbound?.outlet ?? this.outlet;
    let order: Order;
    try {
      order = JSON.parse(text);
    } catch {
      return outlet.end(errorText(undefined, -32700, 'Parse error'));
    }
    if (this.host.onOrder?.(order, outlet)) return;
    this.#obey(order, outlet);
  }

  receive(message: unknown): void {
    this.parsed.push(message);
  }

  reject(error: Error & { kind?: string }, id?: string | number): void {
    this.outlet.end(errorText(id, error.kind === 'parse' ? -32700 : -32600, error.message));
  }

  async drain(graceMs: number): Promise<void> {
    if (!this.busy) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    this.closed = true;
  }

  #obey({ id, method, params = {} }: Order, outlet: Outlet): void {
    switch (method) {
      case 'never':
        this.#open++;
        return;
      case 'later':
        this.#open++;
        setTimeout(() => {
          outlet.end(resultText(id, 'later'));
          if (--this.#open === 0) this.#idle?.();
        }, params.ms ?? 0);
        return;
      case 'push':
        for (let n = 0; n < (params.count ?? 1); n++) this.pushed.push(outlet.push(noteText(params.length ?? 0)));
        return outlet.end(resultText(id, 'pushed'));
      case 'big':
        return outlet.end(resultText(id, 'x'.repeat(params.length ?? 0)));
      default:
        return outlet.end(id === undefined ? undefined : resultText(id, params));
    }
  }
}

export const resultText = (id: unknown, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result });

const errorText = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });

const noteText = (length: number): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'note', params: { text: 'x'.repeat(length) } });
