// A client that misbehaves on purpose: raw sockets that say what they are told to and read only when they are told to,
// and a look at how much memory the server takes meanwhile.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

const megabyte = 1024 * 1024;

/** The most memory a process has had, in MiB. */
export function peakMemory(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

export interface Deaf {
  readonly socket: Socket;
  /** What came in so far, once `listen` was called. */
  readonly heard: () => string;
  readonly closed: () => boolean;
  /** Begins to read. */
  listen(): void;
  /** Reads the status of the first answer, and goes away. */
  status(): Promise<string>;
}

/** Connects and reads nothing. */
export function deafSocket(port: number): Promise<Deaf> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    let closed = false;
    socket.pause();
    socket.on('close', () => {
      closed = true;
    });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      const listen = (): void => {
        socket.setEncoding('latin1');
        socket.on('data', (chunk: string) => {
          // Only what says how requests were answered: bodies may be large.
          if (text.length < megabyte) text += chunk;
        });
        socket.resume();
      };
      const status = (): Promise<string> =>
        new Promise((told) => {
          socket.once('data', (chunk) => {
            socket.destroy();
            told(/^HTTP\/1.1 (\d+)/.exec(String(chunk))?.[1] ?? 'none');
          });
          socket.once('close', () => told('closed'));
          socket.resume();
        });
      resolve({ socket, heard: () => text, closed: () => closed, listen, status });
    });
  });
}

/** A POST as it goes over the wire. */
export function postText(port: number, headers: Record<string, string>, body: string, path = '/mcp'): string {
  const all = {
    Host: `127.0.0.1:${port}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Writes as much as the server takes, and goes on when it takes more. */
export function send(socket: Socket, data: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed || socket.write(data)) return resolve();
    socket.once('drain', resolve);
    socket.once('close', () => resolve());
  });
}
