// The code for tool calls is loaded after start-up; calls that arrive before it is loaded must work the same.
import { afterEach, expect, test, vi } from 'vitest';
import { connectInMemory, createServer } from '../../src/index.ts';

afterEach(() => void vi.useRealTimers());

const opening = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const call = (id: number, name: string, args: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

function makeServer() {
  const server = createServer({ name: 'cold', version: '1.0.0', rules: { execution: { timeoutMs: 1_000 } } });
  const input = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
  server.tool('double', { input, run: ({ n }) => String((n as number) * 2) });
  server.tool('slow', {
    timeoutMs: 60_000,
    run: () =>
      new Promise<string>((resolve) => {
        setTimeout(() => resolve('done'), 1_100);
        // Longer than other tools may take.
        setImmediate(() => vi.advanceTimersByTime(1_200));
      }),
  });
  return server;
}

async function responsesOf(messages: readonly object[], server = makeServer()): Promise<Map<unknown, unknown>> {
  const connection = connectInMemory(server);
  connection.send(opening);
  connection.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  for (const message of messages) connection.send(message);
  const responses = new Map<unknown, unknown>();
  while (responses.size < messages.length + 1) {
    const { id, result, error } = (await connection.receive()) as { id: unknown; result?: unknown; error?: unknown };
    responses.set(id, result ?? error);
  }
  connection.close();
  return responses;
}

test('calls sent together with the handshake are validated, run and answered once each', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const responses = await responsesOf([
    call(1, 'double', { n: 21 }),
    call(2, 'double', { n: 'many' }),
    call(3, 'nothing'),
    call(4, 'slow'),
    call(5, 'double', { n: 4 }),
  ]);
  expect(responses.get(1)).toEqual({ content: [{ type: 'text', text: '42' }] });
  expect(responses.get(2)).toMatchObject({ isError: true, content: [{ text: 'n: must be an integer, not a string' }] });
  expect(responses.get(3)).toMatchObject({ code: -32602, message: 'Unknown tool: nothing' });
  expect(responses.get(4)).toEqual({ content: [{ type: 'text', text: 'done' }] });
  expect(responses.get(5)).toEqual({ content: [{ type: 'text', text: '8' }] });
});

test('a prepared server responds to a call in the turn in which it arrived', async () => {
  const server = makeServer();
  await server.prepare();
  const sent: string[] = [];
  const outlet = {
    duplex: true,
    push: (text: string) => sent.push(text) > 0,
    end: (text?: string) => void (text !== undefined && sent.push(text)),
  };
  const channel = server.connect({ transport: 'memory' }, outlet);
  channel.receive(opening);
  channel.receive(call(1, 'double', { n: 1 }));
  expect(sent).toHaveLength(2);
});
