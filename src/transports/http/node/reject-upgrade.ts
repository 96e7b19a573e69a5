// The response to an upgrade request that is rejected: plain HTTP, written directly to its socket.

import type { Duplex } from 'node:stream';
import { nodeHttp } from '../../../common/builtins.ts';

/** Responds with JSON and ends the connection. */
export function rejectUpgrade(socket: Duplex, status: number, body: string, headers: readonly string[] = []): void {
  const lines = [
    `HTTP/1.1 ${status} ${nodeHttp().STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
