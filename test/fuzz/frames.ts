// WebSocket frames that are nearly right: opcodes, flags, masks and lengths changed, around a message. The bytes go out on
// a socket whose handshake was good; whatever comes back, the server must stay and answer others.

import { connect, type Socket } from 'node:net';
import { pick, type Random } from './generator.ts';
import type { ProfileName } from './profiles.ts';
import { patienceMs, probe, startHttp, type Target } from './targets.ts';

const handshake = (port: number): string =>
  [
    'GET /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');

/** Continuation, text, binary, two reserved ones, close, ping, pong. */
const opcodes = [0, 1, 1, 1, 1, 2, 3, 8, 9, 10, 11];

/** One frame; most have one thing wrong at most. */
export function makeFrame(random: Random, payload: Buffer): Buffer {
  const body = random() < 0.1 ? Buffer.from([pick(random, [0, 3]), pick(random, [0, 232, 237, 255])]) : payload;
  const opcode = random() < 0.6 ? 1 : pick(random, opcodes);
  const first = (random() < 0.85 ? 0x80 : 0) | (random() < 0.03 ? 0x40 : 0) | opcode;
  const masked = random() < 0.97 ? 0x80 : 0;
  const claimed = random() < 0.93 ? body.length : pick(random, [0, body.length + 7, 65_536, 2 ** 31, 2 ** 40]);
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = masked === 0 ? body : Buffer.from(body.map((byte, at) => byte ^ (mask[at % 4] as number)));
  return Buffer.concat([Buffer.from([first]), lengthOf(claimed, masked), masked === 0 ? Buffer.alloc(0) : mask, bytes]);
}

function lengthOf(length: number, masked: number): Buffer {
  if (length < 126) return Buffer.from([masked | length]);
  if (length < 65_536) return Buffer.from([masked | 126, length >> 8, length & 0xff]);
  const long = Buffer.alloc(9);
  long[0] = masked | 127;
  long.writeBigUInt64BE(BigInt(length), 1);
  return long;
}

export async function openFrames(_revision: string, profile: ProfileName): Promise<Target> {
  const { server, port } = await startHttp(profile);
  return {
    name: 'frames',
    async run(frames, serial) {
      const opened = await upgrade(port);
      if (typeof opened === 'string') return server.dead ?? opened;
      opened.end(Buffer.concat(frames));
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => opened.destroy(), patienceMs);
        opened.resume().on('close', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      return server.dead ?? (serial % 25 === 0 ? await probe(port) : undefined);
    },
    close: () => server.close(),
  };
}

function upgrade(port: number): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(handshake(port)));
    let received = '';
    const take = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      socket.off('data', take);
      resolve(received.startsWith('HTTP/1.1 101') ? socket : `no WebSocket: ${received.slice(0, 200)}`);
    };
    socket.on('data', take);
    socket.on('error', () => {}); // A frame that is wrong rightly ends its connection.
    socket.on('close', () => resolve('the connection was closed during the handshake'));
  });
}
