// Observers of connections and roots: connected, disconnected, rootsChanged.

import { expect, test } from 'vitest';
import { connectInMemory, createServer, type Server } from '../../src/index.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { serveWires, statelessKinds, wireKinds } from '../support/wires.ts';

function observed(): { server: Server; events: string[] } {
  const server = createServer({ name: 'observed', version: '1.0.0' });
  const events: string[] = [];
  server.tool('ok', { run: () => 'ok' });
  server.observe({
    connected: ({ transport }) => events.push(`connected ${transport}`),
    disconnected: ({ transport }) => events.push(`disconnected ${transport}`),
    rootsChanged: ({ transport }, session) => {
      events.push(`roots changed ${transport} ${session.values.get('caller') ?? ''}`.trim());
    },
  });
  return { server, events };
}

test('a connection is reported when it opens and once when it closes, also after a drain', async () => {
  const { server, events } = observed();
  const first = connectInMemory(server);
  const second = connectInMemory(server);
  expect(events).toEqual(['connected memory', 'connected memory']);
  await first.end();
  first.close();
  second.close();
  second.close();
  await Promise.resolve();
  expect(events.slice(2)).toEqual(['disconnected memory', 'disconnected memory']);
});

test('changed roots are reported with their session, and only by session notifications', async () => {
  const { server, events } = observed();
  server.tool('remember', {
    run: (_args, ctx) => {
      ctx.session?.values.set('caller', 'first');
      return 'ok';
    },
  });
  const [first, second] = [await TestClient.open(server), await TestClient.open(server)];
  await first.call('remember');
  events.length = 0;
  first.notify('notifications/roots/list_changed');
  second.notify('notifications/roots/list_changed');
  expect(events).toEqual(['roots changed memory first', 'roots changed memory']);
  const stateless = new TestClient(server);
  events.length = 0;
  stateless.notify('notifications/roots/list_changed');
  expect(events).toEqual([]);
});

test.for(wireKinds)('over %s, connections and changed roots are reported', async (kind) => {
  const { server, events } = observed();
  const wires = await serveWires(server);
  try {
    const wire = await wires.connect(kind);
    await wire.notify('notifications/roots/list_changed');
    // On a pipe, the response shows that the notification before it has arrived.
    await wire.request('ping');
    if (statelessKinds.includes(kind)) await wire.stateless('tools/list');
    wire.close();
  } finally {
    await wires.close();
  }
  const expected = [`roots changed ${kind}`];
  // Streamable HTTP has requests, not connections.
  if (kind !== 'http') {
    expected.unshift(`connected ${kind}`);
    expected.push(`disconnected ${kind}`);
  }
  await expect.poll(() => events).toEqual(expected);
});

test('messages are reported with the session they belong to, also the response that opens it', async () => {
  const { server } = observed();
  const seen: string[] = [];
  server.observe({
    received: (message, _peer, session) => seen.push(`in ${(message as Message)['method']} ${session?.revision}`),
    sent: (_text, _peer, session) => seen.push(`out ${session?.clientInfo?.name} ${session?.revision}`),
  });
  const connection = connectInMemory(server);
  const clientInfo = { name: 'probe', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  connection.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  await connection.receive();
  connection.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await connection.receive();
  expect(seen).toEqual([
    'in initialize undefined',
    'out probe 2025-06-18',
    'in ping 2025-06-18',
    'out probe 2025-06-18',
  ]);
});

test('a text that is not JSON is reported as it arrived', async () => {
  const { server } = observed();
  const texts: unknown[] = [];
  server.observe({ rejected: ({ message, text }) => texts.push([message, text]) });
  const connection = connectInMemory(server);
  connection.send('{"jsonrpc":');
  await connection.receive();
  expect(texts).toEqual([[undefined, '{"jsonrpc":']]);
});
