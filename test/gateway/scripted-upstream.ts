// An upstream of 2025-11-25 whose messages a test writes itself.

import type { Transport, TransportListener } from '../../src/client/index.ts';

export interface WireMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
  readonly result?: any;
  readonly error?: { readonly code: number; readonly message: string };
}

/** One connection to the upstream, from its side. */
export class UpstreamSide {
  readonly received: WireMessage[] = [];
  /** It does not know the method. */
  rejectsPing = false;
  #listener: TransportListener | undefined;
  #waiting: (() => void)[] = [];

  constructor(answer: (message: WireMessage, side: UpstreamSide) => void) {
    this.#answer = answer;
  }

  readonly #answer: (message: WireMessage, side: UpstreamSide) => void;

  get transport(): Transport {
    return {
      kind: 'memory',
      address: 'scripted',
      open: async (listener) => {
        this.#listener = listener;
      },
      send: ({ text }) => {
        const message = JSON.parse(text) as WireMessage;
        this.received.push(message);
        for (const wake of this.#waiting.splice(0)) wake();
        this.#answer(message, this);
      },
      close: async () => {},
    };
  }

  send(message: object): void {
    queueMicrotask(() => this.#listener?.receive(JSON.stringify({ jsonrpc: '2.0', ...message })));
  }

  /** Sends a request and waits for its answer. */
  async request(id: string, method: string, params: object = {}): Promise<WireMessage> {
    this.send({ id, method, params });
    return this.next((each) => each.id === id && each.method === undefined);
  }

  async next(fits: (message: WireMessage) => boolean): Promise<WireMessage> {
    for (;;) {
      const found = this.received.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

type Answer = (message: WireMessage, side: UpstreamSide) => void;

/**
 * A server with one tool, `work`. `call`, `list`: what happens on a call of it, or when it is listed; by default it returns at once.
 * `start`: what it does when the client has initialized it.
 */
export function scriptedUpstream(call?: Answer, list: Answer = listWork, start?: (side: UpstreamSide) => void) {
  const sides: UpstreamSide[] = [];
  const serverInfo = { name: 'scripted', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
  const answer = (message: WireMessage, side: UpstreamSide): void => {
    const { id, method } = message;
    if (method === 'notifications/initialized') start?.(side);
    if (id === undefined || method === undefined) return;
    if (method === 'initialize') side.send({ id, result: opening });
    else if (method === 'ping' && !side.rejectsPing) side.send({ id, result: {} });
    else if (method === 'tools/list') list(message, side);
    else if (method !== 'tools/call') side.send({ id, error: { code: -32601, message: 'Method not found' } });
    else if (call === undefined) side.send({ id, result: { content: [{ type: 'text', text: 'done' }] } });
    else call(message, side);
  };
  const target = (): Transport => {
    const side = new UpstreamSide(answer);
    sides.push(side);
    return side.transport;
  };
  /** The side that was called last. */
  const called = (): UpstreamSide =>
    sides.findLast(({ received }) => received.some(({ method }) => method === 'tools/call')) as UpstreamSide;
  return { target, sides, called };
}

function listWork({ id }: WireMessage, side: UpstreamSide): void {
  side.send({ id, result: { tools: [{ name: 'work', inputSchema: { type: 'object' } }] } });
}
