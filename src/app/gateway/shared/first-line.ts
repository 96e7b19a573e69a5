// How a client connects to a shared gateway: each side sends one line of JSON, and then only MCP messages.

import type { Socket } from 'node:net';

/** The first line of a client. */
export interface ConnectRequest {
  /** Of the client's end of the connection, for logs. */
  readonly pid: number;
  /** The view to serve. Default: the one at the endpoint. */
  readonly view?: string | undefined;
  /** The ids of the gateways that the client was started by, if it is a server of one. */
  readonly outer?: readonly string[] | undefined;
}

/** The first line of the gateway. */
export interface ConnectResponse {
  readonly pid: number;
  /** Why the client is not served. */
  readonly rejected?: string | undefined;
}

/** The other side has ended the connection before its first line. */
export class ConnectionEnded extends Error {
  override readonly name = 'ConnectionEnded';
}

const maxLineBytes = 64 * 1024;
const newline = 0x0a;

export function writeLine(socket: Socket, value: ConnectRequest | ConnectResponse): void {
  socket.write(`${JSON.stringify(value)}\n`);
}

/** Reads the first line; what comes after it stays in the socket. Rejects when there is none in time. */
export function readFirstLine(socket: Socket, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      socket.off('readable', onReadable);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      socket.off('error', onEnd);
      settle();
    };
    const fail = (reason: string): void => end(() => reject(new Error(reason)));
    const onEnd = (): void => end(() => reject(new ConnectionEnded('the connection was closed')));
    const timer = setTimeout(() => fail(`no response within ${timeoutMs} ms`), timeoutMs);
    const onReadable = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        const at = chunk.indexOf(newline);
        size += at === -1 ? chunk.length : at;
        if (size > maxLineBytes) return fail('the first line is too long');
        if (at === -1) {
          chunks.push(chunk);
          continue;
        }
        chunks.push(chunk.subarray(0, at));
        const rest = chunk.subarray(at + 1);
        if (rest.length > 0) socket.unshift(rest);
        return end(() => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')));
          } catch {
            reject(new Error('the first line is not JSON'));
          }
        });
      }
    };
    if (socket.destroyed) return onEnd();
    socket.on('readable', onReadable);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
    socket.on('error', onEnd);
  });
}
