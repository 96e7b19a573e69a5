// Servers over a WebSocket that do not answer pings.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Client, ClientError, connect } from '../../../src/client/index.ts';
import { useClosers } from '../../support/closers.ts';
import { rejectionOf } from '../../support/rejection.ts';
import { until } from './processes.ts';

const closers = useClosers(afterEach);
afterEach(() => vi.useRealTimers());
const beatMs = 30_000;

/** A server that sends the parts of a long response, as a server does whose pongs are behind them. */
async function openSlow() {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  closers.push(() => server.close());
  await once(server, 'listening');
  let socket: WebSocket | undefined;
  let call: number | undefined;
  server.on('connection', (each) => {
    socket = each;
    each.on('message', (data) => {
      const { id, method } = JSON.parse(String(data));
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'slow', version: '1' } };
      if (method === 'initialize') each.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'tools/call') call = id;
    });
  });
  const { port } = server.address() as AddressInfo;
  const client: Client = await connect(`ws://127.0.0.1:${port}`, { revision: 'handshake' });
  closers.push(() => client.close());
  const outcome = client.callTool('work');
  await until(() => call !== undefined);
  /** Sends a part of the response, which arrives before time passes. */
  const sendPart = async (text: string, fin: boolean) => {
    await new Promise((resolve) => socket?.send(text, { fin }, resolve));
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(beatMs);
  };
  return { outcome, sendPart, head: `{"jsonrpc":"2.0","id":${call},"result":{"content":[{"type":"text","text":"` };
}

test('a connection is kept while a long response arrives', async () => {
  const { outcome, sendPart, head } = await openSlow();
  for (const part of [head, 'a', 'b', 'c']) await sendPart(part, false);
  await sendPart('"}]}}', true);
  expect(await outcome).toMatchObject({ content: [{ text: 'abc' }] });
});

test('a connection on which nothing arrives ends', async () => {
  const { outcome, sendPart, head } = await openSlow();
  const failed = rejectionOf(outcome, ClientError);
  await sendPart(head, false);
  vi.advanceTimersByTime(beatMs);
  expect((await failed).code).toBe('connection-lost');
});
