// A server made of a table, for tests: no bytes, no processes. It records what it is sent; its responses are in the test.

import { statelessRevisions } from '../../protocol/revisions/index.ts';
import { clientErrors } from '../errors.ts';
import type { Outgoing, Transport, TransportListener } from '../transports/transport.ts';

type Fields = Record<string, unknown>;

/** A message as the test looks at it. */
export interface Sent {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Fields & { readonly _meta?: Fields };
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Answers a request: with a result, with an error by throwing `reject`, or not at all with `undefined`. */
export type ScriptedAnswer = (message: Sent, server: ScriptedServer) => Fields | undefined;

class ScriptedError extends Error {
  readonly error: object;

  constructor(error: object) {
    super('rejected');
    this.error = error;
  }
}

/** Makes a response a JSON-RPC error. */
export function scriptError(code: number, message: string, data?: unknown): never {
  throw new ScriptedError({ code, message, ...(data === undefined ? {} : { data }) });
}

const handshake: Record<string, ScriptedAnswer> = {
  'server/discover': () => scriptError(-32601, 'Method not found'),
  initialize: ({ params }) => ({
    protocolVersion: params?.['protocolVersion'],
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
    serverInfo: { name: 'scripted', version: '1.0.0' },
  }),
};

const stateless: Record<string, ScriptedAnswer> = {
  'server/discover': () => ({
    resultType: 'complete',
    supportedVersions: statelessRevisions,
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, completions: {} },
    ttlMs: 0,
    cacheScope: 'private',
  }),
};

/** One server, however often it is connected to. `connect(server.target)` reaches it. */
export class ScriptedServer {
  readonly sent: Sent[] = [];
  readonly headers: (readonly string[] | undefined)[] = [];
  readonly #answers: Record<string, ScriptedAnswer>;
  readonly #mirrors: boolean;
  #listener: TransportListener | undefined;
  connections = 0;

  /** `mirrors`: behaves as HTTP does, with headers beside messages. */
  constructor(era: 'handshake' | 'stateless', answers: Record<string, ScriptedAnswer> = {}, mirrors = false) {
    this.#answers = { ...(era === 'handshake' ? handshake : stateless), ...answers };
    this.#mirrors = mirrors;
  }

  readonly target = (): Transport => {
    let listening: TransportListener | undefined;
    const transport: Transport = {
      kind: this.#mirrors ? 'http' : 'scripted',
      address: 'scripted server',
      open: async (listener) => {
        this.connections++;
        this.#listener = listening = listener;
      },
      send: (message) => queueMicrotask(() => this.#receive(message, listening)),
      close: async () => {},
      ...(this.#mirrors ? { setBinding: () => {} } : {}),
    };
    return transport;
  };

  /** Messages of a method, in order. */
  of(method: string): Sent[] {
    return this.sent.filter((message) => message.method === method);
  }

  /** Says something unasked, to the client that connected last. */
  say(message: Fields): void {
    this.#listener?.receive(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  /** Breaks the connection. */
  break(): void {
    this.#listener?.lost(clientErrors.lost('scripted server', 'the test broke it'));
  }

  #receive({ text, headers }: Outgoing, listener: TransportListener | undefined): void {
    const message = JSON.parse(text) as Sent;
    this.sent.push(message);
    this.headers.push(headers);
    const { id, method } = message;
    if (id === undefined || method === undefined) return;
    const answer = this.#answers[method];
    const reply = (fields: Fields): void => listener?.receive(JSON.stringify({ jsonrpc: '2.0', id, ...fields }));
    try {
      if (answer === undefined) scriptError(-32601, `Method not found: ${method}`);
      const result = answer(message, this);
      if (result !== undefined) reply({ result });
    } catch (error) {
      if (!(error instanceof ScriptedError)) throw error;
      reply({ error: error.error });
    }
  }
}
