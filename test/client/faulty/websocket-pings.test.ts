// A WebSocket server that sends pings without end and reads no pongs: they do not fill the memory of the client.

import { createHash } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { useClosers } from '../../support/closers.ts';

const closers = useClosers(afterEach);

/** RFC 6455 §1.3: completes the opening handshake. */
function accept(request: string): string {
  const key = /^sec-websocket-key: (.*)\r$/im.exec(request)?.[1] ?? '';
  const digest = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  const protocol = /^sec-websocket-protocol:/im.test(request) ? ['Sec-WebSocket-Protocol: mcp'] : [];
  const headers = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${digest}`, ...protocol];
  return ['HTTP/1.1 101 Switching Protocols', ...headers, '', ''].join('\r\n');
}

test('a server whose pongs cannot be sent is disconnected', async () => {
  const sockets: Socket[] = [];
  let open: (socket: Socket) => void = () => {};
  const accepted = new Promise<Socket>((resolve) => {
    open = resolve;
  });
  // The client tries again with a second connection, which gets no answer.
  const server = createServer((socket) => {
    if (sockets.push(socket) === 1) open(socket);
    else socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const opening = connect(`ws://127.0.0.1:${port}/mcp`, { timeoutMs: 60_000 });
  opening.catch(() => {});
  const socket = await accepted;
  const closed = new Promise<string>((resolve) => {
    socket.once('error', () => resolve('closed'));
    socket.once('close', () => resolve('closed'));
  });
  socket.write(accept(String(await new Promise((resolve) => socket.once('data', resolve)))));
  socket.pause();
  // The longest payload that a control frame may have.
  const pings = Buffer.concat(Array.from({ length: 8_000 }, () => Buffer.from([0x89, 125, ...Buffer.alloc(125)])));
  const written = (): Promise<string> => new Promise((resolve) => socket.write(pings, () => resolve('open')));
  let outcome = 'open';
  // Far more than the buffers of both ends of the connection contain.
  for (let megabytes = 0; megabytes < 64 && outcome === 'open'; megabytes++) {
    outcome = await Promise.race([closed, written()]);
  }
  socket.destroy();
  expect(outcome).toBe('closed');
  await expect(opening).rejects.toThrow();
});
