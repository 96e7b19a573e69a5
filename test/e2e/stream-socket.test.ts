// A stream need not be stdio: the same framing serves a socket.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { serveStream } from '../../src/transports/stream.ts';
import { FakeHost } from '../support/fake-host.ts';

test('a socket that is half closed still gets its response', async () => {
  const host = new FakeHost();
  const listener = createServer({ allowHalfOpen: true }, (socket) => {
    void serveStream(host, socket, socket, { transport: 'stdio', address: 'a socket' }).closed.then(() => socket.end());
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'later', params: { ms: 5 } })}\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  listener.close();
  expect(JSON.parse(text)).toMatchObject({ id: 1, result: 'later' });
});
