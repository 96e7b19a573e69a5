// An upstream made of answers by method, without a process.

import type { Transport, TransportListener } from '../../src/client/index.ts';

export type Fields = Readonly<Record<string, unknown>>;
/** Returns the result of a request; undefined: none is sent. */
export type Answer = (params: Fields, send: (message: object) => void, id: number) => Fields | undefined;

const listsTools = { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } } };

/** What a method has no answer for is not found. `opening`: members of the result of `initialize`. */
export function scripted(
  answers: Readonly<Record<string, Answer>>,
  requests: Fields[] = [],
  opening: Fields = listsTools,
): () => Transport {
  return () => {
    let listener: TransportListener;
    const send = (message: object): void =>
      queueMicrotask(() => listener.receive(JSON.stringify({ jsonrpc: '2.0', ...message })));
    return {
      kind: 'memory',
      address: 'scripted',
      open: async (given) => {
        listener = given;
      },
      send: ({ text }) => {
        const message = JSON.parse(text) as { id?: number; method?: string; params?: Fields };
        requests.push(message);
        const { id, method = '', params = {} } = message;
        if (id === undefined || method === '') return;
        if (method === 'initialize') {
          return send({ id, result: { ...listsTools, serverInfo: { name: 'x', version: '1' }, ...opening } });
        }
        const answer = answers[method];
        if (answer === undefined) return send({ id, error: { code: -32601, message: 'Method not found' } });
        const result = answer(params, send, id);
        if (result !== undefined) send({ id, result });
      },
      close: async () => {},
    };
  };
}

export const tool = (name: string): Fields => ({ name, inputSchema: { type: 'object' } });
