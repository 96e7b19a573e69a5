// A client of few words for tests: sends messages to a server over a channel in memory and hands back what comes.

import type { Server } from '../../src/engine/server.ts';
import type { Channel, Peer } from '../../src/protocol/exchange.ts';

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export class TestClient {
  readonly channel: Channel;
  /** Everything that came, oldest first. */
  readonly received: Message[] = [];
  #waiting: (() => void)[] = [];
  #id = 0;

  constructor(server: Server, peer: Peer = { transport: 'memory' }) {
    const take = (text: string | undefined): boolean => {
      if (text !== undefined) this.received.push(...([JSON.parse(text)].flat() as Message[]));
      for (const wake of this.#waiting.splice(0)) wake();
      return true;
    };
    this.channel = server.connect(peer, { duplex: true, push: take, end: (text) => void take(text) });
  }

  /** Opens a session at a handshake revision. */
  static async open(
    server: Server,
    revision = '2025-11-25',
    capabilities: object = {},
    peer?: Peer,
  ): Promise<TestClient> {
    const client = new TestClient(server, peer);
    const clientInfo = { name: 'test', version: '1.0.0' };
    await client.request('initialize', { protocolVersion: revision, capabilities, clientInfo });
    client.notify('notifications/initialized');
    return client;
  }

  send(message: unknown): void {
    this.channel.receiveText(JSON.stringify(message));
  }

  notify(method: string, params?: object): void {
    this.send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) });
  }

  /** Sends a request and waits for its answer. */
  request(method: string, params?: object, id: string | number = `c${++this.#id}`): Promise<Message> {
    this.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) });
    return this.next((each) => each.id === id && each.method === undefined);
  }

  /** The same at the stateless revision. */
  stateless(method: string, params: object = {}, capabilities: object = {}): Promise<Message> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...(params as { _meta?: object })._meta,
    };
    return this.request(method, { ...params, _meta });
  }

  call(name: string, args?: object): Promise<Message> {
    return this.request('tools/call', { name, ...(args === undefined ? {} : { arguments: args }) });
  }

  /** Waits for a message that fits, also among those that came already. */
  async next(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}
